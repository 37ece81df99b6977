package timeline

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

func of(t *testing.T, st *store.RunStatus, instances ...store.Instance) Timeline {
	t.Helper()
	r := store.RunRecords{Request: &store.RunRequest{ID: "run-1", Attempt: 1, CreatedAt: store.At(after(-1))}, Status: st}
	return Request("run-1", r, instances, "", after(100))
}

func named(in store.Instance, id store.InstanceID) store.Instance {
	in.ID = id
	return in
}

func TestRequest_Concludes(t *testing.T) {
	cold := instance(t, "1.4 new run-1", "32.4 boot", "34.4 script", "37 on", "38 hand")
	slowScript := named(instance(t, "1.4 new run-1", "12.4 boot", "36 script", "37 on", "38 hand"), "i-2")
	warm := named(instance(t, "-900 new other", "-94 pool", "0.1 claim run-1", "4 on", "4.1 hand"), "i-3")
	in := func(phase statemachine.Phase, st store.RunStatus, change func(*store.RunStatus)) *store.RunStatus {
		st.Phase = phase
		change(&st)
		return &st
	}
	readyAt := func(s float64) func(*store.RunStatus) {
		return func(st *store.RunStatus) { st.ReadyAt = store.At(after(s)) }
	}
	tests := []struct {
		name, want string
		got        Timeline
	}{
		{"Cold", "31.0 s of 38.0 s was the boot of the machine, from the answer to its launch until its agent spoke (i-1, cold). It has been Ready for 1m02s.",
			of(t, in(statemachine.Ready, status(t, "0 take 1", "0.2 ask 1 spot", "38 ready"), readyAt(38)), cold)},
		{"SlowScript", "23.6 s of 38.0 s was the pre-runner script (i-2, cold). It has been Ready for 1m02s.",
			of(t, in(statemachine.Ready, status(t, "0 take 1", "0.2 ask 1 spot"), readyAt(38)), slowScript)},
		{"Warm", "3.9 s of 4.1 s was the registration of the runner, until its listener was online (i-3, warm). It has been Ready for 1m36s.",
			of(t, in(statemachine.Ready, status(t, "0 take 1"), readyAt(4.1)), warm)},
		{"Mixed", "31.0 s of 38.0 s was the boot of the machine, from the answer to its launch until its agent spoke (i-1, cold). It has been Ready for 1m02s.",
			of(t, in(statemachine.Ready, status(t, "0 take 2", "0.2 ask 1 spot"), readyAt(38)), warm, cold)},
		{"MachinesGone", "31.0 s of 38.0 s was the boot of the machine, from the answer to its launch until its agent spoke (i-9, cold). It ran for 50.0 s; it is over: released.",
			of(t, in(statemachine.PhaseReleased, status(t, "0 take 1", "38 slow i-9 a1000 l500 b31000 s2000 r3500", "38 ready", "88 over released"), func(st *store.RunStatus) {
				st.ReadyAt, st.ReleasedAt, st.Reason = store.At(after(38)), store.At(after(88)), "released"
			}))},
		{"OneLost", "31.0 s of 38.0 s was the boot of the machine, from the answer to its launch until its agent spoke (i-1, cold). It has been Ready for 1m02s. One machine was lost: i-4 no heartbeat.",
			of(t, in(statemachine.Ready, status(t, "0 take 1", "0.2 ask 1 spot", "60 lost i-4 no heartbeat"), readyAt(38)), cold,
				named(instance(t, "61 new run-1", "70 boot", "75 script", "78 on", "80 hand"), "i-5"))},
		{"Waits", "It has waited for 1m40s, the last 40.0 s of it because of: instance i-1 boots (boot).",
			of(t, in(statemachine.Pending, status(t, "0 take 1"), func(st *store.RunStatus) {
				st.Reason, st.Message, st.ReasonSince = "boot", "instance i-1 boots", store.At(after(60))
			}))},
		{"Failed", "It failed after 1m30s: too many instances were launched for nothing (launch_budget). The longest that a machine of it took was 30.5 s for the pre-runner script (i-1). 2 machines were lost, the last: i-1 pre-runner script failed.",
			of(t, in(statemachine.Failed, status(t, "0 take 1", "9 lost i-0 gone", "51 lost i-1 pre-runner script failed"), func(st *store.RunStatus) {
				st.Reason, st.Message, st.FailedAt = "launch_budget", "too many instances were launched for nothing", store.At(after(90))
			}), instance(t, "1 new run-1", "20 boot", "50 script!", "50.5 end rejected pre-runner script failed"))},
		{"FailedAndOver", "It failed after 1m30s: timeout.",
			of(t, in(statemachine.PhaseReleased, status(t, "0 take 1", "90 fail timeout", "95 over released"), func(st *store.RunStatus) {
				st.Reason, st.FailedAt, st.ReleasedAt = "released", store.At(after(90)), store.At(after(95))
			}))},
		{"GivenBackEarly", "It was given back after 12.0 s, before it was Ready: its run at GitHub is over (run_over).",
			of(t, in(statemachine.PhaseReleased, status(t, "0 take 1"), func(st *store.RunStatus) {
				st.Reason, st.Message, st.ReleasedAt = "run_over", "its run at GitHub is over", store.At(after(12))
			}))},
		{"Unseen", "No controller has taken it up for 1m41s.", of(t, nil)},
		{"NobodyLeads", "No controller has taken it up for 1m41s. No controller answers: no controller ever led.",
			Request("run-1", store.RunRecords{Request: &store.RunRequest{Attempt: 1, CreatedAt: store.At(after(-1))}}, nil, "no controller ever led", after(100))},
		{"LeaderAway", "It has waited for 1m40s. No controller answers: host-1 has not renewed the lease for 1m40s.",
			Request("run-1", store.RunRecords{Status: in(statemachine.Pending, status(t, "0 take 1"), func(*store.RunStatus) {})}, nil,
				"host-1 has not renewed the lease for 1m40s", after(100))},
		{"GivenBack", "It has waited for 1m40s. It is being given back.",
			Request("run-1", store.RunRecords{Request: &store.RunRequest{Attempt: 1, ReleasedAttempt: 1}, Status: in(statemachine.Pending, status(t, "0 take 1"), func(*store.RunStatus) {})}, nil, "", after(100))},
		{"OlderAttempt", "Attempt 2 waits until attempt 1, which is Ready, holds nothing any more.",
			Request("run-1", store.RunRecords{Request: &store.RunRequest{Attempt: 2}, Status: in(statemachine.Ready, status(t), readyAt(3))}, nil, "", after(100))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.got.Conclusion != test.want {
				t.Errorf("Conclusion\n got %s\nwant %s", test.got.Conclusion, test.want)
			}
		})
	}
}

