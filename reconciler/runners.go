package reconciler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// runners registers runners at GitHub for instances, and deletes them.
type runners struct {
	*tenure
	cache     *cache
	github    GitHub
	preparing *rate.Limiter // of registrations that no agent has asked for yet
}

// onlineAtGitHub reports whether GitHub shows online the listener that was silent: it may have come online since, and have taken a job
// that another registration would not reach. One that was refused has ended, whatever GitHub still shows.
func (g *runners) onlineAtGitHub(ctx context.Context, s snapshot) (bool, error) {
	have, err := g.find(ctx, s.Registration.Name)
	if err != nil {
		return false, err
	}
	return !s.listener.offline.refused && (have.Online || have.Busy), nil
}

// register makes a registration for the instance's present assignment and adds it to its record.
// Failures that are GitHub's fault leave the instance waiting, with its gate held.
func (g *runners) register(ctx context.Context, s snapshot) error {
	if !g.beginRequest(s.ID) {
		return nil // being made already; the one who makes it wakes the instance
	}
	var err error
	if cur, _ := g.cache.instances.get(s.ID); cur.Version != s.Version { // perhaps one was delivered since s was taken
		g.endRequest(s.ID, cur.reg.githubDown) // nothing was learned of GitHub: a gate that was held stays held
		g.queues.instances.Add(s.ID)
		return nil
	}
	defer func() { g.endRequest(s.ID, err != nil) }()
	reg, again := undelivered(s)
	if !again {
		var prepared bool
		if reg, prepared = g.takePrepared(ctx, s); !prepared {
			reg, err = g.request(ctx, s, string(s.RunID))
		}
	}
	if err == nil && !again && s.wantsNext() {
		g.cache.instances.with(s.ID, func(in *instance) { in.reg.allowance.spend(g.clock.Now()) })
	}
	if err != nil {
		g.cache.requests.withRun(s.RunID, func(r *run) { r.lastProblem = err.Error() })
		return err
	}
	return g.deliver(ctx, s.ID, s.RunID, s.Assignment, reg)
}

func (g *runners) beginRequest(id store.InstanceID) bool {
	begun := false
	g.cache.instances.with(id, func(in *instance) { begun, in.reg.requesting = !in.reg.requesting, true })
	return begun
}

func (g *runners) endRequest(id store.InstanceID, blocked bool) {
	g.cache.instances.with(id, func(in *instance) { in.reg.requesting, in.reg.githubDown = false, blocked })
}

// request registers at GitHub. The name was never used before: it carries the number of our term, in which
// the serial only grows. So a call of a deposed leader that arrives late cannot take a name of ours. A
// name that GitHub knows already is passed over, never replaced.
func (g *runners) request(ctx context.Context, in snapshot, label string) (store.Registration, error) {
	reg := store.Registration{
		Serial: max(in.Registration.Serial, in.reg.lastSerial), Mode: g.cfg.Registration, URL: g.github.URL(),
	}
	if err := g.undo(ctx, in); err != nil {
		return reg, fmt.Errorf("register %s: %w", in.ID, err)
	}
	for range maxTaken {
		reg.Serial++
		reg.Name = fmt.Sprintf("%s%d", g.prefix(in.ID), reg.Serial)
		g.cache.instances.with(in.ID, func(in *instance) { in.reg.lastSerial = max(in.reg.lastSerial, reg.Serial) })
		if g.cfg.Registration == store.Token {
			token, err := g.github.RegistrationToken(ctx)
			if err != nil {
				return reg, fmt.Errorf("register %s: %w", in.ID, err)
			}
			reg.Secret = token.Value
			return reg, nil
		}
		jit, err := g.github.JITConfig(ctx, reg.Name, label)
		if errors.Is(err, githubapi.ErrNameTaken) {
			continue
		}
		if err != nil {
			if !errors.Is(err, githubapi.ErrThrottled) && !errors.Is(err, githubapi.ErrRefused) && !errors.Is(err, store.ErrNotLeader) {
				g.cache.instances.with(in.ID, func(in *instance) { in.reg.unconfirmed = reg.Name })
			}
			return reg, fmt.Errorf("register %s: %w", in.ID, err)
		}
		reg.Secret, reg.RunnerID = jit.Config, jit.RunnerID
		return reg, nil
	}
	return reg, fmt.Errorf("register %s: %d names in a row: %w", in.ID, maxTaken, githubapi.ErrNameTaken)
}

// prefix is how the names begin of the runners that this turn of the term registers for an instance: the next one does not
// know which serials this one has tried.
func (g *runners) prefix(id store.InstanceID) string {
	if g.turn > 0 {
		return fmt.Sprintf("%s-%d.%d.", id, g.term, g.turn)
	}
	return fmt.Sprintf("%s-%d.", id, g.term)
}

// undo deletes the runner that the last call for an instance may have left at GitHub, which did not answer. Before
// that there is no other call: where answers are lost, or late, for hours, each would leave one more.
func (g *runners) undo(ctx context.Context, in snapshot) error {
	if in.reg.unconfirmed == "" {
		return nil
	}
	have, _, err := g.github.FindRunner(ctx, in.reg.unconfirmed)
	if err == nil && have.ID != 0 {
		err = g.github.DeleteRunner(ctx, have.ID)
	}
	if err != nil {
		return fmt.Errorf("delete runner %s, if it was made: %w", in.reg.unconfirmed, err)
	}
	g.cache.instances.with(in.ID, func(in *instance) { in.reg.unconfirmed = "" })
	return nil
}

