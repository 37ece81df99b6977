package reconciler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// H41: an attempt of another class takes the place of one that waits in line. Nothing of the old one
// stays in line: the next request of the old class gets what it waited for.
func TestAttempts_OfAnotherClassLeavesTheLine(t *testing.T) {
	for name, class := range map[string]string{"KnownClass": "large", "UnknownClass": "huge"} {
		t.Run(name, story(func(t *testing.T, w *world) {
			w.class("small", func(c *reconciler.Class) { c.Cap = 2 })
			w.controller("c1", nil)
			w.submit(spec("50", 1)) // keeps one
			w.awaitPhase("50", 1, statemachine.Ready, time.Minute)
			w.submit(spec("100", 2)) // gets one, waits for the other
			w.await(time.Minute, "one created", func() bool { return w.in(statemachine.Created) == 1 })
			time.Sleep(time.Minute)
			w.submit(spec("100", 1, asAttempt(2), ofClass(class)))
			w.await(time.Minute, "the small one pooled", func() bool { return w.pooled() == 1 })
			w.serve(spec("200", 1), 30*time.Second)
		}))
	}
}

// H36: a release right after the request, in whatever stage it is, overlooks nothing.
func TestRelease_RightAfterTheRequest_H36(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, 30 * time.Millisecond, time.Second, 20 * time.Second, 21 * time.Second} {
		t.Run(after.String(), storyLed(func(t *testing.T, w *world) {
			w.submit(spec("100", 3))
			time.Sleep(after)
			w.give("100", 1, store.ReleaseDrain, 4*time.Minute)
			for id, in := range w.Instances() {
				if in.State.Owned() {
					t.Errorf("%s is %s after the release", id, in.State)
				}
			}
			w.checkDrained(30 * time.Minute)
		}))
	}
}

// H41: an attempt that waits for the job of the one before keeps no machine from others, also under a new leader: there is
// nothing that it could take meanwhile.
func TestAttempts_BlockedKeepsNobodyWaiting_H41(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.MaxInstances = 2 })
		stop := w.controller("c1", nil)
		w.warm("100", 2)
		w.serve(spec("200", 1), time.Minute)
		job := w.jobs("200", 1, 300)
		time.Sleep(10 * time.Second)
		w.submit(spec("200", 1, asAttempt(2), within(20*time.Minute)))
		time.Sleep(10 * time.Second)
		stop()
		w.controller("c2", nil)
		time.Sleep(10 * time.Second)
		if st := w.serve(spec("300", 1), 30*time.Second); !st.Instances[0].Warm {
			t.Errorf("300 got %+v, want the warm one", st.Instances)
		}
		w.awaitJobs(job, 10*time.Minute)
	})
}

// limited takes statuses up to a size, as DynamoDB does all items.
func limited(table store.Table, most int) store.Table {
	return held{table, func(_ context.Context, item store.Item) error {
		if n := len(item.Attributes); item.Key.Sort == store.KindRunStatus && n > most {
			return fmt.Errorf("put: %w: item size of %d has exceeded the maximum allowed", store.ErrInvalid, n)
		}
		return nil
	}}
}

// A request with texts of any length gets an answer that can be written, and that names the field.
func TestGiantTexts_AreAnswered(t *testing.T) {
	takesLong(t)
	giant := strings.Repeat("\x1b<", 1_000) // a larger item is not decoded
	for field, change := range map[string]func(*store.RunRequest){
		"usageClass": ofUsage(giant), "allowedInstanceTypes": ofTypes("c*", giant), "resourceClass": ofClass(giant),
	} {
		t.Run(field, story(func(t *testing.T, w *world) {
			w.Waive("records") // the request is a bad record, which the test is about
			w.controllerWith("c1", reconciler.Options{Table: limited(w.Table, 400_000)})
			w.submit(spec("100", 1, change))
			st := w.awaitPhase("100", 1, statemachine.Failed, 10*time.Second)
			if st.Reason != reconciler.ReasonSpec || !strings.Contains(st.Message, field) || len(st.Message) > store.MaxMessage {
				t.Errorf("%s: %.100q (%d bytes), want invalid, naming %s", st.Reason, st.Message, len(st.Message), field)
			}
		}))
	}
}

// A status that the store does not take for its size does not leave the client without an answer.
func TestStatusTooLarge_IsAnswered(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.controllerWith("c1", reconciler.Options{Table: limited(w.Table, 1500)})
		w.submit(spec("100", 15)) // some 100 bytes a seat
		st := w.awaitPhase("100", 1, statemachine.Failed, 5*time.Minute)
		if st.Reason != reconciler.ReasonSpec || !strings.Contains(st.Message, "exceeded the maximum") {
			t.Errorf("%s: %s, want the store's words", st.Reason, st.Message)
		}
		w.await(5*time.Minute, "every machine is pooled or ended", func() bool {
			return w.in(statemachine.Created)+w.in(statemachine.Claimed)+w.in(statemachine.Running) == 0
		})
		w.release("100", 1, store.ReleaseDrain)
	})
}