func TestInstance_Concludes(t *testing.T) {
	life := []string{"-1000 new a", "-970 boot", "-965 script", "-960 on", "-950 hand", "-900 job", "-500 job.", "-100 rel drain", "-95 clean", "-94 pool"}
	in := func(state statemachine.State, since float64, more ...string) store.Instance {
		one := instance(t, append(slices.Clone(life), more...)...)
		one.State, one.Since, one.RunID, one.Assignment = state, store.At(after(since)), "", 2
		return one
	}
	idle := in(statemachine.Idle, -100)
	idle.PooledAt = store.At(after(-94))
	claimed := in(statemachine.Claimed, 70, "70 claim run-1")
	claimed.RunID = "run-1"
	ended := in(statemachine.Terminated, 60, "60 end expired threshold passed")
	ended.Reason = "threshold passed"
	running := in(statemachine.Running, 80, "70 claim run-1", "75 on", "80 hand")
	running.RunID = "run-1"
	tests := []struct {
		name, want string
		in         store.Instance
	}{
		{"Pooled", "It has been idle in the pool for 3m14s; it was handed over once.", idle},
		{"Cleaned", "It has been on its way back to the pool for 3m20s; it was handed over once.", in(statemachine.Idle, -100)},
		{"Claimed", "It has been claimed for 30.0 s, for run-1; for 30.0 s it has waited for the registration of the runner, until its listener was online.", claimed},
		{"Running", "It has served run-1 for 20.0 s; it was handed over 2 times.", running},
		{"Ended", "It ended after 17m40s: threshold passed; it was handed over once.", ended},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Instance(test.in, after(100)).Conclusion; got != test.want {
				t.Errorf("Conclusion\n got %s\nwant %s", got, test.want)
			}
		})
	}
	got := Instance(running, after(100))
	if len(got.Starts) != 2 || text(got.Starts[0].Phases) != "boot 30, script 5, registration 5, hand-over 10" || text(got.Starts[1].Phases) != "registration 5, hand-over 5" || got.Starts[0].Longest != Boot {
		t.Errorf("starts = %+v", got.Starts)
	}
}

