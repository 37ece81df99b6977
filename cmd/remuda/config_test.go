package main

import (
	"encoding/json"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/config"
)

// freshCLI returns a user whose global flags are registered and empty.
func freshCLI() *cli {
	c := newCLI(nil)
	newRootCmd(c.app)
	return c
}

func TestConfig_Command(t *testing.T) {
	c := newCLI(nil)
	c.files["r.yaml"] = "limits:\n  idle: 90s\n"
	c.env = []string{"REMUDA_CONFIG=r.yaml", "REMUDA_REQUESTS_MAX_COUNT=7"}
	c.ends(t, exitDone, "config", "--store", "sqlite:/tmp/x.db")
	golden(t, testdata("config.txt"), c.out.String())
	c.ends(t, exitDone, "config", "--changed", "--store", "sqlite:/tmp/x.db")
	if got, want := spaced(c.out.String()), "KEY ORIGIN VALUE\nstore flag --store sqlite:/tmp/x.db\nlimits.idle file r.yaml:2 1m30s\nrequests.maxCount env REMUDA_REQUESTS_MAX_COUNT 7\n"; got != want {
		t.Errorf("config --changed = %q, want %q", got, want)
	}
	c.ends(t, exitDone, "config", "-o", "json", "--store", "sqlite:/tmp/x.db")
	var got configView
	if err := json.Unmarshal(c.out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]settingView{
		"limits.idle":       {Key: "limits.idle", Value: "1m30s", Origin: "file", Where: "r.yaml:2", Env: "REMUDA_LIMITS_IDLE"},
		"requests.maxCount": {Key: "requests.maxCount", Value: 7.0, Origin: "env", Where: "REMUDA_REQUESTS_MAX_COUNT", Env: "REMUDA_REQUESTS_MAX_COUNT"},
		"store":             {Key: "store", Value: "sqlite:/tmp/x.db", Origin: "flag", Where: "--store", Env: "REMUDA_STORE"},
		"lease.ttl":         {Key: "lease.ttl", Value: "2s", Origin: "default", Env: "REMUDA_LEASE_TTL"},
	}
	if got.File != "r.yaml" || len(got.Settings) != len(config.Settings()) {
		t.Errorf("file = %q with %d settings, want r.yaml with %d", got.File, len(got.Settings), len(config.Settings()))
	}
	for _, s := range got.Settings {
		if w, ok := want[s.Key]; ok {
			s.Doc = ""
			if diff := gocmp.Diff(w, s); diff != "" {
				t.Errorf("%s (-want +got):\n%s", s.Key, diff)
			}
		}
	}
}

// A wrong configuration is shown nevertheless, with all that is wrong; credentials are not.
func TestConfig_CommandShowsWhatIsWrong(t *testing.T) {
	c := newCLI(nil)
	code := c.run(t.Context(), "config", "--store", "sqlite://me:hunter2@host/x", "--set", "lease.ttl=0s")
	if code != exitUsage || !strings.Contains(c.out.String(), "lease.ttl") || !strings.Contains(c.err.String(), "lease.ttl: must be greater than 0, got 0s") {
		t.Errorf("exit code = %d, want %d, the table and the problem:\n%s%s", code, exitUsage, &c.out, &c.err)
	}
	if strings.Contains(c.out.String()+c.err.String(), "hunter2") {
		t.Errorf("a password is shown:\n%s%s", &c.out, &c.err)
	}
	if code := c.run(t.Context(), "config", "--example", "-o", "json"); code != exitUsage {
		t.Errorf("--example with -o json: exit code = %d, want %d", code, exitUsage)
	}
}
