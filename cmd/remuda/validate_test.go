package main

import (
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/store"
)

// S89, H34: every bad value is named with its range, all at once, before anything is opened.
func TestRequest_S89_H34_Validation(t *testing.T) {
	for _, tt := range []struct{ flag, value, want string }{
		{"--count", "0", `--count: must be a whole number from 1 to 1000, got "0"`},
		{"--count", "-1", `--count: must be a whole number from 1 to 1000, got "-1"`},
		{"--count", "1.5", `--count: must be a whole number from 1 to 1000, got "1.5"`},
		{"--count", "10000", `--count: must be a whole number from 1 to 1000, got "10000"`},
		{"--count", "two", `--count: must be a whole number from 1 to 1000, got "two"`},
		{"--attempt", "0", `--attempt: must be a whole number from 1 to 2147483647, got "0"`},
		{"--id", "", `--id: request id: must be 1 to 100 of a-z, 0-9 and -, not starting with -, got ""`},
		{"--id", "Run,1", `--id: request id: must be 1 to 100 of a-z, 0-9 and -, not starting with -, got "Run,1"`},
		{"--resource-class", "huge", `--resource-class: must be one of large, medium, small, xlarge, got "huge"`},
		{"--resource-class", "", `--resource-class: must be one of large, medium, small, xlarge, got ""`},
		{"--allowed-instance-types", "c* m[6]", `--allowed-instance-types: pattern may hold letters, digits, '.', '-' and '*', got "m[6]"`},
		{"--allowed-instance-types", " ", `--allowed-instance-types: must hold 1 to 400 patterns such as c* or m6i.large, got " "`},
		{"--usage-class", "reserved", `--usage-class: must be one or both of spot, on-demand, each once, got "reserved"`},
		{"--usage-class", "spot,spot", `--usage-class: must be one or both of spot, on-demand, each once, got "spot,spot"`},
		{"--usage-class", "", `--usage-class: must be one or both of spot, on-demand, got ""`},
		{"--max-runtime", "0", `--max-runtime: must be a duration from 1s to 24h, such as 90s or 30m, got "0"`},
		{"--max-runtime", "-2", `--max-runtime: must be a duration from 1s to 24h, such as 90s or 30m, got "-2"`},
		{"--max-runtime", "30", `--max-runtime: must be a duration from 1s to 24h, such as 90s or 30m, got "30"`},
		{"--timeout", "25h", `--timeout: must be a duration from 1s to 24h, such as 90s or 30m, got "25h"`},
		{"--run-id", "77", `--run-id: must be left out, or --repository be given with it, got "77"`},
		{"--run-attempt", "2", `--run-attempt: must be left out, or --repository be given with it, got "2"`},
		{"--output", "yaml", `--output: must be one of table, json, got "yaml"`},
	} {
		t.Run(strings.TrimLeft(tt.flag, "-")+"="+tt.value, func(t *testing.T) {
			c := newCLI(nil)
			code := c.run(t.Context(), asking(tt.flag+"="+tt.value)...)
			if want := "remuda: " + tt.want + "\nSee 'remuda request --help'.\n"; code != exitUsage || c.err.String() != want {
				t.Errorf("exit code = %d, stderr = %q, want %d, %q", code, &c.err, exitUsage, want)
			}
			if c.opened != 0 {
				t.Error("the store was opened for a request that cannot be right")
			}
		})
	}
}

