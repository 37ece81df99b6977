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
	mine, err := s.Fleet.List(t.Context(), p.Token)
	if err != nil {
		t.Fatalf("List error = %v", err)
	}
	theirs, err := again.List(t.Context(), p.Token)
	if err != nil {
		t.Fatalf("List through another handle error = %v", err)
	}
	for _, a := range mine {
		for _, b := range theirs {
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
	if err := s.Fleet.Terminate(t.Context()); err != nil {
		t.Errorf("Terminate of none error = %v", err)
	}
	gone, kept := all[:2], all[2:]
	for range 2 { // an ended machine may be terminated again
		if err := s.Fleet.Terminate(t.Context(), gone...); err != nil {
			t.Fatalf("Terminate(%v) error = %v", gone, err)
		}
		wantLiving(t, s, s.Fleet, "", kept)
		wantEnded(t, s, s.Fleet, gone...)
	}
}

func terminateFrees(t *testing.T, s Subject) {
	s.Limit(1)
	p, first := start(t, s.Fleet, 1)
	wantLiving(t, s, s.Fleet, p.Token, first)
	if err := s.Fleet.Terminate(t.Context(), first...); err != nil {
		t.Fatalf("Terminate error = %v", err)
	}
	wantEnded(t, s, s.Fleet, first...)
	_, second := start(t, s.Fleet, 1)
	wantLiving(t, s, s.Fleet, "", second)
}

func terminateUnknown(t *testing.T, s Subject) {
	_, all := start(t, s.Fleet, 2)
	unknown := []string{"i-0123456789abcdef0", "", "../" + all[0], "not an id"}
	for _, id := range unknown {
		if err := s.Fleet.Terminate(t.Context(), id); err != nil {
			t.Errorf("Terminate(%q) error = %v, want none: unknown ids are no error", id, err)
		}
	}
	wantLiving(t, s, s.Fleet, "", all)
	batch := slices.Concat(all[:1], unknown, all[1:])
	if err := s.Fleet.Terminate(t.Context(), batch...); err != nil {
		t.Errorf("Terminate(%q) error = %v", batch, err)
	}
	wantEnded(t, s, s.Fleet, all...)
}

func foreign(t *testing.T, s Subject) {
	id, alive := s.Foreign(t)
	_, own := start(t, s.Fleet, 1)
	wantLiving(t, s, s.Fleet, "", own)
	if err := s.Fleet.Terminate(t.Context(), id, own[0]); err != nil {
		t.Errorf("Terminate of a foreign machine beside our own error = %v, want none", err)
	}
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
	if err := again.Terminate(t.Context(), want...); err != nil {
		t.Fatalf("Terminate through another handle error = %v", err)
	}
	wantEnded(t, s, again, want...)
}
