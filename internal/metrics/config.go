package metrics

import "time"

// ConfigTaken notes that a configuration is in force since a moment, and how many of its settings need a restart.
func (m *Metrics) ConfigTaken(at time.Time, held int) {
	m.set("remuda_config_last_reload_success_timestamp_seconds", float64(at.UnixMilli())/1000)
	m.ConfigLooked(true, held)
}

// ConfigLooked notes whether what the configuration says now is in order, and how many of its settings need a restart.
func (m *Metrics) ConfigLooked(ok bool, held int) {
	m.set("remuda_config_last_reload_successful", one(ok))
	m.set("remuda_config_restart_needed", float64(held))
}