// What names the run is checked as a whole, against github.url too, before anything is opened.
func TestRequest_S89_RunValidation(t *testing.T) {
	const org, repo, any = "https://github.com/Octo", "https://github.com/octo/app", "https://github.com/enterprises/big"
	for _, tt := range []struct {
		name, url string
		args      []string
		want      string // "": right
	}{
		{"Digits", repo, []string{"--id=77-a", "--repository=OCTO/app"}, ""},
		{"Owner", org, []string{"--id=77", "--repository=octo/other"}, ""},
		{"Any", any, []string{"--id=77", "--repository=some/other"}, ""},
		{"NoURL", "", []string{"--id=77", "--repository=some/other"}, ""},
		{"All", repo, []string{"--id=77-a-b", "--repository=octo/app", "--run-id=77", "--run-attempt=2", "--attempt=2"}, ""},
		{"OtherRepository", repo, []string{"--id=77", "--repository=octo/other"}, `--repository: must be octo/app, which is what github.url and github.repository allow, got "octo/other"`},
		{"OtherOwner", org, []string{"--id=77", "--repository=else/app"}, `--repository: must be one of Octo, which is the owner in github.url, got "else/app"`},
		{"NoName", any, []string{"--id=77", "--repository=octo"}, `--repository: must be owner/name, got "octo"`},
		{"Space", any, []string{"--id=77", "--repository=octo/a b"}, `--repository: must be owner/name, got "octo/a b"`},
		{"NoDigits", any, []string{"--id=a-77", "--repository=octo/app"}, `--run-id: must be given unless --id begins with it, got --id "a-77"`},
		{"MoreThanDigits", any, []string{"--id=77a", "--repository=octo/app"}, `--id: must be the run id 77, or begin with 77-, got "77a"`},
		{"LeadingZero", any, []string{"--id=077", "--repository=octo/app"}, `--id: must be the run id 77, or begin with 77-, got "077"`},
		{"OtherRun", any, []string{"--id=77", "--repository=octo/app", "--run-id=7"}, `--id: must be the run id 7, or begin with 7-, got "77"`},
		{"NoRun", any, []string{"--id=77", "--repository=octo/app", "--run-id=x"}, `--run-id: must be a whole number from 1 to 9223372036854775807, got "x"`},
		{"RunZero", any, []string{"--id=0", "--repository=octo/app"}, `--run-id: must be a whole number from 1 to 9223372036854775807, got "0"`},
		{"RunAttemptZero", any, []string{"--id=77", "--repository=octo/app", "--attempt=1", "--run-attempt=0"}, `--run-attempt: must be a whole number from 1 to 2147483647, got "0"`},
		{"RunAttemptAlone", any, []string{"--id=77", "--repository=octo/app", "--run-attempt=x"}, `--run-attempt: must be a whole number from 1 to 2147483647, got "x"`},
		{"Attempts", any, []string{"--id=77", "--repository=octo/app", "--attempt=1", "--run-attempt=2"}, `--run-attempt: must be the same as --attempt where both are given, got 2 and 1`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCLI(nil)
			code := c.run(t.Context(), append([]string{"request", "--resource-class=small", "--set=github.url=" + tt.url}, tt.args...)...)
			if tt.want == "" {
				if code != exitFailure || c.opened != 1 {
					t.Errorf("exit code = %d, want %d, as the store cannot be opened:\n%s", code, exitFailure, &c.err)
				}
				return
			}
			if want := "remuda: " + tt.want + "\nSee 'remuda request --help'.\n"; code != exitUsage || c.err.String() != want || c.opened != 0 {
				t.Errorf("exit code = %d, opened %d times, stderr = %q, want %d, 0, %q", code, c.opened, &c.err, exitUsage, want)
			}
		})
	}
}

// An attempt of the run is the request's where only one is given.
func TestRequest_AttemptsFollowEachOther(t *testing.T) {
	for _, tt := range []struct {
		attempt, runAttempt string
		want                int
	}{{"", "", 1}, {"3", "", 3}, {"", "4", 4}, {"5", "5", 5}} {
		o := requestOptions{id: "77-x", count: "1", usage: "spot", types: "*", class: "large", output: "json", repository: "octo/App"}
		o.attempt, o.runAttempt = tt.attempt, tt.runAttempt
		if err := o.validate(config.Default()); err != nil {
			t.Fatal(err)
		}
		w, named := o.want.Workflow()
		if want := (store.Workflow{Repository: "octo/app", Run: 77, Attempt: tt.want}); !named || w != want || o.want.Attempt != tt.want {
			t.Errorf("--attempt %q --run-attempt %q: attempt %d of %+v, want %d of %+v", tt.attempt, tt.runAttempt, o.want.Attempt, w, tt.want, want)
		}
	}
}

func TestRequest_S89_AllProblemsAtOnce(t *testing.T) {
	c := newCLI(nil)
	code := c.run(t.Context(), "request", "--count", "0", "--timeout", "soon")
	if got := strings.Count(c.err.String(), "must be"); code != exitUsage || got != 4 { // id, count, class, timeout
		t.Errorf("exit code = %d with %d problems, want %d with 4:\n%s", code, got, exitUsage, &c.err)
	}
}

// S89: bounds come from the configuration, and so do the defaults of flags that were not given.
func TestRequest_BoundsFollowConfiguration(t *testing.T) {
	cfg := config.Default()
	cfg.Requests.MaxCount, cfg.Requests.MaxRuntime, cfg.Requests.Timeout = 3, 10*time.Minute, time.Minute
	o := requestOptions{id: "77-x", attempt: "2", count: "3", usage: "spot, on-demand", types: "c*,m6i.large\nr*", class: "large", output: "json"}
	if err := o.validate(cfg); err != nil {
		t.Fatal(err)
	}
	want := store.RunRequest{
		ID: "77-x", Attempt: 2, Count: 3, UsageClasses: []string{"spot", "on-demand"},
		AllowedInstanceTypes: []string{"c*", "m6i.large", "r*"}, ResourceClass: "large", MaxRuntime: 600, Timeout: 60,
	}
	if diff := gocmp.Diff(want, o.want); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	o.count = "4"
	if err := o.validate(cfg); err == nil || !strings.Contains(err.Error(), "from 1 to 3") {
		t.Errorf("validate with count 4 of 3 = %v, want the range", err)
	}
}
