package action

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/e2e/action/step"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// fails wants a failed step whose error annotations match, in this order. A summary, which a step has that asked for runners,
// says that there are none.
func (w *world) fails(r step.Result, patterns ...string) {
	w.Helper()
	var errs []string
	for _, c := range r.Annotations {
		if c.Name == "error" {
			errs = append(errs, c.Data)
		}
	}
	match := slices.EqualFunc(errs, patterns, func(text, pattern string) bool { return regexp.MustCompile(pattern).MatchString(text) })
	if r.Conclusion != step.Failure || r.ExitCode != 1 || !match || r.Summary != "" && !strings.HasPrefix(r.Summary, "### No runners `") {
		w.Errorf("step: %s, exit code %d, summary %q, errors %q; want failure, 1, no runners, %q; log:\n%s", r.Conclusion, r.ExitCode, r.Summary, errs, patterns, strings.Join(r.Log, "\n"))
	}
}

// What cannot be asked for is refused before anything is stored, all of it at once (S89, H34); what only
// the controller knows, by it; and both within seconds.
func TestRefusals_S89_H34(t *testing.T) {
	t.Parallel()
	w := install(t).control()
	for name, tc := range map[string]struct {
		run    string
		with   inputs
		errors []string
	}{
		"count 0": {"1", inputs{"instance-count": "0"}, []string{`^instance-count: must be a whole number from 1 to \d+, got "0"$`}},
		"several": {
			"2", inputs{"instance-count": "-1", "usage-class": "free", "allowed-instance-types": "c 5!", "max-runtime-min": "0", "timeout": "soon", "resource-class": "Large Size", "release-mode": "kill", "request-suffix": "A"},
			[]string{`^request-suffix: `, `^timeout: `, `^release-mode: `, `^instance-count: `, `^usage-class: `, `^allowed-instance-types: `, `^resource-class: `, `^max-runtime-min: `},
		},
		"mode": {"3", inputs{"mode": "dump"}, []string{`^mode: must be one of provision, release, refresh, got "dump"`}},
	} {
		r := w.run(tc.run, 1, tc.with)
		w.fails(r, tc.errors...)
		if rec := w.records(tc.run); rec.Request != nil || rec.Client != nil {
			w.Errorf("%s: stored %+v", name, rec)
		}
		if len(r.Outputs) > 0 {
			w.Errorf("%s: outputs %v", name, r.Outputs)
		}
	}

	large := w.run("9", 1, inputs{"resource-class": ""}) // the prototype's default, which this installation does not have
	w.fails(large, `request 9 attempt 1: .*resourceClass.*large`)
	class := w.run("10", 1, inputs{"resource-class": "huge"})
	w.fails(class, `request 10 attempt 1: .*resourceClass.*huge`)
	w.fails(w.run("11", 1, inputs{"instance-count": "9999"}), `request 11 attempt 1: .*count.*9999`)
	w.fails(w.run("12", 1, inputs{"allowed-instance-types": "zz9*"}), `request 12 attempt 1: .*zz9`)
	w.fails(w.run("13", 1, inputs{"name": "e2e-absent"}), `table e2e-absent in us-east-1: not found; .*remuda init`)
	w.fails(w.run("14", 1, inputs{"mode": "release", "name": "e2e-absent"}), `table e2e-absent in us-east-1: not found; .*remuda init`)

	nothing := w.succeeds(w.run("20", 1, inputs{"mode": "release"}))
	says(w, nothing, `^20  nothing to release: installation `+w.name+` in us-east-1 has no such request$`)
	refresh := w.succeeds(w.run("21", 1, inputs{"mode": "refresh"}))
	if len(refresh.Log) != 2 || !strings.HasPrefix(refresh.Log[0], "remuda's action ") || !strings.Contains(refresh.Log[1], "controller") || len(refresh.Outputs) > 0 || w.records("21").Request != nil {
		w.Errorf("mode refresh: log %q, outputs %v", refresh.Log, refresh.Outputs)
	}
	if n := w.witness.Count(func(store.Instance) bool { return true }); n != 0 {
		w.Errorf("%d machines were launched for nothing", n)
	}
	w.close()
}

