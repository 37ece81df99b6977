package reconciler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// provide gives an owned instance the registration it waits for, and clears a used one.
func (t *term) provide(ctx context.Context, s snapshot) error {
	if !s.State.Owned() {
		return nil
	}
	r := s.Registration
	switch {
	case r.Assignment != s.Assignment, s.wantsNext():
		if !t.view.alive(s.RunID, s.Attempt) || t.extra(s) {
			return nil // on its way back: it needs no runner, and must take no job
		}
		if s.unknownKey() {
			return nil // its first heartbeat wakes it
		}
		if r.Assignment == s.Assignment {
			if may, err := t.affords(ctx, s); err != nil || !may {
				return err
			}
		}
		return t.register(ctx, s)
	case s.used() && !s.handedOverSoon(t.clock.Now(), t.cfg.HotPoll):
		_, err := t.write(ctx, s.ID, func(cur snapshot) (store.Instance, error) {
			if cur.Registration.Serial != r.Serial {
				return cur.Instance, errStale
			}
			used := cur.Registration
			used.Secret = ""
			return t.store.SetRegistration(ctx, cur.Instance, used, t.clock.Now())
		})
		return ignoreStale(err)
	}
	return nil
}

// used reports whether the listener is online with a registration that the record still holds.
func (s snapshot) used() bool {
	return s.Registration.Secret != "" && s.report() == statemachine.Online
}

// handedOverSoon reports whether the instance has just become ready. Its handover, which follows at once
// unless others of its request are late, clears the registration too: one write instead of two, of a
// record that is at its longest then.
func (s snapshot) handedOverSoon(now time.Time, grace time.Duration) bool {
	return s.ready(now) && now.Sub(s.vitals.saidAt) < grace
}

// extra reports whether an instance came for a request that is complete without it.
func (t *term) extra(s snapshot) bool {
	r, ok := t.view.getRun(s.RunID)
	if !ok || r.request == nil || r.status == nil || r.status.Phase != statemachine.Ready || s.State == statemachine.Running {
		return false
	}
	running := 0
	t.view.eachHeld(s.RunID, func(other *instance) {
		if other.record.State == statemachine.Running {
			running++
		}
	})
	return running >= r.request.Count
}

// register makes a registration for the instance's present assignment and adds it to its record.
// Failures that are GitHub's fault leave the instance waiting, with its gate held.
func (t *term) register(ctx context.Context, s snapshot) error {
	if !t.beginMint(s.ID) {
		return nil // being made already; whoever makes it wakes the instance
	}
	var err error
	if cur, _ := t.view.get(s.ID); cur.Version != s.Version { // perhaps one was delivered since s was taken
		t.endMint(s.ID, cur.blocked) // nothing was learned of GitHub: a gate that was held stays held
		t.instances.add(s.ID)
		return nil
	}
	defer func() { t.endMint(s.ID, err != nil) }()
	reg, again := s.undelivered()
	if !again {
		reg, err = t.mint(ctx, s, s.RunID)
	}
	if err == nil && !again && s.wantsNext() {
		t.view.with(s.ID, func(in *instance) { in.allowance.spend(t.clock.Now()) })
	}
	if err != nil {
		t.view.withRun(s.RunID, func(r *run) { r.problem = err.Error() })
		return err
	}
	return t.deliver(ctx, s.ID, s.RunID, s.Assignment, reg)
}

// undelivered returns the registration made for the present assignment whose delivery failed.
func (s snapshot) undelivered() (store.Registration, bool) {
	return s.minted, s.minted.Serial > s.Registration.Serial && s.minted.Assignment == s.Assignment
}

func (t *term) beginMint(id store.InstanceID) bool {
	begun := false
	t.view.with(id, func(in *instance) { begun, in.minting = !in.minting, true })
	return begun
}

func (t *term) endMint(id store.InstanceID, blocked bool) {
	t.view.with(id, func(in *instance) { in.minting, in.blocked = false, blocked })
}

// maxTaken bounds the names tried at once. A name is taken by a registration that a crash lost before
// its serial was recorded; the next try goes on after the last name.
const maxTaken = 5

// mint registers at GitHub. The name was never used before: it carries the number of our term, in which
// the serial only grows. So a call of a deposed leader that arrives late cannot take a name of ours. A
// name that GitHub knows already is passed over, never replaced.
func (t *term) mint(ctx context.Context, in snapshot, label store.RequestID) (store.Registration, error) {
	reg := store.Registration{
		Serial: max(in.Registration.Serial, in.tried), Mode: t.cfg.Registration, URL: t.github.URL(),
	}
	if err := t.undo(ctx, in); err != nil {
		return reg, fmt.Errorf("register %s: %w", in.ID, err)
	}
	for range maxTaken {
		reg.Serial++
		reg.Name = fmt.Sprintf("%s%d", t.prefix(in.ID), reg.Serial)
		t.view.with(in.ID, func(in *instance) { in.tried = max(in.tried, reg.Serial) })
		if t.cfg.Registration == store.Token {
			token, err := t.github.RegistrationToken(ctx)
			if err != nil {
				return reg, fmt.Errorf("register %s: %w", in.ID, err)
			}
			reg.Secret = token.Value
			return reg, nil
		}
		jit, err := t.github.JITConfig(ctx, reg.Name, string(label))
		if errors.Is(err, githubapi.ErrNameTaken) {
			continue
		}
		if err != nil {
			if !errors.Is(err, githubapi.ErrThrottled) && !errors.Is(err, githubapi.ErrRefused) && !errors.Is(err, store.ErrNotLeader) {
				t.view.with(in.ID, func(in *instance) { in.untold = reg.Name })
			}
			return reg, fmt.Errorf("register %s: %w", in.ID, err)
		}
		reg.Secret, reg.RunnerID = jit.Config, jit.RunnerID
		return reg, nil
	}
	return reg, fmt.Errorf("register %s: %d names in a row: %w", in.ID, maxTaken, githubapi.ErrNameTaken)
}

