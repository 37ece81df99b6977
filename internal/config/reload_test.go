package config

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// Each setting alone is either taken up or named as one that needs a restart, and the rest stays as it was.
func TestReload_EachSetting(t *testing.T) {
	for _, s := range Settings() {
		running, next := Default(), Default()
		v := s.in(&next)
		switch v.Kind() {
		case reflect.Map:
			v.Set(reflect.MakeMap(v.Type()))
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		case reflect.String:
			v.SetString("other")
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.Float64:
			v.SetFloat(0.75)
		case reflect.Uint64:
			v.SetUint(v.Uint() + 1)
		default:
			v.SetInt(v.Int() + 1)
		}
		if s.Key == "ec2.tags" {
			v.SetMapIndex(reflect.ValueOf("a"), reflect.New(v.Type().Elem()).Elem())
		}
		out, taken, held := running.Reload(next)
		want, keys := running, held
		if s.Reloaded {
			want, keys = next, taken
		}
		if !reflect.DeepEqual(out, want) || !slices.Equal(keys, []string{s.Key}) || len(taken)+len(held) != 1 {
			t.Errorf("%s: taken %q, needs a restart %q", s.Key, taken, held)
		}
	}
}

// What is promised to be taken up, and what would need another lease, another store or another listener.
func TestReload_Which(t *testing.T) {
	for key, want := range map[string]bool{
		"classes": true, "caps.maxInstances": true, "limits.idle": true, "requests.maxRuntime": true, "log.level": true, "ec2.ami": true, "agent.script": true,
		"name": false, "store": false, "pool": false, "fleet": false, "github.url": false, "lease.ttl": false, "http.listen": false, "log.format": false, "log.group": false,
		"process.capacity": false, "runs.share": false,
	} {
		if s, ok := settingFor(key); !ok || s.Reloaded != want {
			t.Errorf("%s is reloaded: %v, want %v", key, s.Reloaded, want)
		}
	}
}

// Both at once: what can be taken is, beside what cannot.
func TestReload_SomeOfIt(t *testing.T) {
	next := Default()
	next.Store, next.Limits.Idle, next.Caps.MaxInstances = "sqlite:///other.db", time.Hour, 7
	out, taken, held := Default().Reload(next)
	next.Store = Default().Store
	if !reflect.DeepEqual(out, next) || !slices.Equal(taken, []string{"limits.idle", "caps.maxInstances"}) || !slices.Equal(held, []string{"store"}) {
		t.Errorf("taken %q, needs a restart %q: %+v", taken, held, out)
	}
}