// A request that the fleet cannot fill fails at its deadline, by the controller's word and with its
// reason; what it held is pooled (S08, S42, S75, S78, S80).
func TestTimeout_S42(t *testing.T) {
	program.Long(t, "waits for the timeout of a request")
	t.Parallel()
	w := install(t, "REMUDA_PROCESS_CAPACITY=1").control()
	r := w.run("4711", 1, inputs{"instance-count": "2", "timeout": "60s"}) // in which a busy machine makes one ready
	w.fails(r, `request 4711 attempt 1: .*1 of 2`)
	says(w, r, `^4711  Pending  ready 1/2  warm 0  cold 1  `)
	if !regexp.MustCompile(`\| asked for \| 2 of class .*\n\| came to \| Pending  ready 1/2  warm 0  cold 1, written 2`).MatchString(r.Summary) {
		w.Errorf("summary %q, want what was asked for and how far it came", r.Summary)
	}
	if st := w.records("4711").Status; st.FailedAt.IsZero() || st.Deadline.Sub(st.PendingAt.Time) != time.Minute {
		w.Errorf("status = %+v, want failed at a deadline of a minute", st)
	}
	w.awaitPooled(1)
	if n := w.owned("4711"); n > 0 {
		w.Errorf("%d machines are still held", n)
	}
	w.released(w.run("4711", 1, inputs{"mode": "release"}), "4711") // if: always()
	w.close()
}

// Without a controller the step says so after some seconds, fails at its timeout, and what it asked for is
// given back: the controller that comes later launches nothing for it.
func TestNoController(t *testing.T) {
	program.Long(t, "waits for the timeouts of two steps")
	t.Parallel()
	w := install(t)
	r := w.run("4711", 1, inputs{"instance-count": "2", "timeout": "30s"})
	w.fails(r, `^request 4711 attempt 1: not ready within 30 s \(last: .*\); what was asked for was given back$`)
	warned := slices.IndexFunc(r.Log, func(l string) bool {
		return regexp.MustCompile(`^##\[warning\]no controller answered yet, 5 s .*is .remuda controller. running for installation ` + w.name + ` in us-east-1\?$`).MatchString(l)
	})
	if warned < 0 || warned == len(r.Log)-1 || r.Took < 30*time.Second {
		w.Errorf("after %s, log:\n%s\nwant the warning before the failure at 30 s", r.Took, strings.Join(r.Log, "\n"))
	}
	if !strings.Contains(r.Summary, "\n| waited last for | no\\_controller: waiting for the controller for ") {
		w.Errorf("summary %q, want what it waited for", r.Summary)
	}
	want := map[string]string{"label": "4711", "request-id": "4711"}
	if diff := cmp.Diff(want, r.Outputs); diff != "" {
		w.Errorf("outputs (-want +got):\n%s", diff)
	}
	if got := w.records("4711").Request; got == nil || !got.Released() {
		w.Errorf("request = %+v, want it given back", got)
	}
	w.fails(w.run("4711", 1, inputs{"mode": "release", "timeout": "15s"}), `still held after 15 s .*the release stays in force`)
	w.control()
	w.released(w.run("4711", 1, inputs{"mode": "release"}), "4711")
	w.fails(w.run("4711", 1, inputs{"instance-count": "2", "timeout": "30s"}), `was given back already; re-run all jobs`)
	w.provisioned(w.run("4711", 2, nil), "4711", 1, 0) // re-run all jobs
	if n := w.witness.Count(func(in store.Instance) bool { return in.State != statemachine.Terminated }); n != 1 {
		w.Errorf("%d machines live, want 1", n)
	}
	w.released(w.run("4711", 2, inputs{"mode": "release"}), "4711")
	w.close()
}
