package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// secret stands in the records and must stand nowhere else.
const secret = "ey-registration-secret"

// aFleet stores a fleet in which every kind of row occurs, over 40 s of bubble time.
func aFleet(t *testing.T) *store.Store {
	t.Helper()
	st, start := memory(t, nil), time.Now()
	submitted(t, st, 1)
	if err := st.Seen(t.Context(), "77", 1, start); err != nil {
		t.Fatal(err)
	}
	ctl := newController(t, st, "77", 1).after(0, statemachine.Accept, nil)

	waiting := launch(t, st, "i-0aaaaaaaaaaaaaaa1", start)
	reg := store.Registration{Serial: 1, Assignment: 1, Mode: store.JIT, Name: "i-0aaaaaaaaaaaaaaa1-1", RunnerID: 41, URL: "https://github.com/o/r", Secret: secret, MintedAt: store.At(start)}
	if _, err := st.SetRegistration(t.Context(), waiting, reg, start); err != nil {
		t.Fatal(err)
	}
	busy := launch(t, st, "i-0bbbbbbbbbbbbbbb2", start)
	warm := launch(t, st, "i-0ccccccccccccccc3", start)
	dead := launch(t, st, "i-0ddddddddddddddd4", start)

	time.Sleep(30 * time.Second)
	now := time.Now()
	move(t, st, busy, store.Transition{Event: statemachine.HandedOver, Now: now, Limit: 30 * time.Minute})
	warm = move(t, st, warm, store.Transition{Event: statemachine.Unclaimed, Now: now, Limit: 7 * time.Minute, Release: store.ReleaseDrain})
	move(t, st, warm, store.Transition{Event: statemachine.Pooled, Now: now, Limit: 7 * time.Minute})
	move(t, st, dead, store.Transition{Event: statemachine.Rejected, Now: now, Reason: statemachine.ReasonScript, Detail: "exit status 3\n\x1b[31mdisk full\x1b[0m"})
	beat(t, st, "i-0ccccccccccccccc3", store.Beat{Assignment: 2, Runner: "stopped", AgentVersion: "v1"})
	say(t, st, "i-0ddddddddddddddd4", store.SignalValue{Signal: store.ScriptFailed, RunID: "77", Assignment: 1, Detail: "exit status 3\ndisk full"})

	time.Sleep(10 * time.Second)
	beat(t, st, "i-0bbbbbbbbbbbbbbb2", store.Beat{Assignment: 1, Busy: true, Runner: "online", RunnerID: 42, AgentVersion: "v1", Interrupted: true})
	say(t, st, "i-0bbbbbbbbbbbbbbb2", store.SignalValue{Signal: store.RegOK, RunID: "77", Assignment: 1, Serial: 1})
	ctl.after(0, statemachine.Fulfil, func(s *store.RunStatus) {
		s.Counts = store.Counts{Wanted: 2, Ready: 2, Launched: 4}
		s.Instances = []store.Seat{
			{InstanceID: "i-0bbbbbbbbbbbbbbb2", InstanceType: "c6i.large", UsageClass: store.Spot, Seconds: 30},
			{InstanceID: "i-0eeeeeeeeeeeeeee5", InstanceType: "m6i.large", UsageClass: store.Spot, Warm: true, Seconds: 40},
		}
	})
	return st
}

// lead renews the lease of a controller that last scanned 12 s ago and swept 4 s ago.
func lead(t *testing.T, st *store.Store, change func(*store.Lease)) {
	t.Helper()
	l, err := st.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ago := func(d time.Duration) store.Time { return store.At(time.Now().Add(-d)) }
	l.Holder, l.Term, l.Renewed = "host-3f", 7, ago(0)
	l.Health = store.Health{
		ControllerVersion: "v1.2.3", ScannedAt: ago(12 * time.Second), SweptAt: ago(4 * time.Second),
		GitHub: store.GitHubBudget{Remaining: 4812, Limit: 5000, ResetAt: ago(-31 * time.Minute)},
	}
	if change != nil {
		change(&l)
	}
	if _, err := st.PutLease(t.Context(), l); err != nil {
		t.Fatal(err)
	}
}