// prefix is how the names begin of the runners that this term registers for an instance.
func (t *term) prefix(id store.InstanceID) string { return fmt.Sprintf("%s-%d.", id, t.number) }

// InstanceOf returns the id of the instance that a runner of this name was made for, by mint; false if the name has not the form
// of ours.
func InstanceOf(runner string) (store.InstanceID, bool) {
	end := strings.LastIndexByte(runner, '-')
	if end < 0 {
		return "", false
	}
	return store.InstanceID(runner[:end]), true
}

// undo deletes the runner that the last call for an instance may have left at GitHub, which did not answer. Before
// that there is no other call: where answers are lost, or late, for hours, each would leave one more.
func (t *term) undo(ctx context.Context, in snapshot) error {
	if in.untold == "" {
		return nil
	}
	have, _, err := t.github.FindRunner(ctx, in.untold)
	if err == nil && have.ID != 0 {
		err = t.github.DeleteRunner(ctx, have.ID)
	}
	if err != nil {
		return fmt.Errorf("delete runner %s, if it was made: %w", in.untold, err)
	}
	t.view.with(in.ID, func(in *instance) { in.untold = "" })
	return nil
}

// deliver adds a registration to the record, if the assignment it was made for still stands;
// otherwise its runner is deleted again.
func (t *term) deliver(ctx context.Context, id store.InstanceID, run store.RequestID, assignment int64, reg store.Registration) error {
	now := t.clock.Now()
	reg.Assignment, reg.MintedAt = assignment, store.At(now)
	t.view.with(id, func(in *instance) { in.minted = reg }) // until it is delivered, or of no use
	_, err := t.write(ctx, id, func(cur snapshot) (store.Instance, error) {
		if cur.RunID != run || cur.Assignment != assignment || cur.Registration.Serial >= reg.Serial {
			return cur.Instance, errStale
		}
		in, sealed, err := cur.sealed(reg)
		if err != nil {
			return cur.Instance, err
		}
		return t.store.SetRegistration(ctx, in, sealed, now)
	})
	if errors.Is(err, errStale) {
		t.view.with(id, func(in *instance) { in.minted = store.Registration{} })
		if s, known := t.view.get(id); !known || s.Registration.Serial != reg.Serial { // else it was delivered by an earlier try
			t.discard(ctx, reg)
		}
		return nil
	}
	return err
}

// discard deletes the runner of a registration nobody will use. Should it fail, the sweep of
// runners finds it by its name.
func (t *term) discard(ctx context.Context, reg store.Registration) {
	if reg.RunnerID == 0 {
		return
	}
	if err := t.github.DeleteRunner(ctx, reg.RunnerID); err != nil {
		t.log.Warn("delete unused runner", logkey.Runner, reg.Name, logkey.Error, err)
	}
}

// find returns the runner of a name; its ID is 0 if GitHub has none.
func (t *term) find(ctx context.Context, name string) (githubapi.Runner, error) {
	have, _, err := t.github.FindRunner(ctx, name)
	if err != nil {
		return have, fmt.Errorf("find runner %s: %w", name, err)
	}
	return have, nil
}

// errRetrying: what an agent will register as soon as GitHub lets it cannot be deleted before.
var errRetrying = errors.New("its agent goes on trying to register it")

// removeRunner makes sure that GitHub hands no further job to the instance's runner. ErrBusy: a job
// runs on it.
func (t *term) removeRunner(ctx context.Context, s snapshot) error {
	r := s.Registration
	if r.Serial == 0 || s.unregistered() {
		return nil
	}
	id := r.RunnerID
	if id == 0 { // by its name, which is ours: what a heartbeat says may be the id of anybody's runner
		have, err := t.find(ctx, r.Name)
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
	if err := t.github.DeleteRunner(ctx, id); err != nil {
		return fmt.Errorf("delete runner %s: %w", r.Name, err)
	}
	t.view.with(s.ID, func(in *instance) { in.removed = max(in.removed, r.Serial) })
	return nil
}

// ignoreStale turns "no longer due" into success.
func ignoreStale(err error) error {
	if errors.Is(err, errStale) {
		return nil
	}
	return err
}