// S70 S89 H34: what can never be met is answered at once, with the reason, launches nothing, and keeps nobody waiting: not in an
// empty fleet, and not behind a full cap.
func TestRequest_ImpossibleIsToldAtOnce_S70_S89_H34(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*store.RunRequest)
		reason string
		says   string
	}{
		"MoreThanTheCap":        {func(r *store.RunRequest) { r.Count = 5 }, reconciler.ReasonSpec, "count: must be at most 4, which caps.maxInstances allows to live at once, got 5"},
		"MoreThanTheClassesCap": {func(r *store.RunRequest) { r.Count, r.ResourceClass = 4, "large" }, reconciler.ReasonSpec, "count: must be at most 3, which classes.large.cap allows"},
		"MoreThanAny":           {func(r *store.RunRequest) { r.Count = 10000 }, reconciler.ReasonSpec, "1000"},
		"None":                  {func(r *store.RunRequest) { r.Count = 0 }, reconciler.ReasonSpec, "count"},
		"NoSuchClass":           {ofClass("huge"), reconciler.ReasonSpec, "resourceClass"},
		"NoSuchUsage":           {ofUsage("free"), reconciler.ReasonSpec, "usageClass"},
		"NoSuchType":            {ofTypes("zz9*"), reconciler.ReasonUnsatisfiable, "zz9"},
	} {
		for _, held := range []int{0, 4} {
			t.Run(name, story(func(t *testing.T, w *world) {
				w.Configure(func(c *reconciler.Config) { c.MaxInstances = 4 })
				w.class("large", func(c *reconciler.Class) { c.Cap = 3 })
				w.controller("c1", nil)
				if held > 0 {
					w.serve(spec("100", held), time.Minute)
				}
				w.submit(spec("200", 1, tc.change))
				st := w.awaitPhase("200", 1, statemachine.Failed, 5*time.Second)
				if st.Reason != tc.reason || !strings.Contains(st.Message, tc.says) {
					t.Errorf("failed with %q: %q, want %q: %q", st.Reason, st.Message, tc.reason, tc.says)
				}
				w.launched(held)
				if held > 0 {
					w.release("100", 1, store.ReleaseDrain)
				}
			}))
		}
	}
}

// S03 S04 S06 S07 S10 S16 S17 S22 S47 S69 S77 S82 S83 S85 H04 H37: the whole life of three machines.
func TestLifecycle_ColdWarmDrained(t *testing.T) {
	t.Run("InMemory", func(t *testing.T) { run(t, lifecycle) })
	t.Run("OnSQLite", func(t *testing.T) {
		takesLong(t)
		runOn(t, onSQLite, lifecycle)
	})
}

func lifecycle(t *testing.T, w *world) {
	defer w.controller("c1", nil)()
	cold := w.serve(spec("100", 3), 2*time.Minute)
	if len(cold.Instances) != 3 || cold.Counts.Launched != 3 {
		t.Fatalf("run 100 got %+v", cold)
	}
	for _, j := range w.awaitJobs(w.jobs("100", 3, 5), time.Minute) {
		if j.Conclusion != githubsim.Success || !ids(cold)[store.InstanceID(j.InstanceID)] {
			t.Errorf("job %s: %s on %s, want success on one of %v", j.ID, j.Conclusion, j.InstanceID, ids(cold))
		}
	}
	w.give("100", 1, store.ReleaseDrain, time.Minute)
	w.await(30*time.Second, "three pooled", func() bool { return w.pooled() == 3 })

	warm := w.serve(spec("200", 2), 20*time.Second)
	for _, s := range warm.Instances {
		if !s.Warm || !ids(cold)[s.InstanceID] {
			t.Errorf("seat %+v: want a warm one of %v", s, ids(cold))
		}
	}
	w.awaitJobs(w.jobs("200", 2, 5), time.Minute)
	w.give("200", 1, store.ReleaseDrain, time.Minute)
	w.await(w.Config().Limits.Idle+w.Config().Sweep, "drained to zero", func() bool { return len(w.Fleet.Alive()) == 0 })
	w.await(time.Minute, "records retired", func() bool {
		for _, in := range w.Instances() {
			if in.State != statemachine.Terminated || in.ExpiresAt.IsZero() || in.RunID != "" || !in.Threshold.IsZero() {
				return false
			}
		}
		return true
	})
	w.launched(3)
	if twice := w.Hub.NamesUsedTwice(); len(twice) > 0 {
		t.Errorf("runner names used twice: %v", twice)
	}
}

