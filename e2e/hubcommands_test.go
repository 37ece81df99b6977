package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/remuda-run/remuda/e2e/program"
)

// simulated METHOD PATH [JSON] asks or tells the simulated GitHub something through its control API, and prints the answer to a GET.
func simulated(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, !neg, "simulated METHOD PATH [JSON]")
	out, err := askHub(ts, args)
	ts.Check(err)
	_, err = ts.Stdout().Write(out)
	ts.Check(err)
}

// askHub is simulated. It has no answer to what is told.
func askHub(ts *testscript.TestScript, args []string) ([]byte, error) {
	check(ts, len(args) == 2 || len(args) == 3, "simulated METHOD PATH [JSON]")
	var in any
	if len(args) == 3 {
		ts.Check(json.Unmarshal([]byte(args[2]), &in))
	}
	if args[0] != http.MethodGet {
		return nil, hubOf(ts).Call(context.Background(), patience, args[0], args[1], in, nil)
	}
	var out json.RawMessage
	if err := hubOf(ts).Call(context.Background(), patience, args[0], args[1], in, &out); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(out, "", "  ")
	return append(text, '\n'), err
}

// app makes the controllers that are started later work as a GitHub App.
func app(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, len(args) == 0 && !neg, "app")
	file := filepath.Join(siteOf(ts).state, "app.pem")
	a, key, err := newApp()
	ts.Check(err)
	ts.Check(errors.Join(os.WriteFile(file, key, 0o600), hubOf(ts).Call(context.Background(), patience, http.MethodPut, "/app", a, nil)))
	ts.Setenv("REMUDA_GITHUB_APP_ID", "5")
	ts.Setenv("REMUDA_GITHUB_APP_KEY_FILE", file)
}

// hubOf returns the simulated GitHub that $REMUDA_CONFIG names.
func hubOf(ts *testscript.TestScript) program.GitHub {
	s := siteOf(ts)
	config, err := program.JSON[struct {
		Settings []struct {
			Key   string
			Value any
		}
	}](program.Run(context.Background(), s.dir, s.environ(), "config", "-o", "json"))
	ts.Check(err)
	for _, setting := range config.Settings {
		if setting.Key == "github.apiUrl" {
			return program.GitHub{Root: setting.Value.(string), Token: "simulated"}
		}
	}
	ts.Fatalf("github.apiUrl is not set")
	return program.GitHub{}
}
