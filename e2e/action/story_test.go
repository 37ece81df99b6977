package action

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/e2e/action/step"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// provisioned holds everything that a provision step says to what the store knows, and returns the
// machines.
func (w *world) provisioned(r step.Result, label string, count, warm int) []string {
	w.Helper()
	w.succeeds(r)
	status := w.records(label).Status
	if status == nil || status.Phase != statemachine.Ready {
		w.Fatalf("run %s: status %+v, want Ready", label, status)
	}
	seconds := r.Outputs["seconds"]
	var ids []string
	runners := map[bool]string{true: "runner", false: "runners"}[count == 1]
	summary := fmt.Sprintf("### %d %s `%s` ready in %s s\n\n| instance | type | usage class | start | seconds |\n| --- | --- | --- | --- | ---: |\n", count, runners, label, seconds)
	for _, s := range status.Instances {
		ids = append(ids, string(s.InstanceID))
		start := map[bool]string{true: "warm", false: "cold"}[s.Warm]
		summary += fmt.Sprintf("| %s | %s | %s | %s | %.1f |\n", s.InstanceID, s.InstanceType, s.UsageClass, start, s.Seconds)
	}
	list, err := json.Marshal(ids)
	w.Check(err)
	want := map[string]string{
		"label": label, "request-id": label, "instance-ids": string(list), "ready-count": fmt.Sprint(count), "warm-count": fmt.Sprint(warm), "seconds": seconds,
	}
	if diff := cmp.Diff(want, r.Outputs); diff != "" || !regexp.MustCompile(`^\d+\.\d$`).MatchString(seconds) {
		w.Errorf("outputs (-want +got):\n%s", diff)
	}
	if names := slices.Sorted(slices.Values(w.action.Outputs)); !slices.Equal(names, slices.Sorted(maps.Keys(want))) {
		w.Errorf("action.yml declares the outputs %v", names)
	}
	table, _, _ := strings.Cut(r.Summary, "\nLast ready: ") // which the history tells, or does not
	if diff := cmp.Diff(summary, strings.TrimRight(table, "\n")+"\n"); diff != "" {
		w.Errorf("summary (-want +got):\n%s", diff)
	}
	if want := "remuda's action " + w.version(); r.Log[0] != want {
		w.Errorf("first line of the log = %q, want %q", r.Log[0], want)
	}
	says(w, r, fmt.Sprintf(`^%s  Ready  %d/%d  warm %d  cold %d  %s s$`, label, count, count, warm, count-warm, regexp.QuoteMeta(seconds)))
	return ids
}

// version is the action's own.
func (w *world) version() string {
	w.Helper()
	text, err := os.ReadFile("../../action/package.json")
	manifest, err := program.JSON[struct{ Version string }](text, err)
	w.Check(err)
	return manifest.Version
}

// says wants a line in the log of a step.
func says(w *world, r step.Result, pattern string) {
	w.Helper()
	if !slices.ContainsFunc(r.Log, regexp.MustCompile(pattern).MatchString) {
		w.Errorf("no line of the log matches %s:\n%s", pattern, strings.Join(r.Log, "\n"))
	}
}

// givenBack is the summary of a release step whose request had machines; their prices are not configured here.
var givenBack = regexp.MustCompile("^### Runners `[^`]+` given back\n\nMachines were busy for \\w+ and booted for \\w+: their price is not known\\.\n\n$")

// released wants the end of a release step, and nothing held.
func (w *world) released(r step.Result, label string) {
	w.Helper()
	w.succeeds(r)
	if r.Outputs["label"] != label || r.Outputs["request-id"] != label || r.Summary != "" && !givenBack.MatchString(r.Summary) {
		w.Errorf("release of %s: outputs %v, summary %q", label, r.Outputs, r.Summary)
	}
	if st := w.records(label).Status; st == nil || st.Phase != statemachine.PhaseReleased {
		w.Errorf("release of %s ended with the status %+v", label, st)
	}
	w.Check(w.witness.Look(w.Context()))
	if n := w.owned(label); n > 0 {
		w.Errorf("release of %s ended with %d machines held", label, n)
	}
}

// owned counts the machines of a request.
func (w *world) owned(label string) int {
	return w.witness.Count(func(in store.Instance) bool { return string(in.RunID) == label })
}

// Two workflows, one after the other: five runners, jobs on exactly these, given back; the second one
// gets the same five, warm. Registered either way (S13, S14, S15, S16, S17, S47, S77, S80, S81, S85).
func TestStory(t *testing.T) {
	for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			w := install(t, "REMUDA_GITHUB_REGISTRATION="+string(mode)).control()
			cold := w.provisioned(w.run("4711", 1, inputs{"instance-count": "5"}), "4711", 5, 0)
			w.jobs("4711", "10", cold)
			w.released(w.run("4711", 1, inputs{"mode": "release"}), "4711")
			w.awaitPooled(5)

			// As the prototype's users write it, with a suffix.
			second := inputs{"instance-count": "5", "usage-class": "[spot]", "allowed-instance-types": "[c*, r*]", "max-runtime-min": "-1", "request-suffix": "b", "aws-region": "us-east-1"}
			warm := w.provisioned(w.run("4712", 1, second), "4712-b", 5, 5)
			if !slices.Equal(slices.Sorted(slices.Values(warm)), slices.Sorted(slices.Values(cold))) {
				w.Errorf("the second workflow got %v, want %v", warm, cold)
			}
			w.jobs("4712-b", "10", warm)
			w.released(w.run("4712", 1, inputs{"mode": "release", "request-suffix": "b"}), "4712-b")
			w.released(w.run("4712", 1, inputs{"mode": "release", "request-suffix": "b"}), "4712-b") // again
			w.close()
		})
	}
}

// Re-run: attempt 2 takes the place of attempt 1, which never gave back, and a late release of attempt 1
// does not free it (H41).
func TestRerun_H41(t *testing.T) {
	t.Parallel()
	w := install(t).control()
	first := w.provisioned(w.run("4711", 1, inputs{"instance-count": "2"}), "4711", 2, 0)
	again := w.provisioned(w.run("4711", 1, inputs{"instance-count": "2"}), "4711", 2, 0) // the same step again, as after a lost reply
	if !slices.Equal(first, again) {
		w.Errorf("the same attempt got %v, then %v", first, again)
	}
	other := w.run("4711", 1, inputs{"instance-count": "3"})
	w.fails(other, `other inputs`)
	second := w.provisioned(w.run("4711", 2, inputs{"instance-count": "3"}), "4711", 3, 2)
	w.fails(w.run("4711", 1, inputs{"instance-count": "2"}), `attempt 2 of this run has asked already`)
	w.succeeds(w.run("4711", 1, inputs{"mode": "release"}))
	w.jobs("4711", "6", second)
	if st := w.records("4711").Status; st.Attempt != 2 || st.Phase != statemachine.Ready {
		w.Errorf("after a late release of attempt 1: attempt %d %s", st.Attempt, st.Phase)
	}
	// "Re-run failed jobs" does not run the provision again: the release of attempt 3 frees attempt 2.
	w.released(w.run("4711", 3, inputs{"mode": "release", "release-mode": "now"}), "4711")
	w.awaitPooled(3)
	w.close()
}
