package reconciler

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// machineAt is an owned instance whose present registration was made at a time.
func machineAt(id store.InstanceID, minted time.Time) *instance {
	in := &instance{}
	in.record = store.Instance{
		ID: id, State: statemachine.Claimed, RunID: "100", Assignment: 3,
		Registration: store.Registration{Assignment: 3, Serial: 2, MintedAt: store.At(minted)},
	}
	return in
}

// S66: whose fault a failed registration is, by what is known of other machines; each bound one tick before, and exactly.
func TestJudge_ByOtherMachines_S66(t *testing.T) {
	const tick = time.Nanosecond
	at := func(s float64) time.Time { return dawn.Add(time.Duration(s * float64(time.Second))) }
	came := func(began, from, to float64) func(*instance) {
		return func(in *instance) {
			in.listener.online = online{serial: 2, began: at(began), from: at(from), to: at(to)}
		}
	}
	failed := func(at time.Time) func(*instance) {
		return func(in *instance) { in.listener.offline = offline{assignment: 3, serial: 2, first: at, at: at} }
	}
	for name, tc := range map[string]struct {
		trouble offline // the judged one's; its registration was made at 100 s
		other   func(*instance)
		spent   time.Time // when one was replaced before
		now     time.Time
		want    verdict
	}{
		"JustFailed":        {offline{first: at(110), at: at(110)}, func(*instance) {}, time.Time{}, at(110), waits},
		"AloneNotYet":       {offline{first: at(110), at: at(110)}, func(*instance) {}, time.Time{}, at(170).Add(-tick), waits},
		"AloneForAMinute":   {offline{first: at(110), at: at(110)}, func(*instance) {}, time.Time{}, at(170), replace},
		"AloneOnceOnly":     {offline{first: at(110), at: at(110)}, func(*instance) {}, at(50), at(900), waits},
		"AloneOnceMore":     {offline{first: at(110), at: at(110)}, came(51, 52, 58), at(50), at(170), replace},
		"TwoAtOnce":         {offline{first: at(110), at: at(110)}, failed(at(130)), time.Time{}, at(900), waits},
		"OthersAreOnline":   {offline{first: at(110), at: at(110)}, came(100, 102, 103), time.Time{}, at(110), replace},
		"OthersWereBefore":  {offline{first: at(110), at: at(110)}, came(90, 99, 108), time.Time{}, at(110), waits},
		"OtherForAMoment":   {offline{first: at(110), at: at(110)}, came(111, 112, 112.4), time.Time{}, at(113), waits},
		"OtherCame":         {offline{first: at(110), at: at(110)}, came(105, 112, 112.5), time.Time{}, at(113), another},
		"OtherCameAgain":    {offline{first: at(110), at: at(120), retriedAt: at(113)}, came(111, 121, 122), time.Time{}, at(143).Add(-tick), waits},
		"OtherCameOnAndOn":  {offline{first: at(110), at: at(120), retriedAt: at(113)}, came(111, 121, 122), time.Time{}, at(143), another},
		"OtherCameEarlier":  {offline{first: at(110), at: at(114), retriedAt: at(113)}, came(111, 112, 116), time.Time{}, at(116), waits},
		"OtherProves":       {offline{first: at(110), at: at(114), retriedAt: at(113)}, came(111, 112, 117), time.Time{}, at(117), lastChance},
		"OtherProvedBefore": {offline{first: at(110), at: at(114)}, came(109, 109, 300), time.Time{}, at(114), waits},
		"LastChanceTaken":   {offline{first: at(110), at: at(119), retriedAt: at(118), retriedAfterProof: true}, came(111, 112, 117), time.Time{}, at(119), guilty},
		"RefusedWaits":      {offline{first: at(110), at: at(110), refused: true}, func(*instance) {}, at(50), at(115).Add(-tick), waits},
		"RefusedProbes":     {offline{first: at(110), at: at(110), refused: true}, func(*instance) {}, at(50), at(115), another},
	} {
		l := &listeners{cache: &cache{records: newRecords()}}
		one, other := machineAt("i-1", at(100)), machineAt("i-2", at(100))
		one.listener.offline = tc.trouble
		one.listener.offline.assignment, one.listener.offline.serial = 3, 2
		tc.other(other)
		l.cache.instances.byID["i-1"], l.cache.instances.byID["i-2"] = one, other
		l.probes.note("i-1", tc.trouble.refused, tc.trouble.first)
		if !tc.spent.IsZero() {
			l.probes.replacing(tc.spent)
		}
		got, look := l.judge(one.snapshot(), tc.now)
		if got != tc.want || got == waits && !look.After(tc.now) {
			t.Errorf("%s: judge = %d, look again %s later; want %d, and later if it waits", name, got, look.Sub(tc.now), tc.want)
		}
	}
}

// Machines that were refused try again in turn; one whose own fault it is holds up no other.
func TestProbes_InTurn(t *testing.T) {
	var p probes
	now := dawn
	for _, id := range []store.InstanceID{"a", "b"} {
		p.note(id, true, now)
	}
	takes := func(id store.InstanceID, want bool) {
		t.Helper()
		if mine, at := p.turn(id, now); mine != want || !mine && !at.After(now) {
			t.Errorf("after %s turn(%s) = %t, %s; want %t", now.Sub(dawn), id, mine, at.Sub(dawn), want)
		}
	}
	takes("a", false)
	now = now.Add(probeSoon)
	takes("a", true)
	takes("b", false)
	now = now.Add(probeSoon)
	takes("a", false)
	takes("b", true)
	now = now.Add(probeSoon + steady) // the other does not come: its agent is gone, say
	takes("b", true)
	now = dawn.Add(probeWhile)
	takes("a", true)
	now = now.Add(probeLate - 1)
	takes("b", false)
	now = now.Add(1)
	takes("b", true)
	if p.drop("a") || !p.drop("b") || p.drop("b") {
		t.Error("drop does not tell the last one")
	}
}
