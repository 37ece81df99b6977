package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// Records are what Look reads of a *store.Store.
type Records interface {
	Lease(ctx context.Context) (store.Lease, error)
	Scan(ctx context.Context, v store.Visitor) error
}

// Sources are where a live installation is read. Nil ones are left out.
type Sources struct {
	Store Records // required
	Fleet interface {
		List(ctx context.Context, token string) ([]fleet.Machine, error)
	}
	GitHub interface {
		Runners(ctx context.Context) ([]githubapi.Runner, error)
	}
}

// Look reads everything once: the store, then the fleet, then GitHub, so that a machine or runner that
// has no record was there before its record could be read. at is the time now. A part that cannot be
// read is missing from the snapshot, and listed there; an error is the store's, and there is no snapshot.
func Look(ctx context.Context, from Sources, at time.Time) (*Snapshot, error) {
	s := &Snapshot{At: at}
	if err := s.readStore(ctx, from.Store); err != nil {
		return nil, err
	}
	read := func(part Part, err error) bool {
		if err != nil {
			s.Unread = append(s.Unread, Unread{part, err})
		}
		return err == nil
	}
	var err error
	if from.Fleet != nil {
		s.Machines, err = from.Fleet.List(ctx, "")
		s.FleetRead = read(Fleet, err)
	}
	if from.GitHub != nil {
		s.Runners, err = from.GitHub.Runners(ctx)
		s.GitHubRead = read(GitHub, err)
		s.Runners = slices.DeleteFunc(s.Runners, func(r githubapi.Runner) bool { // an organization may have thousands of others
			_, ours := reconciler.InstanceOf(r.Name)
			return !ours
		})
	}
	s.Sort()
	return s, nil
}

// readStore reads the lease and then everything, in one scan. The lease comes first: one that looks
// expired may be renewed meanwhile, never the other way round.
func (s *Snapshot) readStore(ctx context.Context, st Records) error {
	lease, err := st.Lease(ctx)
	if err != nil {
		if !errors.Is(err, store.ErrInvalid) {
			return err
		}
		s.Bad = append(s.Bad, BadRecord{store.LeaseKey, err.Error()})
	}
	s.Lease = lease
	var found store.Found
	if err := st.Scan(ctx, found.Visitor()); err != nil {
		return err
	}
	for _, in := range found.Instances {
		s.Instances = append(s.Instances, Instance{Instance: in, Vitals: found.Vitals[in.Principal]})
	}
	for id, records := range found.Runs {
		s.Runs = append(s.Runs, Run{id, records})
	}
	for key, err := range found.Bad {
		s.Bad = append(s.Bad, BadRecord{key, err.Error()})
	}
	if found.MoreBad > 0 {
		s.Bad = append(s.Bad, BadRecord{store.Key{Partition: "others"}, fmt.Sprintf("%d more records cannot be read", found.MoreBad)})
	}
	s.Launches = found.Launches
	return nil
}
