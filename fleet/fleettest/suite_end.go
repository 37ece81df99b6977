package fleettest

import (
	"slices"
	"testing"
)

func listByToken(t *testing.T, s Subject) {
	p1, first := start(t, s.Fleet, 1)
	p2, second := start(t, s.Fleet, 2)
	wantLiving(t, s, s.Fleet, p1.Token, first)
	wantLiving(t, s, s.Fleet, p2.Token, second)
	if got := living(t, s.Fleet, newToken()); len(got) != 0 {
		t.Errorf("List of an unused token = %v, want none", got)
	}
}

func listAgain(t *testing.T, s Subject) {
	p, want := start(t, s.Fleet, 2)
	again := s.Again(t)
	wantLiving(t, s, again, p.Token, want)
	for _, a := range list(t, s.Fleet, p.Token) {
		for _, b := range list(t, again, p.Token) {
			b.State = a.State // may differ from one moment to the next
			if a.ID == b.ID && a != b {
				t.Errorf("another handle shows %+v, want %+v", b, a)
			}
		}
	}
}

func terminateEnds(t *testing.T, s Subject) {
	_, all := start(t, s.Fleet, 3)
	wantLiving(t, s, s.Fleet, "", all)
	terminate(t, s.Fleet)
	gone, kept := all[:2], all[2:]
	for range 2 { // an ended machine may be terminated again
		terminate(t, s.Fleet, gone...)
		wantLiving(t, s, s.Fleet, "", kept)
		wantEnded(t, s, s.Fleet, gone...)
	}
}

func terminateFrees(t *testing.T, s Subject) {
	s.Limit(1)
	p, first := start(t, s.Fleet, 1)
	wantLiving(t, s, s.Fleet, p.Token, first)
	terminate(t, s.Fleet, first...)
	wantEnded(t, s, s.Fleet, first...)
	_, second := start(t, s.Fleet, 1)
	wantLiving(t, s, s.Fleet, "", second)
}

func terminateUnknown(t *testing.T, s Subject) {
	_, all := start(t, s.Fleet, 2)
	unknown := []string{"i-0123456789abcdef0", "", "../" + all[0], "not an id"}
	for _, id := range unknown {
		terminate(t, s.Fleet, id) // unknown ids are no error
	}
	wantLiving(t, s, s.Fleet, "", all)
	batch := slices.Concat(all[:1], unknown, all[1:])
	terminate(t, s.Fleet, batch...)
	wantEnded(t, s, s.Fleet, all...)
}

func foreign(t *testing.T, s Subject) {
	id, alive := s.Foreign(t)
	_, own := start(t, s.Fleet, 1)
	wantLiving(t, s, s.Fleet, "", own)
	terminate(t, s.Fleet, id, own[0])
	wantEnded(t, s, s.Fleet, own...)
	if !alive() {
		t.Errorf("foreign machine %s was ended", id)
	}
}

func closeKeeps(t *testing.T, s Subject) {
	p, want := start(t, s.Fleet, 2)
	again := s.Again(t)
	wantLiving(t, s, again, p.Token, want)
	if err := s.Fleet.Close(); err != nil {
		t.Fatalf("Close error = %v", err)
	}
	wantLiving(t, s, again, p.Token, want)
	terminate(t, again, want...)
	wantEnded(t, s, again, want...)
}
