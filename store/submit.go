package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Submit stores want and notifies. Two requests that name the same run are ordered by the attempt of the run, others by
// their own: an earlier one is ErrOldAttempt, a later one replaces what is stored. Of the same attempt, a client takes over
// what the controller asked for, and the same spec of two clients is the same request; another is ErrOtherSpec. The
// controller leaves what a client asked for in the same attempt as it is, and what does not name the run that it repeats.
// What the controller gave back may be asked for again by anyone.
//
// The caller goes on with the attempt of what is returned: it may be higher than want's. A client whose role may not write
// the run gets its request stored without, which shows in what is returned.
//
// A first attempt of a client is written as if nothing were stored, since nothing is but for a client that asks twice; what
// meets something is decided by reading that.
func (s *Store) Submit(ctx context.Context, want RunRequest) (RunRequest, error) {
	for read := want.ByController() || want.Attempt > 1; ; read = true {
		var have RunRequest
		out, write := want, true
		if read {
			var err error
			have, err = s.Request(ctx, Consistent, want.ID)
			if err != nil && !errors.Is(err, ErrNotFound) {
				return want, err
			}
			if err == nil {
				if out, write, err = have.over(want); err != nil {
					return have, fmt.Errorf("submit %s attempt %d over attempt %d: %w", want.ID, want.Attempt, have.Attempt, err)
				}
			}
		}
		if !write {
			s.notify(ctx, have.key())
			return have, nil
		}
		if err := s.replace(ctx, &out, have.Version, !want.ByController()); err == nil {
			return out, nil
		} else if !errors.Is(err, ErrConflict) {
			return want, err
		}
	}
}

// over returns what is stored once want was asked for over r, and whether that must be written: else it is r.
func (r RunRequest) over(want RunRequest) (out RunRequest, write bool, err error) {
	order := want.compare(r)
	takenOver := r.ByController() && !want.ByController()
	again := r.Released() && r.ReleaseReason != ""
	switch {
	case want.ByController() && !want.sameRun(r): // a client asked for something else meanwhile
		return r, false, nil
	case order < 0:
		return r, false, ErrOldAttempt
	case order > 0, takenOver, again:
	case want.ByController() || r.SameSpec(want):
		return r, false, nil
	default:
		return r, false, ErrOtherSpec
	}
	out = want
	out.Attempt = max(want.Attempt, r.Attempt)
	if order > 0 || r.Released() || !r.serves(want) {
		out.Attempt = max(want.Attempt, r.Attempt+1)
	}
	out.ReleasedAttempt, out.Release, out.ReleaseReason = r.ReleasedAttempt, r.Release, r.ReleaseReason
	return out, true, nil
}

// serves reports whether what was given for r may serve want: machines of the same class and types, sold as want allows.
func (r RunRequest) serves(want RunRequest) bool {
	return r.ResourceClass == want.ResourceClass && slices.Equal(r.AllowedInstanceTypes, want.AllowedInstanceTypes) &&
		!slices.ContainsFunc(r.UsageClasses, func(usage string) bool { return !slices.Contains(want.UsageClasses, usage) })
}

// Release is a client's: it gives back what is stored of an attempt of the run and of all before it, and notifies. For a
// request that names its run, attempt is the run's, and all that the controller asked for in that attempt is given back
// too; for another it is the request's own. 0 means what is stored. A late release of an old attempt cannot free a newer
// one; repeated with ReleaseNow it hurries a drain. What a client gave back, the controller does not ask for again in the
// same attempt.
func (s *Store) Release(ctx context.Context, id RequestID, attempt int, mode ReleaseMode) (RunRequest, error) {
	return s.giveBack(ctx, id, mode, "", func(r RunRequest) int { return r.OwnAttempt(attempt) })
}

// ReleaseExactly gives back the request's own attempt and all before it, and notifies: for the controller, which says why,
// and with reason "" for a client that gives back what Submit returned. One that is not stored is ErrNotFound.
func (s *Store) ReleaseExactly(ctx context.Context, id RequestID, attempt int, mode ReleaseMode, reason ReleaseReason) (RunRequest, error) {
	return s.giveBack(ctx, id, mode, reason, func(RunRequest) int { return attempt })
}

// OwnAttempt returns the request's own attempt that a client means by an attempt of the run, or by 0 the stored one: the
// last one that ends with it.
func (r RunRequest) OwnAttempt(attempt int) int {
	w, named := r.Workflow()
	switch {
	case attempt == 0, named && w.Attempt <= attempt:
		return r.Attempt
	case named: // attempts of a run follow each other: the one before is over
		return r.Attempt - 1
	default:
		return attempt
	}
}

// giveBack raises ReleasedAttempt to what attempt says of the stored request; it never falls.
func (s *Store) giveBack(ctx context.Context, id RequestID, mode ReleaseMode, reason ReleaseReason, attempt func(RunRequest) int) (RunRequest, error) {
	for {
		r, err := s.Request(ctx, Consistent, id)
		if err != nil {
			return r, err
		}
		n := attempt(r)
		if n > r.Attempt {
			return r, fmt.Errorf("release %s attempt %d: %w: the stored attempt is %d", id, n, ErrNotFound, r.Attempt)
		}
		out := r
		if r.ReleasedAttempt < n {
			out.ReleasedAttempt, out.Release, out.ReleaseReason = n, mode, reason
		} else if r.ReleasedAttempt == n && n > 0 {
			if mode == ReleaseNow {
				out.Release = mode
			}
			if reason == "" || r.ReleaseReason == "" { // a client's word counts, also if it came second
				out.ReleaseReason = ""
			}
		}
		if out.Release == r.Release && out.ReleasedAttempt == r.ReleasedAttempt && out.ReleaseReason == r.ReleaseReason {
			s.notify(ctx, r.key())
			return r, nil
		}
		if err := s.replace(ctx, &out, r.Version, reason == ""); err == nil {
			return out, nil
		} else if !errors.Is(err, ErrConflict) {
			return r, err
		}
	}
}

// Grow raises the count of r, which the controller asked for, to count, at most to OriginalCount, and notifies. It never
// lowers it. Errors: ErrConflict if r was changed meanwhile, ErrInvalid if a client asked.
func (s *Store) Grow(ctx context.Context, r RunRequest, count int) (RunRequest, error) {
	if !r.ByController() {
		return r, fmt.Errorf("raise the count of %s: %w: originalCount: must be at least 1, got %d", r.ID, ErrInvalid, r.OriginalCount)
	}
	out := r
	out.Count = min(count, r.OriginalCount)
	if out.Count <= r.Count {
		return r, nil
	}
	if err := s.replace(ctx, &out, r.Version, false); err != nil {
		return r, fmt.Errorf("raise the count: %w", err)
	}
	return out, nil
}

// replace stores r over version expect, and notifies. A client's request, whose role may be of a policy that knows no
// runs, is written at once without the run if it is refused with it: put returns ErrRefused only if nothing was changed.
func (s *Store) replace(ctx context.Context, r *RunRequest, expect int64, client bool) error {
	err := s.put(ctx, r, expect)
	if plain := r.withoutRun(); client && errors.Is(err, ErrRefused) && r.hasRun() {
		if err = s.put(ctx, &plain, expect); err == nil {
			*r = plain
		}
	}
	if err == nil {
		s.notify(ctx, r.key())
	}
	return err
}