// The events of a request and of its machines are told in one order; what its machines did for others is left out.
func TestRequest_MergesEvents(t *testing.T) {
	st := status(t, "0 take 1", "0.1 pass 2 type, 1 older request", "0.1 won 1", "0.2 ask! eu-west-1a InsufficientInstanceCapacity", "4 slow i-3 c100", "4.1 ready", "5 new-code of another version")
	st.Phase, st.ReadyAt = statemachine.Ready, store.At(after(4.1))
	got := of(t, &st, instance(t, "-900 new other", "-94 pool", "0.15 claim run-1", "3 reg", "4 on", "4.1 hand"))
	var told []string
	for _, e := range got.Events {
		told = append(told, string(e.InstanceID)+" "+e.Text)
	}
	want := []string{
		" taken up: 1 wanted", " candidates left alone: 2 type, 1 older request", " claims won: 1", "i-1 claimed for run-1",
		" refused: eu-west-1a InsufficientInstanceCapacity", "i-1 got a registration", "i-1 its listener is online", "i-1 handed over", " Ready",
		" new-code of another version",
	}
	if !slices.Equal(told, want) {
		t.Errorf("events:\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}

func TestTook(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0 s", 59949 * time.Millisecond: "59.9 s", 59950 * time.Millisecond: "1m00s", 10 * time.Minute: "10m00s", 3*time.Hour + 5*time.Minute: "3h05m", -time.Second: "0.0 s", math.MinInt64: "0.0 s",
	} {
		if got := Took(d); got != want {
			t.Errorf("Took(%s) = %q, want %q", d, got, want)
		}
	}
}

// Whatever histories say, phases follow each other without a gap from the request's beginning, and no reader fails.
func checkAny(t interface{ Fatalf(string, ...any) }, request, machine string) {
	st := store.RunStatus{ID: "run-1", Attempt: 1, Phase: statemachine.Ready, PendingAt: begun, ReadyAt: store.At(after(38)), History: store.History(request)}
	in := store.Instance{ID: "i-1", RunID: "run-1", CreatedAt: store.At(after(-10)), History: store.History(machine)}
	phases := Phases(st, in, after(100))
	for i, p := range phases {
		if p.Seconds < 0 || math.IsNaN(p.Seconds) || p.From.Time.Before(begun.Time) || i > 0 && !p.From.Equal(phases[i-1].To) || p.Name.What() == "" || strings.HasSuffix(p.Name.What(), " ") {
			t.Fatalf("phase %d of %+v", i, phases)
		}
	}
	id, again := readSlow(store.Entry{At: after(38), Detail: Slow("i-1", phases)})
	if id != "i-1" || len(again) > len(phases) {
		t.Fatalf("%v was read as %v", phases, again)
	}
	for _, phase := range statemachine.Phases() {
		st.Phase = phase
		got := Request("run-1", store.RunRecords{Status: &st}, []store.Instance{in}, "", after(100))
		if got.Conclusion == "" && phase != statemachine.Unseen || !slices.IsSortedFunc(got.Events, func(a, b Event) int { return a.At.Time.Compare(b.At.Time) }) {
			t.Fatalf("Request() = %+v", got)
		}
	}
	if got := Instance(in, after(100)); got.Conclusion == "" {
		t.Fatalf("Instance() = %+v", got)
	}
}

func FuzzHistories(f *testing.F) {
	f.Add("0 take 1\n200 ask 1 spot\n38000 slow i-1 a200 l1000 zz9 b-1\n38000 ready", "0 new run-1\n31000 boot\n9 script\n40000 end")
	f.Add("x\n-1 take\n99999999999999999 slow", "5 claim run-1\n4 rel\n4 pool\n5 claim run-1\n9223372036854775807 on")
	f.Fuzz(func(t *testing.T, request, machine string) { checkAny(t, request, machine) })
}

func TestHistories_OfKnownCodesInAnyOrder(t *testing.T) {
	codes := []string{"new run-1", "new x", "boot", "script", "script!", "reg", "on", "on!", "hand", "job", "job.", "rel", "back", "clean", "pool", "claim run-1", "claim x", "end"}
	own := []string{"take 1", "pass 3", "claim 2", "ask 1 spot", "lost i-0", "seat", "wait boot", "slow i-1 b300", "ready", "fail", "over"}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(from []string, name string) string {
			var lines []string
			for range rapid.IntRange(0, 20).Draw(t, name) {
				lines = append(lines, rapid.StringMatching(`[0-9]{1,5} `).Draw(t, "at")+rapid.SampledFrom(from).Draw(t, "code"))
			}
			return strings.Join(lines, "\n")
		}
		checkAny(t, draw(own, "request"), draw(codes, "machine"))
	})
}

// A run whose id is a number is not taken for a number of claims.
func TestTextOf_AClaimForARunIsNoCount(t *testing.T) {
	for code, want := range map[store.Code]string{store.CodeClaimed: "claimed for 200", store.CodeClaims: "claims won: 200"} {
		if got := textOf(store.Entry{Code: code, Detail: "200"}); got != want {
			t.Errorf("%s is %q, want %q", code, got, want)
		}
	}
}
