package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/witness"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/store"
)

// H51: a job writes the id of somebody else's runner into its machine's heartbeat, as often as it can, and its run is
// released: of the runners at GitHub the machine's own is deleted and no other.
func TestForeignRunnerID_H51_OnlyItsOwnRunnerGoes(t *testing.T) {
	t.Parallel()
	for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			s := serving(t, "REMUDA_GITHUB_REGISTRATION="+string(mode))
			foreign := s.foreignRunner("production-deployer")
			got := s.request("100", 1)
			forged, stop := s.forge(got.ids()[0], foreign)
			often := func(n int64) { // so that what a look finds is forged, or was just before
				s.Check(program.Until(patience, fmt.Sprintf("%d heartbeats are forged", n), func() bool { return forged.Load() >= n }))
			}
			often(20)
			s.Check(s.release("100"))
			s.Check(s.expect(1, "instance is pooled", witness.Pooled))
			s.request("200", 1) // the same machine, which says the same
			s.Check(s.jobs("200", 1))
			often(100)
			s.Check(s.release("200"))
			s.Check(s.expect(1, "instance is pooled", witness.Pooled))
			stop()
			s.end(1)

			var all []githubsim.Registration
			s.Check(s.sim(http.MethodGet, "/registrations", nil, &all))
			if len(all) < 3 {
				t.Errorf("%d runners were ever registered, want one of somebody else's and two of the machine's", len(all))
			}
			for _, r := range all {
				if own := r.ID != foreign; own != (r.Removed != "") {
					t.Errorf("runner %s: removed %q", r.Name, r.Removed)
				}
			}
		})
	}
}

// foreignRunner registers a runner that is no machine's, and returns its id.
func (s *installation) foreignRunner(name string) int64 {
	s.Helper()
	c, err := githubapi.New(githubapi.Options{
		URL: s.gitHub.Root + "/octo/remuda", APIURL: s.gitHub.Root, Clock: clock.RealClock{},
		Token: func(context.Context) (string, error) { return s.gitHub.Token, nil },
	})
	s.Check(err)
	jit, err := c.JITConfig(s.Context(), name, "deploy")
	s.Check(err)
	return jit.RunnerID
}

// forge writes an instance's heartbeat with the id of another runner every few milliseconds, which is oftener than its
// agent writes one, until stop is called, and counts them.
func (s *installation) forge(id string, runner int64) (written *atomic.Int64, stop func()) {
	s.Helper()
	role := store.New(s.table)
	at := slices.IndexFunc(s.witness.Instances(), func(in store.Instance) bool { return string(in.ID) == id })
	principal := s.witness.Instances()[at].Principal
	ctx, cancel := context.WithCancel(s.Context())
	done := make(chan error, 1)
	written = &atomic.Int64{}
	go func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			said, err := role.Vitals(ctx, func(store.Key, error) {}, principal)
			if err == nil {
				beat := said[principal].Heartbeat.Beat
				beat.RunnerID = runner
				err = role.Beat(ctx, principal, beat, time.Now())
			}
			switch {
			case ctx.Err() != nil:
				done <- nil
				return
			case err != nil && !errors.Is(err, store.ErrUnavailable):
				done <- err
				return
			case err == nil:
				written.Add(1)
			}
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	}()
	return written, func() {
		s.Helper()
		cancel()
		s.Check(<-done)
	}
}
