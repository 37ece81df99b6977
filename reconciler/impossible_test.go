package reconciler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// S70: what can never be met is told at once, launches nothing, and keeps nobody waiting: not in an empty
// fleet, and not behind a full cap.
func TestRequest_ImpossibleIsToldAtOnce_S70(t *testing.T) {
	for name, tc := range map[string]struct {
		want   store.RunRequest
		reason string
		says   string
	}{
		"MoreThanTheCap":        {spec("200", 5), reconciler.ReasonSpec, "count: must be at most 4, which caps.maxInstances allows to live at once, got 5"},
		"MoreThanTheClassesCap": {sized(spec("200", 4), "large"), reconciler.ReasonSpec, "count: must be at most 3, which caps.perClass.large allows"},
		"NoSuchType":            {typed(spec("200", 1), "z*"), reconciler.ReasonHopeless, "no instance type matches"},
	} {
		for _, held := range []int{0, 4} {
			t.Run(name, func(t *testing.T) {
				run(t, func(t *testing.T, w *world) {
					w.Config.MaxInstances, w.Config.MaxInstancesPerClass = 4, map[string]int{"large": 3}
					w.controller("c1", nil)
					if held > 0 {
						w.submit(spec("100", held))
						w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
					}
					w.submit(tc.want)
					st := w.awaitPhase("200", 1, statemachine.Failed, 5*time.Second)
					if st.Reason != tc.reason || !strings.Contains(st.Message, tc.says) {
						t.Errorf("failed with %q: %q, want %q: %q", st.Reason, st.Message, tc.reason, tc.says)
					}
					if n := w.Fleet.Launched(); n != held {
						t.Errorf("%d machines launched, want %d", n, held)
					}
					if held > 0 {
						w.release("100", 1, store.Drain)
					}
				})
			})
		}
	}
}

func sized(r store.RunRequest, class string) store.RunRequest {
	r.ResourceClass = class
	return r
}

func typed(r store.RunRequest, pattern string) store.RunRequest {
	r.AllowedInstanceTypes = []string{pattern}
	return r
}
