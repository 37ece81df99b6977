package config

import "reflect"

// Reload returns what a controller that runs with c goes on with when next is its configuration, the keys of what is new in
// that, and those of what differs and needs a restart: of them nothing is taken.
func (c Config) Reload(next Config) (out Config, taken, held []string) {
	out = c
	for _, s := range settings {
		switch {
		case reflect.DeepEqual(s.Value(c), s.Value(next)):
		case s.Reloaded:
			s.in(&out).Set(s.in(&next))
			taken = append(taken, s.Key)
		default:
			held = append(held, s.Key)
		}
	}
	return out, taken, held
}
