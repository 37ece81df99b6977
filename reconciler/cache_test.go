package reconciler

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// inState returns a record as the store could hold it.
func inState(id string, version int64, state statemachine.State, run string) store.Instance {
	in := store.Instance{
		ID: store.InstanceID(id), Principal: store.Principal("p-" + id), State: state, Version: version,
		Assignment: version, ResourceClass: "small", UsageClass: store.Spot, InstanceType: "c6i.large", CPU: 2, Mem: 4096,
	}
	if state.Owned() {
		in.RunID, in.Attempt = store.RequestID(run), 1
	}
	if state != statemachine.Terminated {
		in.Threshold = store.At(dawn.Add(time.Hour))
	}
	return in
}

// A stale read, a repeated one or a late one changes nothing: only a higher version counts.
func TestCache_OnlyAHigherVersion(t *testing.T) {
	v := newRecords()
	v.instances.apply(inState("i-1", 3, statemachine.Running, "100"))
	for _, late := range []store.Instance{
		inState("i-1", 2, statemachine.Claimed, "99"), inState("i-1", 3, statemachine.Idle, ""), inState("i-1", 1, statemachine.Terminated, ""),
	} {
		v.instances.apply(late)
		if s, _ := v.instances.get("i-1"); s.State != statemachine.Running || s.RunID != "100" {
			t.Errorf("version %d over version 3: %s of run %q", late.Version, s.State, s.RunID)
		}
	}
	v.instances.apply(inState("i-1", 5, statemachine.Idle, ""))
	if s, _ := v.instances.get("i-1"); s.State != statemachine.Idle || len(v.instances.heldBy("100")) != 0 || len(v.returns()) != 1 {
		t.Errorf("version 5: %s, held %v, returning %v", s.State, v.instances.heldBy("100"), v.returns())
	}
}

// What is known beside the record stays with the assignment it was learned in.
func TestCache_NotesOfAnAssignment(t *testing.T) {
	v := newRecords()
	v.instances.apply(inState("i-1", 1, statemachine.Running, "100"))
	note := func(in *instance) {
		in.awaited, in.reg.githubDown, in.offered, in.stored.outcomeUnknown = true, true, true, true
	}
	v.instances.with("i-1", note)
	same := inState("i-1", 2, statemachine.Running, "100")
	same.Assignment = 1
	v.instances.apply(same)
	v.instances.with("i-1", func(in *instance) {
		if !in.awaited || !in.reg.githubDown || in.stored.outcomeUnknown || in.offered {
			t.Errorf("same assignment: awaited %v, github down %v, outcome unknown %v, offered %v", in.awaited, in.reg.githubDown, in.stored.outcomeUnknown, in.offered)
		}
		note(in)
	})
	v.instances.apply(inState("i-1", 3, statemachine.Idle, ""))
	v.instances.with("i-1", func(in *instance) {
		if in.awaited || in.reg.githubDown {
			t.Errorf("another assignment: watched %v, blocked %v", in.awaited, in.reg.githubDown)
		}
	})
	if in := v.instances.instance("i-1"); in == nil || cap(in.write) != 1 {
		t.Error("an instance cannot be locked")
	}
}