// S80 invariant 7: a request has its answer at its deadline, also while GitHub being down keeps an older attempt
// from going back.
func TestDeadline_WhileAnOlderAttemptCannotGoBack(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		w.serve(spec("100", 1), time.Minute)
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Fails, Calls: clientCalls})
		w.submit(spec("100", 1, asAttempt(2), within(time.Minute)))
		w.awaitPhase("100", 2, statemachine.Failed, 65*time.Second)
	})
}

// H41: a run is repeated just after the records of its first attempt expired.
func TestAttempt_AfterTheRecordsExpired(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		w.IdlePoll = time.Second
		defer w.controller("c1", nil)()
		w.warm("100", 1)
		st := w.status("100")
		w.await(time.Minute, "expiry set", func() bool { st = w.status("100"); return !st.ExpiresAt.IsZero() })
		time.Sleep(st.ExpiresAt.Sub(w.Clock.Now()) + time.Second)
		w.serve(spec("100", 1, asAttempt(2)), time.Minute)
	})
}

// H41: the same run again, as attempt 1 and as attempt 2, while the first winds down.
func TestAttempts_WhileTheFirstWindsDown(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		first := w.serve(spec("100", 2), time.Minute)
		job := w.jobs("100", 1, 60)
		w.await(time.Minute, "job runs", func() bool { j, _ := w.Hub.Job(job[0]); return j.State == githubsim.Running })
		w.release("100", 1, store.ReleaseDrain)

		w.submit(spec("100", 2)) // attempt 1 again: the same request, still winding down
		if st := w.status("100"); st.Attempt != 1 || st.Phase != statemachine.Ready {
			t.Fatalf("attempt 1 again: %d %s, want it unchanged", st.Attempt, st.Phase)
		}
		if _, err := w.Store.Submit(t.Context(), spec("100", 3)); !errors.Is(err, store.ErrOtherSpec) {
			t.Errorf("attempt 1 with another spec: %v, want ErrOtherSpec", err)
		}
		st := w.serve(spec("100", 2, asAttempt(2)), 3*time.Minute)
		w.awaitJobs(job, time.Minute)
		for id := range ids(first) {
			if in := w.Instances()[id]; in.RunID != "" && in.Attempt != 2 {
				t.Errorf("%s still belongs to attempt %d", id, in.Attempt)
			}
		}
		w.release("100", 1, store.ReleaseNow) // late: must not free attempt 2
		time.Sleep(time.Minute)
		if now := w.status("100"); now.Phase != statemachine.Ready || now.Attempt != 2 {
			t.Errorf("a late release of attempt 1 made attempt 2 %s", now.Phase)
		}
		if n := w.in(statemachine.Running); n != len(st.Instances) {
			t.Errorf("%d instances run, want %d", n, len(st.Instances))
		}
	})
}

// S42 S67 S80: no readiness leads to a defined failure at the deadline, with the reason.
func TestDeadline(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Fleet.SetCapacity(fleet.Slot{}, 1)
		defer w.controller("c1", nil)()
		w.submit(spec("100", 3, within(5*time.Minute)))
		start := w.Clock.Now()
		st := w.awaitPhase("100", 1, statemachine.Failed, 6*time.Minute)
		if took := w.Clock.Since(start); took < 5*time.Minute || took > 5*time.Minute+time.Second {
			t.Errorf("failed after %s, want 5m", took)
		}
		if st.Reason != reconciler.ReasonTimeout || !strings.Contains(st.Message, "1 of 3") {
			t.Errorf("failed for %q: %q", st.Reason, st.Message)
		}
		w.await(time.Minute, "the healthy one pooled", func() bool { return w.pooled() == 1 }) // S08 S78
	})
}

// H30: a client that vanished is not served for ever, and what was got for it goes back; so does one that holds nothing and
// can have nothing.
func TestClientVanished_H30(t *testing.T) {
	for _, room := range []int{1, 0} {
		t.Run(fmt.Sprint(room), story(func(t *testing.T, w *world) {
			w.Fleet.SetCapacity(fleet.Slot{}, room)
			w.controller("c1", nil)
			gone := w.submit(spec("100", 2))
			time.Sleep(2 * time.Minute)
			if st := w.status("100"); st.Phase != statemachine.Pending {
				t.Fatalf("%s while its client waits, want Pending", st.Phase)
			}
			gone()
			st := w.awaitPhase("100", 1, statemachine.Failed, 100*time.Second)
			if st.Reason != reconciler.ReasonVanished {
				t.Errorf("failed for %q, want %q", st.Reason, reconciler.ReasonVanished)
			}
			w.await(time.Minute, "pooled", func() bool { return w.pooled() == room })
		}))
	}
}