func beat(t *testing.T, st *store.Store, p store.Principal, b store.Beat) {
	t.Helper()
	if err := st.Beat(t.Context(), p, b, time.Now()); err != nil {
		t.Fatal(err)
	}
}

func say(t *testing.T, st *store.Store, p store.Principal, v store.SignalValue) {
	t.Helper()
	if err := st.Signal(t.Context(), p, v, time.Now()); err != nil {
		t.Fatal(err)
	}
}

// overAndWaiting adds a request that is over and one that no controller has taken up.
func overAndWaiting(t *testing.T, st *store.Store) {
	t.Helper()
	for _, id := range []store.RequestID{"60", "80"} {
		_, err := st.Submit(t.Context(), store.RunRequest{
			ID: id, Attempt: 1, Count: 1, UsageClasses: []string{store.Spot, store.OnDemand}, AllowedInstanceTypes: []string{"*"},
			ResourceClass: "large", MaxRuntime: 90, Timeout: 3600, CreatedAt: store.At(time.Now()),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	newController(t, st, "60", 1).after(0, statemachine.Accept, nil).
		after(0, statemachine.Fail, func(s *store.RunStatus) { s.Reason, s.Message = "timeout", "0 of 1 ready" }).
		after(0, statemachine.Finish, func(s *store.RunStatus) { s.Spent = store.Spent{Booting: 72, BootingDollars: 0.0017} })
}

func TestStatus_Golden(t *testing.T) {
	tests := []struct {
		file string
		args []string
	}{
		{"status_fleet.txt", nil},
		{"status_fleet_all.txt", []string{"--all"}},
		{"status_fleet_wide.txt", []string{"-o", "wide"}},
		{"status_fleet.json", []string{"-o", "json"}},
		{"status_request.txt", []string{"77"}},
		{"status_request_failed.txt", []string{"request", "60"}},
		{"status_request_waiting.txt", []string{"80"}},
		{"status_request.json", []string{"request", "77", "-o", "json"}},
		{"status_instance_running.txt", []string{"i-0bbbbbbbbbbbbbbb2"}},
		{"status_instance_created.txt", []string{"instance", "i-0aaaaaaaaaaaaaaa1"}},
		{"status_instance_terminated.txt", []string{"i-0ddddddddddddddd4"}},
		{"status_instance.json", []string{"i-0aaaaaaaaaaaaaaa1", "-o", "json"}},
	}
	bubbletest.Run(t, func(t *testing.T) {
		st := aFleet(t)
		overAndWaiting(t, st)
		time.Sleep(3 * time.Second)
		lead(t, st, nil)
		for _, tt := range tests {
			c := newCLI(st)
			if code := c.run(t.Context(), append([]string{"status"}, tt.args...)...); code != exitDone {
				t.Errorf("%s: exit code = %d, want 0; stderr:\n%s", tt.file, code, &c.err)
			}
			golden(t, testdata(tt.file), c.out.String())
			if strings.Contains(c.out.String(), secret) {
				t.Errorf("%s shows the registration secret", tt.file)
			}
			if strings.Contains(c.out.String(), "\x1b") {
				t.Errorf("%s lets a script's output control the terminal", tt.file)
			}
		}
	})
}

// A request that names its run shows that, who asks, whether the run is watched, and what was done to it.
func TestStatus_OfARun(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := memory(t, nil)
		want := store.RunRequest{
			ID: "77-build", Attempt: 1, Count: 3, UsageClasses: []string{store.Spot}, AllowedInstanceTypes: []string{"*"}, ResourceClass: "small",
			MaxRuntime: 1800, Timeout: 600, CreatedAt: store.At(time.Now()), Repository: "octo/app", WorkflowRun: 77, WorkflowAttempt: 1, NoWait: true,
		}
		submit := func() {
			t.Helper()
			if _, err := st.Submit(t.Context(), want); err != nil {
				t.Fatal(err)
			}
		}
		shown := func(file string, more ...string) {
			t.Helper()
			lead(t, st, nil)
			c := newCLI(st)
			c.ends(t, exitDone, append([]string{"status", "request", "77-build"}, more...)...)
			golden(t, testdata(file), c.out.String())
		}
		submit()
		ctl := newController(t, st, "77-build", 1).after(0, statemachine.Accept, nil).after(5*time.Second, statemachine.Fail, func(s *store.RunStatus) {
			s.Reason, s.Message = "timeout", "0 of 3 ready"
			s.Watch = store.Watch{State: store.Watched, Cancel: store.NotDone, Detail: "GitHub refuses to cancel: Actions: write is missing"}
		})
		shown("status_request_not_waited_for.txt")
		if _, err := st.ReleaseExactly(t.Context(), "77-build", 1, store.ReleaseNow, store.RunOver); err != nil {
			t.Fatal(err)
		}
		want.WorkflowAttempt, want.Attempt, want.Count, want.OriginalCount, want.NoWait = 2, 2, 1, 3, false
		submit()
		ctl.at.Attempt = 2
		ctl.after(0, statemachine.Accept, func(s *store.RunStatus) {
			s.OriginalCount, s.Reason, s.Message = 3, "", ""
			s.Watch = store.Watch{State: store.WatchDenied, Rerun: store.Done, RerunAttempt: 1}
		})
		shown("status_request_by_controller.txt")
		if _, err := st.ReleaseExactly(t.Context(), "77-build", 2, store.ReleaseDrain, store.RunWaits); err != nil {
			t.Fatal(err)
		}
		shown("status_request_given_back.txt")
		shown("status_request_given_back.json", "-o", "json")
	})
}

// The phase is that of the newest attempt, and says what it waits for while the controller is behind.
func TestRequestView_PhaseText(t *testing.T) {
	for _, tt := range []struct {
		name string
		view requestView
		want string
	}{
		{"NotTakenUp", requestView{Attempt: 1}, "waiting"},
		{"OlderAttempt", requestView{Attempt: 2, StatusAttempt: 1, Phase: statemachine.Ready, ReleasedAttempt: 1}, "waiting"},
		{"Ready", requestView{Attempt: 2, StatusAttempt: 2, Phase: statemachine.Ready, ReleasedAttempt: 1}, "Ready"},
		{"GivenBackUnseen", requestView{Attempt: 1, ReleasedAttempt: 1}, "releasing"},
		{"WindingDown", requestView{Attempt: 1, StatusAttempt: 1, Phase: statemachine.Ready, ReleasedAttempt: 1}, "releasing"},
		{"Failed", requestView{Attempt: 1, StatusAttempt: 1, Phase: statemachine.Failed, ReleasedAttempt: 1}, "Failed"},
		{"Over", requestView{Attempt: 1, StatusAttempt: 1, Phase: statemachine.PhaseReleased, ReleasedAttempt: 1}, "Released"},
	} {
		if got := tt.view.phaseText(); got != tt.want {
			t.Errorf("%s: phaseText() = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A failed request is listed for its reason, but no client waits for it.
func TestSummary_FailedRequestsAreNotOpen(t *testing.T) {
	view := fleetView{Requests: []requestView{
		{Attempt: 1},
		{Attempt: 1, StatusAttempt: 1, Phase: statemachine.Failed},
		{Attempt: 2, StatusAttempt: 1, Phase: statemachine.Failed},
		{Attempt: 1, StatusAttempt: 1, Phase: statemachine.PhaseReleased},
	}}
	if got, want := summary(view), "0 instances; 2 open requests, 1 failed\n"; got != want {
		t.Errorf("summary() = %q, want %q", got, want)
	}
}

// On a terminal of 80 columns no line of the fleet is longer, and what decides stays whole.
func TestStatus_FitsTheTerminal(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := aFleet(t)
		in := launch(t, st, "i-0fffffffffffffff6", time.Now())
		move(t, st, in, store.Transition{Event: statemachine.HandedOver, Now: time.Now(), Limit: time.Hour})
		view, err := readFleet(t.Context(), st, time.Now(), statemachine.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		lead(t, st, func(l *store.Lease) { l.Holder = "ip-10-0-133-245.eu-central-1.compute.internal-0a1b2c3d" })
		if view.Controller, err = readController(t.Context(), st, time.Now(), audit.Options{Config: reconciler.Defaults()}); err != nil {
			t.Fatal(err)
		}
		for i := range view.Instances {
			view.Instances[i].RunID = "12345678901-integration"
			view.Instances[i].UsageClass = store.OnDemand
			view.Instances[i].InstanceType = "m6idn.24xlarge"
		}
		for _, width := range []int{80, 120} {
			for line := range strings.Lines(renderFleet(view, false, sheet{columns: width})) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("line of %d columns on a terminal of %d: %q", n, width, line)
				}
			}
		}
		if text := renderFleet(view, false, sheet{columns: 80}); !strings.Contains(text, "i-0bbbbbbbbbbbbbbb2 ") || !strings.Contains(text, " 29m50s ") {
			t.Errorf("an id or a threshold was cut:\n%s", text)
		}
	})
}

func TestStatus_NotFoundAndUsage(t *testing.T) {
	tests := []struct {
		args []string
		code int
		want string
	}{
		{[]string{"i-9"}, exitNotFound, "i-9: neither an instance nor a request"},
		{[]string{"instance", "77"}, exitNotFound, "instance 77: not found"},
		{[]string{"request", "i-0aaaaaaaaaaaaaaa1"}, exitNotFound, "request i-0aaaaaaaaaaaaaaa1: not found"},
		{[]string{"host", "i-1"}, exitUsage, `argument: must be one of request, instance, got "host"`},
		{[]string{"a", "b", "c"}, exitUsage, "at most two are allowed, got 3"},
		{[]string{""}, exitUsage, "ID: must not be empty"},
		{[]string{"-o", "xml"}, exitUsage, `--output: must be one of table, wide, json, got "xml"`},
	}
	bubbletest.Run(t, func(t *testing.T) {
		st := aFleet(t)
		for _, tt := range tests {
			c := newCLI(st)
			if code := c.run(t.Context(), append([]string{"status"}, tt.args...)...); code != tt.code || !strings.Contains(c.err.String(), tt.want) {
				t.Errorf("status %q: exit code = %d, want %d and %q in:\n%s", tt.args, code, tt.code, tt.want, &c.err)
			}
		}
	})
}

// With more requests than lines those are listed that failed or wait, the others are counted, and instances too.
func TestRenderFleet_MoreRequestsThanLines(t *testing.T) {
	v := fleetView{Now: store.At(time.Now())}
	for i := range 30 {
		r := requestView{ID: store.RequestID(fmt.Sprint("r-", i)), Attempt: 1, StatusAttempt: 1, ResourceClass: "small", Phase: statemachine.Ready}
		switch {
		case i == 20:
			r.Phase = statemachine.Failed
		case i > 25:
			r.Phase, r.ResourceClass = statemachine.Pending, "large"
		}
		v.Requests = append(v.Requests, r)
	}
	for i := range 40 {
		v.Instances = append(v.Instances, instanceView{ID: store.InstanceID(fmt.Sprint("i-", i)), ResourceClass: "small", State: statemachine.Running})
	}
	for lines, more := range map[int]string{10: "… 27 more: 2 large Pending, 25 small Ready", 16: "… 21 more: 21 small Ready", 90: ""} {
		text := renderFleet(v, false, sheet{columns: 80, lines: lines})
		contains(t, text, "\nr-20", more)
		if classes := strings.Contains(text, "\nsmall  40"); classes != (more != "") {
			t.Errorf("instances counted by class: %t on %d lines", classes, lines)
		}
		if n := strings.Count(text, "\n"); n > lines || strings.Contains(text, "…") != (more != "") {
			t.Errorf("%d lines on a sheet of %d:\n%s", n, lines, text)
		}
	}
}

// --watch draws over the last picture each second until it is interrupted, which is its proper end, whatever it shows. Summary
// and requests stay however few lines there are: instances give way, first to their number by class.
func TestStatus_Watch(t *testing.T) {
	for _, tt := range []struct {
		lines      int
		want, gone []string
	}{
		{24, []string{"i-0aaaaaaaaaaaaaaa1  created", " 29m50s "}, []string{"SILENT"}},
		{10, []string{"CLASS  INSTANCES  CREATED  RUNNING  IDLE  SILENT  LEAST LEFT", "small  3          1        1        1     0       6m50s"}, []string{"i-0"}},
		{7, []string{"more lines"}, []string{"i-0", "SILENT"}},
	} {
		bubbletest.Run(t, func(t *testing.T) {
			st := aFleet(t)
			ctx, interrupt := context.WithCancel(t.Context())
			time.AfterFunc(2500*time.Millisecond, interrupt)
			c := newCLI(st)
			c.outTTY = true
			c.size = func() (int, int) { return 80, tt.lines }
			if code := c.run(ctx, "status", "--watch"); code != exitDone {
				t.Errorf("exit code = %d, want 0; stderr:\n%s", code, &c.err)
			}
			pictures := strings.Split(c.out.String(), homeAndClear)[1:]
			if len(pictures) != 3 {
				t.Fatalf("drew %d pictures in 2.5 s, want 3", len(pictures))
			}
			contains(t, pictures[0], append(tt.want, "3 instances: 1 created, 1 running, 1 idle; 1 open request\n", "none leads: no controller ever led", "77       1        Ready")...)
			for _, picture := range pictures {
				if n := strings.Count(picture, "\n"); n >= tt.lines {
					t.Errorf("%d lines on a terminal of %d:\n%s", n, tt.lines, picture)
				}
				for _, gone := range tt.gone {
					if strings.Contains(picture, gone) {
						t.Errorf("%q is in the picture on %d lines:\n%s", gone, tt.lines, picture)
					}
				}
			}
		})
	}
}

// One bad record is named and hides nothing (H70).
func TestStatus_H70_UnreadableRecord(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var table store.Table
		st := memory(t, func(under store.Table) store.Table { table = under; return under })
		launch(t, st, "i-1", time.Now())
		bad := store.Item{Key: store.InstanceKey("i-2", store.KindInstance), Version: 1, Attributes: []byte(`{"instanceId":"i-2","state":"paused"}`)}
		if err := table.Put(t.Context(), bad, 0); err != nil {
			t.Fatal(err)
		}
		c := newCLI(st)
		c.ends(t, exitNoLeader, "status")
		contains(t, c.out.String(), "i-1 ", "unreadable record: INSTANCE#i-2 TYPE#Instance")
	})
}

// Lists are lists and never null, also in an empty store.
func TestStatus_EmptyStore(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := newCLI(memory(t, nil))
		if code := c.run(t.Context(), "status"); code != exitDone || c.out.String() != "0 instances; 0 open requests\ncontroller  none leads: no controller ever led\n" {
			t.Errorf("exit code = %d, stdout = %q", code, &c.out)
		}
		c.run(t.Context(), "status", "-o", "json")
		var got struct{ Instances, Requests, Unreadable []any }
		if err := json.Unmarshal(c.out.Bytes(), &got); err != nil || got.Instances == nil || got.Requests == nil || got.Unreadable == nil {
			t.Errorf("json = %s, %v, want three empty lists", &c.out, err)
		}
	})
}