// H41: a record of a request counts if it is newer by version or by attempt; a client's sign of life
// counts when it changes, on the controller's clock.
func TestCache_Runs_H41(t *testing.T) {
	v := newRecords()
	at := func(minute int) time.Time { return dawn.Add(time.Duration(minute) * time.Minute) }
	request := func(attempt int, version int64) store.RunRecords {
		return store.RunRecords{Request: &store.RunRequest{ID: "100", Attempt: attempt, Version: version}}
	}
	v.requests.applyRun("100", request(1, 4), at(0))
	v.requests.applyRun("100", request(1, 3), at(0))
	if r, _ := v.requests.getRun("100"); r.request.Version != 4 {
		t.Errorf("version %d after 4 and 3, want 4", r.request.Version)
	}
	v.requests.applyRun("100", request(2, 1), at(0)) // after the first had expired
	if r, _ := v.requests.getRun("100"); r.request.Attempt != 2 {
		t.Errorf("attempt %d after 1 and 2, want 2", r.request.Attempt)
	}

	client := func(seen int) *store.RunClient { return &store.RunClient{ID: "100", SeenAt: store.At(at(seen))} }
	silence := 60 * time.Second
	v.requests.noteClient("100", client(7), at(1)) // its clock is its own
	v.requests.noteClient("100", client(7), at(2))
	if r, _ := v.requests.getRun("100"); r.vanished(at(2), time.Time{}, silence) {
		t.Error("vanished after one unchanged read, want two")
	}
	v.requests.noteClient("100", nil, at(2))
	r, _ := v.requests.getRun("100")
	for name, tc := range map[string]struct {
		now  time.Time
		want bool
	}{"OneTickBefore": {at(2).Add(-1), false}, "Exactly": {at(2), true}} {
		if got := r.vanished(tc.now, time.Time{}, silence); got != tc.want {
			t.Errorf("%s: vanished = %v, want %v", name, got, tc.want)
		}
	}
	v.requests.noteClient("100", client(8), at(3))
	if r, _ := v.requests.getRun("100"); r.vanished(at(9), time.Time{}, silence) {
		t.Error("vanished though its sign of life has changed")
	}
}

// An attempt may use instances while it is the present one, accepted, Pending or Ready, and not given
// back.
func TestCache_Alive(t *testing.T) {
	for _, phase := range append(statemachine.Phases(), statemachine.Unseen) {
		v := newRecords()
		req := &store.RunRequest{ID: "100", Attempt: 2, Version: 1, ReleasedAttempt: 1}
		st := &store.RunStatus{ID: "100", Attempt: 2, Phase: phase, Version: 1}
		v.requests.applyRun("100", store.RunRecords{Request: req, Status: st}, dawn)
		want := phase == statemachine.Pending || phase == statemachine.Ready
		if got := v.requests.alive("100", 2); got != want {
			t.Errorf("alive in phase %q = %v, want %v", phase, got, want)
		}
		if v.requests.alive("100", 1) || v.requests.alive("100", 3) || v.requests.alive("99", 2) {
			t.Errorf("phase %q: another attempt or request is alive", phase)
		}
		released := *req
		released.ReleasedAttempt, released.Version = 2, 2
		v.requests.applyRun("100", store.RunRecords{Request: &released}, dawn)
		if v.requests.alive("100", 2) {
			t.Errorf("phase %q: alive after its release", phase)
		}
	}
}

// Launches are counted once per token. An instance of an open launch is launched for its first request once it has a record.
func TestCache_LaunchedFor(t *testing.T) {
	v := newRecords()
	seat := func(attempt, count int, came ...store.InstanceID) []store.LaunchSeat {
		return []store.LaunchSeat{{RequestID: "100", Attempt: attempt, Count: count, Instances: came}, {RequestID: "200", Attempt: 1, Count: 9}}
	}
	v.launches.applyLaunch(store.Launch{Token: "l-1", Version: 1, Seats: seat(1, 3)})
	v.launches.applyLaunch(store.Launch{Token: "l-1", Version: 2, Done: true, Seats: seat(1, 3, "i-1", "i-2")})
	v.launches.applyLaunch(store.Launch{Token: "l-1", Version: 1, Seats: seat(1, 3)}) // read late
	v.launches.applyLaunch(store.Launch{Token: "l-2", Version: 1, Seats: seat(2, 4)})
	for _, of := range []struct{ id, launchedFor, owner string }{{"i-3", "100", "100"}, {"i-4", "200", "200"}, {"i-5", "100", "300"}} {
		in := inState(of.id, 1, statemachine.Claimed, of.owner)
		in.LaunchToken, in.History = "l-2", in.History.With(store.At(dawn), store.Entry{At: dawn, Code: store.CodeLaunched, Detail: of.launchedFor})
		v.instances.apply(in)
	}
	for _, tc := range []struct{ attempt, open, launched int }{{1, 0, 2}, {2, 2, 2}, {0, 2, 4}, {3, 0, 0}} {
		if open, launched := v.launchedFor("100", tc.attempt); open != tc.open || launched != tc.launched {
			t.Errorf("launchedFor(attempt %d) = %d open, %d launched, want %d, %d", tc.attempt, open, launched, tc.open, tc.launched)
		}
	}
	if l := v.launches.openLaunches(); len(l) != 1 || l[0].Token != "l-2" {
		t.Errorf("openLaunches() = %v, want l-2", l)
	}
}