// deliver adds a registration to the record, if the assignment it was made for still stands;
// otherwise its runner is deleted again.
func (g *runners) deliver(ctx context.Context, id store.InstanceID, run store.RequestID, assignment int64, reg store.Registration) error {
	now := g.clock.Now()
	reg.Assignment, reg.MintedAt = assignment, store.At(now)
	g.cache.instances.with(id, func(in *instance) { in.reg.obtained = reg }) // until it is delivered, or of no use
	_, err := g.cache.write(ctx, id, func(cur snapshot) (store.Instance, error) {
		if cur.State == statemachine.Terminated || cur.RunID != run || cur.Assignment != assignment || cur.Registration.Serial >= reg.Serial {
			return cur.Instance, errStale
		}
		in, sealed, err := sealFor(cur, reg)
		if err != nil {
			return cur.Instance, err
		}
		return g.cache.store.SetRegistration(ctx, in, sealed, now)
	})
	if errors.Is(err, errStale) {
		g.cache.instances.with(id, func(in *instance) { in.reg.obtained = store.Registration{} })
		if s, known := g.cache.instances.get(id); !known || s.Registration.Serial != reg.Serial { // else it was delivered by an earlier try
			g.discard(ctx, reg)
		}
		return nil
	}
	return err
}

// discard deletes the runner of a registration that no agent will use. Should it fail, the sweep of
// runners finds it by its name.
func (g *runners) discard(ctx context.Context, reg store.Registration) {
	if reg.RunnerID == 0 {
		return
	}
	if err := g.github.DeleteRunner(ctx, reg.RunnerID); err != nil {
		g.log.Warn("an unused runner could not be deleted at GitHub", logkey.Runner, reg.Name, logkey.Error, err)
	}
}

// find returns the runner of a name; its ID is 0 if GitHub has none.
func (g *runners) find(ctx context.Context, name string) (githubapi.Runner, error) {
	have, _, err := g.github.FindRunner(ctx, name)
	if err != nil {
		return have, fmt.Errorf("find runner %s: %w", name, err)
	}
	return have, nil
}

// removeRunner makes sure that GitHub hands no further job to the instance's runner. ErrBusy: a job
// runs on it.
func (g *runners) removeRunner(ctx context.Context, s snapshot) error {
	err := g.removePresent(ctx, s)
	if !errors.Is(err, githubapi.ErrBusy) {
		g.dropPrepared(ctx, s.ID)
	}
	return err
}

// removePresent does so with the runner of its present registration.
func (g *runners) removePresent(ctx context.Context, s snapshot) error {
	r := s.Registration
	if r.Serial == 0 || s.unregistered() {
		return nil
	}
	id := r.RunnerID
	if id == 0 { // by its name, which is ours: what a heartbeat says may be the id of anyone's runner
		have, err := g.find(ctx, r.Name)
		if err != nil {
			return err
		}
		id = have.ID
	}
	if id == 0 && s.retrying() {
		return fmt.Errorf("delete runner %s: %w", r.Name, errRetrying)
	}
	if id == 0 {
		return nil // not registered, or not yet: the agent's handshake and the sweep of runners remain
	}
	if err := g.github.DeleteRunner(ctx, id); err != nil {
		return fmt.Errorf("delete runner %s: %w", r.Name, err)
	}
	g.cache.instances.with(s.ID, func(in *instance) { in.reg.runnerDeleted = max(in.reg.runnerDeleted, r.Serial) })
	return nil
}

// usedUp reports whether the listener is online with a registration that the record still holds.
func usedUp(s snapshot) bool {
	return s.Registration.Secret != "" && s.report() == statemachine.Online
}

// handedOverSoon reports whether the instance has just become ready. Its handover, which follows at once
// unless others of its request are late, clears the registration too: one write instead of two, of a
// record that is at its longest then.
func handedOverSoon(s snapshot, now time.Time, grace time.Duration) bool {
	return s.ready(now) && now.Sub(s.vitals.reportedAt) < grace
}

// undelivered returns the registration made for the present assignment whose delivery failed. Its machine's gate begins once it
// is delivered.
func undelivered(s snapshot) (store.Registration, bool) {
	reg := s.reg.obtained
	return reg, reg.Serial > s.Registration.Serial && reg.Assignment == s.Assignment
}

// maxTaken bounds the names tried at once. A name is taken by a registration that a crash lost before
// its serial was recorded; the next try goes on after the last name.
const maxTaken = 5

// InstanceOf returns the id of the instance that a runner of this name was made for, by request; false if the name has not the form
// of ours. Ids of instances begin with "i-" on EC2 (Amazon EC2 API, "Instance") and in package procfleet.
func InstanceOf(runner string) (store.InstanceID, bool) {
	end := strings.LastIndexByte(runner, '-')
	if end < 2 || !strings.HasPrefix(runner, "i-") {
		return "", false
	}
	return store.InstanceID(runner[:end]), true
}

// errRetrying: what an agent will register as soon as GitHub lets it cannot be deleted before.
var errRetrying = errors.New("its agent goes on trying to register it")
