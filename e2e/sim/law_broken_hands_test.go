package sim

import (
	"cmp"
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// saboteur breaks something at a time of the story. It begins with the story: a step of its own would be something out of
// order, and laws of what must happen soon wait for minutes after that.
type saboteur struct {
	at   time.Duration
	what func(h hands)
	done *bool
}

func (a saboteur) do(w *World) {
	h := hands{w, w.truth}
	w.running.Go(func() {
		h.at(a.at)
		a.what(h)
		*a.done = true
	})
}

// hands do to a world what no part of the product does.
type hands struct {
	w *World
	t *truth
}

// look is how often the hands look whether it is time.
const look = 10 * time.Millisecond

// at waits for a time of the story. It does not come back if the story ends before.
func (h hands) at(d time.Duration) {
	h.until(func() bool { return h.w.since() >= d })
}

// until waits for something. It does not come back if the story ends before.
func (h hands) until(cond func() bool) {
	for !cond() {
		timer := time.NewTimer(look)
		select {
		case <-h.w.ended:
			timer.Stop()
			runtime.Goexit()
		case <-timer.C:
		}
	}
}

// instance waits for the first instance in a state that fits.
func (h hands) instance(state statemachine.State, fits ...func(store.Instance) bool) (found store.Instance) {
	h.until(func() bool {
		all := h.instances(state, fits...)
		if len(all) > 0 {
			found = all[0]
		}
		return len(all) > 0
	})
	return found
}

// instances are those in a state that fit, in the order of their names.
func (h hands) instances(state statemachine.State, fits ...func(store.Instance) bool) []store.Instance {
	h.t.records.mu.Lock()
	defer h.t.records.mu.Unlock()
	var all []store.Instance
	for _, in := range h.t.records.instances {
		if in.State == state && !slices.ContainsFunc(fits, func(fit func(store.Instance) bool) bool { return !fit(in) }) {
			all = append(all, in)
		}
	}
	slices.SortFunc(all, func(a, b store.Instance) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

func pooled(in store.Instance) bool    { return !in.PooledAt.IsZero() }
func notPooled(in store.Instance) bool { return in.PooledAt.IsZero() }
func hasSecret(in store.Instance) bool { return in.Registration.Secret != "" }

// phase waits for a request to be in a phase.
func (h hands) phase(id store.RequestID, p statemachine.Phase) {
	h.until(func() bool {
		h.t.records.mu.Lock()
		defer h.t.records.mu.Unlock()
		return h.t.records.status[id].Phase == p
	})
}

// knows reports whether the client of a request has read its answer.
func (h hands) knows(id store.RequestID) bool {
	h.w.workflows.mu.Lock()
	defer h.w.workflows.mu.Unlock()
	return slices.ContainsFunc(h.w.workflows.all, func(f *workflow) bool { return f.id() == id && f.answered > 0 })
}

// launch waits for a launch, open or done, and returns its token.
func (h hands) launch(done bool) (token string) {
	h.until(func() bool {
		h.t.records.mu.Lock()
		defer h.t.records.mu.Unlock()
		for name, l := range h.t.records.launches {
			if l.Done == done {
				token = name
			}
		}
		return token != ""
	})
	return token
}

// rewrite changes a record below all gates, whose ever it is. The laws see the write.
func rewrite[R any](h hands, key store.Key, change func(*R)) {
	rewriteItem(h, context.Background(), key, func(_ *store.Item, r *R) { change(r) })
}

// rewriteItem changes also what is about the record: when it expires.
func rewriteItem[R any](h hands, ctx context.Context, key store.Key, change func(*store.Item, *R)) { //nolint:revive // the hands come first
	nobody := h.w.newProcess(Controller, "nobody") // whose writes have their place in the history
	h.until(func() bool {
		items, err := h.t.Get(ctx, store.Consistent, key)
		var r R
		item := store.Item{Key: key}
		if err == nil && len(items) == 1 {
			item = items[0]
			err = json.Unmarshal(item.Attributes, &r)
		}
		if err != nil {
			return false
		}
		change(&item, &r)
		expect := item.Version
		if item.Version++; key.Sort == store.KindSignal {
			item.Version, expect = 0, store.Unconditional
		}
		item.Attributes, err = json.Marshal(r)
		sent, answered := h.w.history.writes(nobody, "sabotage", item, expect)
		sent()
		if err == nil {
			err = h.t.Put(ctx, item, expect)
		}
		answered(err)
		return err == nil // else somebody else was faster: once more
	})
}

// of changes the record of an instance.
func (h hands) of(in store.Instance, change func(*store.Instance)) {
	rewrite(h, store.InstanceKey(in.Principal, store.KindInstance), change)
}

// answer changes the status of a request.
func (h hands) answer(id store.RequestID, change func(*store.RunStatus)) {
	rewrite(h, store.RequestKey(id, store.KindRunStatus), change)
}

// fails answers a request that it has failed.
func (h hands) fails(id store.RequestID, reason string) {
	h.answer(id, func(st *store.RunStatus) {
		st.Phase, st.Reason, st.Message = statemachine.Failed, reason, "by no fault of anybody"
	})
}

// ready answers a request with an instance.
func (h hands) ready(id store.RequestID, instances ...store.InstanceID) {
	h.answer(id, func(st *store.RunStatus) {
		st.Phase, st.Instances = statemachine.Ready, nil
		for _, in := range instances {
			st.Instances = append(st.Instances, store.Seat{InstanceID: in})
		}
	})
}

// become is a change of state, as well made as the product makes it.
func (h hands) become(in store.Instance, state statemachine.State, run store.RequestID) {
	h.of(in, func(r *store.Instance) {
		now := h.w.clock.Now()
		r.ID = in.ID
		if r.RunID != run {
			r.Assignment++
		}
		r.State, r.RunID, r.PooledAt, r.Since, r.ChangedAt = state, run, store.Time{}, store.At(now), store.At(now)
		r.Registration.Secret = ""
		r.Attempt = 0
		if run != "" {
			r.Attempt = 1
		}
		limit := h.w.supervisor.config().LimitsOf(r.ResourceClass).For(state)
		if state == statemachine.Running {
			h.t.records.mu.Lock()
			limit = h.t.records.requests[run][1].MaxRuntime.Duration()
			h.t.records.mu.Unlock()
		}
		r.Threshold = store.At(now.Add(limit))
	})
}

// ends writes down that an instance has ended.
func (h hands) ends(in store.Instance, reason string) {
	h.of(in, func(r *store.Instance) {
		if r.RunID != "" {
			r.Assignment++
		}
		now := store.At(h.w.clock.Now())
		r.State, r.RunID, r.Attempt, r.PooledAt, r.Threshold = statemachine.Terminated, "", 0, store.Time{}, store.Time{}
		r.Registration.Secret = ""
		r.Since, r.ChangedAt, r.Reason = now, now, reason
	})
}

// mute is the table without its notifications.
type mute struct{ store.Table }

func (mute) Notify(context.Context, ...store.Key) error { return nil }

// unnotified is a store whose writes notify no one.
func (h hands) unnotified() *store.Store { return store.New(mute{h.t}) }

// unjudged keeps what is due soon, and the audit, from being judged for a while, so that laws with longer bounds come to their turn.
func (h hands) unjudged(d time.Duration) {
	h.w.disturbances.note(d, false)
	h.unaudited()
}

func (h hands) unaudited() { h.w.outages.set("nothing that exists", true) }

// freeze stops both controllers, unknown to the world.
func (h hands) freeze(d time.Duration) {
	for _, name := range []string{"controller-1", "controller-2"} {
		var p *process
		h.until(func() bool { p = h.w.find(name); return p != nil })
		p.pause(d)
	}
}

// stun stops the agent of a machine, unknown to the world.
func (h hands) stun(id store.InstanceID, d time.Duration) {
	h.w.machines.ofAgent(h.w.machines.of(string(id)), func(p *process) { p.pause(d) })
}

// register registers a runner of nobody's at GitHub.
func (h hands) register(name, label string) (jit githubapi.JIT) {
	h.until(func() (ok bool) {
		var err error
		jit, err = h.w.hub.JITConfig(context.Background(), name, label)
		return err == nil
	})
	return jit
}