// Two requests of a launch may be noted alike, and a long history loses its first request. No instance counts twice among those without a
// record, and an instance that may be another request's counts as not launched yet.
func TestCache_LaunchedFor_UnclearHistory_Review_C16(t *testing.T) {
	v := newRecords()
	alike := strings.Repeat("x", 60)
	a, b := store.RequestID(alike+"-a"), store.RequestID(alike+"-b")
	launch := store.Launch{Token: "l-1", Version: 1, Count: 2, Seats: []store.LaunchSeat{{RequestID: a, Attempt: 1, Count: 1}, {RequestID: b, Attempt: 1, Count: 1}}}
	v.launches.applyLaunch(launch)
	in := inState("i-1", 1, statemachine.Claimed, string(a))
	in.LaunchToken, in.History = "l-1", in.History.With(store.At(dawn), store.Entry{At: dawn, Code: store.CodeLaunched, Detail: a.Noted()})
	v.instances.apply(in)
	for _, version := range []int64{1, 2} {
		if open, _ := v.launchedFor(b, 1); open != 1 || v.unrecorded(launch) != 1 {
			t.Errorf("version %d: %d open for b, %d without a record; want 1, 1", version, open, v.unrecorded(launch))
		}
		in.Version, in.History = 2, store.History("").With(store.At(dawn), store.Entry{At: dawn, Code: store.CodeLaunched, Detail: "300"})
		v.instances.apply(in)
	}

	v = newRecords()
	launch.Count, launch.Seats = 1, []store.LaunchSeat{{RequestID: "100", Attempt: 1, Count: 1}}
	v.launches.applyLaunch(launch)
	in.Version, in.History = 1, store.History("").With(store.At(dawn), store.Entry{At: dawn, Code: store.CodeLaunched, Detail: "100"})
	v.instances.apply(in)
	in.Version, in.History = 2, store.History("").With(store.At(dawn), store.Entry{At: dawn, Code: store.CodeLaunched, Detail: "300"})
	v.instances.apply(in)
	if open, launched := v.launchedFor("100", 1); open != 0 || launched != 1 || v.unrecorded(launch) != 0 {
		t.Errorf("%d open, %d launched, %d without a record; want 0, 1, 0", open, launched, v.unrecorded(launch))
	}
}

// What needs looks: everything whose records do not expire yet, and what is held for a request that
// nobody wrote (H30).
func TestCache_Unfinished_H30(t *testing.T) {
	v := newRecords()
	status := func(id string, expires time.Time, attempt int) store.RunRecords {
		return store.RunRecords{
			Request: &store.RunRequest{ID: store.RequestID(id), Attempt: attempt, Version: 1},
			Status:  &store.RunStatus{ID: store.RequestID(id), Attempt: 1, Version: 1, ExpiresAt: expires},
		}
	}
	v.requests.applyRun("over", status("over", dawn, 1), dawn)
	v.requests.applyRun("again", status("again", dawn, 2), dawn)
	v.requests.applyRun("going-on", status("going-on", time.Time{}, 1), dawn)
	v.requests.applyRun("unseen", store.RunRecords{Request: &store.RunRequest{ID: "unseen", Attempt: 1, Version: 1}}, dawn)
	v.instances.apply(inState("i-1", 1, statemachine.Running, "unwritten"))
	got := map[store.RequestID]bool{}
	for _, id := range v.unfinished() {
		got[id] = true
	}
	want := map[store.RequestID]bool{"again": true, "going-on": true, "unseen": true, "unwritten": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unfinished() (-want +got):\n%s", diff)
	}
}
