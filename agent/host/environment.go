package host

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/remuda-run/remuda/agent"
)

// envJobsHome names to the operator's scripts the home of jobs.
const envJobsHome = "REMUDA_JOBS_HOME"

// environment returns the variables of jobs, with others of own in their place.
func (m *machine) environment(own map[string]string) []string {
	all := map[string]string{
		"PATH": m.Env["PATH"], "LANG": "C.UTF-8", agent.EnvMarker: m.id,
		"HOME": m.jobsHome().path, "TMPDIR": filepath.Join(m.Dir, tempFolder),
	}
	if name := m.account().Name; name != "" && own == nil {
		all["USER"], all["LOGNAME"] = name, name
	}
	maps.Copy(all, own)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, name+"="+all[name])
	}
	return out
}
