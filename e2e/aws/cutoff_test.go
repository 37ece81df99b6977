package aws

import (
	"fmt"
	"maps"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest/faults"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/store"
)

// The intervals of these stories are a tenth of the product's or less, and so is the outage, unless the whole story
// is told.
const (
	cutFor      = 5 * time.Minute
	cutForShort = cutFor / 10
)

// Invariant 4 invariant 6: of two controllers the one that leads is cut off from DynamoDB, wholly or for writes, and from nothing else.
// The other takes over and has busy machines of its own. Neither's end, and no job is lost.
func TestCutOff(t *testing.T) {
	t.Parallel()
	for name, ops := range map[string]string{"Wholly": "dynamodb.*", "Writes": "dynamodb.[PUD]*Item"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outage := cutForShort
			if *full {
				outage = cutFor
			}
			var first endpoints
			var cut *faults.Transport
			w := newWorld(t, func(w *world) {
				first = maps.Clone(w.parts.controller)
				first["dynamodb"], cut = faults.Proxy(t, w.dynamo, faults.Faults{Rules: []faults.Rule{{Op: ops, Kind: faults.ErrorBefore, Rate: 1}}})
				cut.Enable(false)
			})
			w.install()
			w.host()
			w.watch()
			old := w.start("old", w.environ(first), "controller")
			var jobs errgroup.Group
			w.occupy(&jobs, "run-a", 1, outage)
			w.controller = w.start("new", w.environ(w.parts.controller), "controller")
			w.controller.Says(`waiting for the lease`)

			cut.Enable(true)
			w.controller.Says(`"msg":"this controller leads"`)
			w.occupy(&jobs, "run-b", 2, outage)
			busy := w.cloud.Alive()
			if len(busy) != 3 {
				t.Errorf("machines %v, want three", busy)
			}
			for end := time.Now().Add(outage); time.Now().Before(end); time.Sleep(time.Second) {
				if now := w.cloud.Alive(); !slices.Equal(now, busy) {
					t.Fatalf("machines %v after some of the outage, want %v", now, busy)
				}
			}
			cut.Enable(false)
			w.Check(jobs.Wait())
			if now := w.cloud.Alive(); !slices.Equal(now, busy) {
				t.Errorf("machines %v after the outage, want %v", now, busy)
			}
			cut.MustFire(t)
			if code := old.End(syscall.SIGTERM); code != 0 {
				t.Errorf("the one that was cut off ended with exit code %d, want 0", code)
			}
			w.Check(w.drain())
			w.left()
		})
	}
}

// occupy gives a run so many machines, and a job to each that outlasts an outage. jobs waits for them.
func (w *world) occupy(jobs *errgroup.Group, run string, count int, outage time.Duration) {
	w.Helper()
	_, err := w.Remuda(w.Context(), "request", "--id", run, "--count", fmt.Sprint(count), "--resource-class", "small",
		"--timeout", patience.String(), "--max-runtime", "14m")
	w.Check(err)
	seconds := fmt.Sprint((outage + patience/6).Seconds())
	jobs.Go(func() error {
		done, err := program.JSON[[]githubsim.JobRecord](
			w.Remuda(w.Context(), "dev", "submit", "--run", run, "--count", fmt.Sprint(count), "--seconds", seconds, "--wait", "-o", "json"))
		if err != nil {
			return err
		}
		for _, j := range done {
			if j.Conclusion != githubsim.Success {
				w.Errorf("job %s on %s: %s %s", j.Name, j.InstanceID, j.Conclusion, j.Detail)
			}
		}
		_, err = w.Remuda(w.Context(), "release", "--id", run)
		return err
	})
}

// drain orders all machines to go and waits until they are confirmed gone.
func (w *world) drain() error {
	if _, err := w.Remuda(w.Context(), "drain", "--all", "--timeout", patience.String()); err != nil {
		return err
	}
	return program.Until(patience, "the fleet is empty", func() bool {
		return !slices.ContainsFunc(w.witness.Instances(), func(in store.Instance) bool { return in.ExpiresAt.IsZero() })
	})
}
