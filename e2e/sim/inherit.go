package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/remuda-run/remuda/fleet"
	osprocess "github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Inherited is an installation that was there before the story begins, as another version left it.
type Inherited struct {
	Text      []byte // see inheritance; nil: nothing was there
	Listening bool   // the listeners outlived the agents that started them; else they ended with them
}

// inheritance is what Inherited.Text holds. Instants in it are "now-1.500s", from the beginning of the story.
type inheritance struct {
	Items    []inheritedItem    `json:"items"`
	Machines []inheritedMachine `json:"machines"`
	Runners  []inheritedRunner  `json:"runners"` // all that GitHub ever registered, in that order
}

type inheritedItem struct {
	Partition  string          `json:"partition"`
	Sort       string          `json:"sort"`
	Version    int64           `json:"version"`
	ExpiresAt  time.Time       `json:"expiresAt"`
	Attributes json.RawMessage `json:"attributes"`
}

type inheritedMachine struct {
	Machine fleet.Machine   `json:"machine"`
	Ended   bool            `json:"ended"`
	State   json.RawMessage `json:"state"` // its agent's file; none: the agent never ran
}

type inheritedRunner struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Gone  bool   `json:"gone"`
}

// inherits says for the error of a story that cannot begin where the fault is.
const inherits = "what was there before can be taken over"

// heir puts everything in its place that was there before.
type heir struct {
	w       *World
	secrets map[string]string // with which each runner can be configured
}

// inherit lets a world begin with what was there before.
func (w *World) inherit() {
	if w.o.Inherited.Text == nil {
		return
	}
	h := heir{w, map[string]string{}}
	var all inheritance
	if err := json.Unmarshal(h.dated(w.o.Inherited.Text), &all); err != nil {
		w.verdicts.broke(inherits, "%v", err)
		return
	}
	h.runners(all.Runners)
	for _, i := range all.Items {
		h.item(i)
	}
	for _, m := range all.Machines {
		h.machine(m)
	}
}

// item lets a record be there.
func (h heir) item(i inheritedItem) {
	for name, secret := range h.secrets {
		i.Attributes = bytes.ReplaceAll(i.Attributes, []byte(`"jit of `+name+`"`), []byte(`"`+secret+`"`))
	}
	item := store.Item{
		Key: store.Key{Partition: i.Partition, Sort: i.Sort}, Version: i.Version, ExpiresAt: i.ExpiresAt, Attributes: i.Attributes,
	}
	h.w.table.Place(item)
	h.w.truth.inherit(item)
	if p, ok := item.Key.Principal(); ok && i.Sort == store.KindInstance {
		h.w.history.found(p, item)
	}
}

var relative = regexp.MustCompile(`"now([+-]\d+\.\d{3}s)"`)

// dated replaces the instants of an inheritance and the name of the machine's present boot by what they mean now.
func (h heir) dated(text []byte) []byte {
	boot, err := osprocess.BootID()
	if err != nil {
		h.w.verdicts.broke(inherits, "%v", err)
	}
	text = bytes.ReplaceAll(text, []byte(`"boot": "this"`), fmt.Appendf(nil, `"boot": %q`, boot))
	return relative.ReplaceAllFunc(text, func(m []byte) []byte {
		d, err := time.ParseDuration(string(relative.FindSubmatch(m)[1]))
		if err != nil {
			h.w.verdicts.broke(inherits, "%s: %v", m, err)
		}
		return []byte(`"` + h.w.begin.Add(d).UTC().Format("2006-01-02T15:04:05.000Z") + `"`)
	})
}

// runners lets GitHub register what it had registered, under the same ids.
func (h heir) runners(runners []inheritedRunner) {
	ctx := context.Background()
	for _, r := range runners {
		jit, err := h.w.hub.JITConfig(ctx, r.Name, r.Label)
		if err == nil && r.Gone {
			err = h.w.hub.DeleteRunner(ctx, jit.RunnerID)
		}
		if err != nil {
			h.w.verdicts.broke(inherits, "runner %s: %v", r.Name, err)
		}
		if !r.Gone {
			h.secrets[r.Name] = jit.Config
		}
	}
}

// machine lets a machine live on: its agent is started anew over what the one before has left.
func (h heir) machine(i inheritedMachine) {
	w := h.w
	w.fleet.Add(i.Machine)
	w.truth.demand.cameBefore(i.Machine)
	m, ctx, err := w.machines.add(i.Machine, i.Machine.LaunchedAt)
	if i.Ended {
		w.fleet.End(m.id)
		return
	}
	k := newKey(w.o.Seed, m.id, "inherited")
	pause := k.between(time.Second, 2*time.Second)
	if err == nil && i.State != nil {
		err = m.leave(ctx, i.State, h.secrets)
	} else {
		pause = max(pause, k.between(w.o.Boot/2, w.o.Boot*3/2)-w.clock.Since(m.born))
	}
	if err != nil {
		w.verdicts.broke(inherits, "machine %s: %v", m.id, err)
		return
	}
	w.transcript.tellf("%s was there, its agent starts in %s", m.id, pause)
	m.live(ctx, pause, k)
}

// leave writes the state that the machine's last agent left, and starts the listener that outlived it.
func (m *machine) leave(ctx context.Context, state []byte, secrets map[string]string) error {
	var was struct {
		Work struct {
			Name     string        `json:"name"`
			Listener osprocess.Ref `json:"listener"`
		} `json:"work"`
	}
	if err := json.Unmarshal(state, &was); err != nil {
		return fmt.Errorf("decode state: %w", err)
	}
	if had := was.Work.Listener; had != (osprocess.Ref{}) {
		m.soil(true)
		secret, registered := secrets[was.Work.Name]
		if m.w.o.Inherited.Listening && registered {
			l, err := m.runner.Start(ctx, store.Registration{Mode: store.JIT, Name: was.Work.Name, Secret: secret}, "")
			if err != nil {
				return fmt.Errorf("start listener: %w", err)
			}
			ref := func(r osprocess.Ref) string { return fmt.Sprintf(`"pid": %d, "start": %d`, r.PID, r.Start) }
			if !bytes.Contains(state, []byte(ref(had))) {
				return fmt.Errorf("the state does not name its listener as %s", ref(had))
			}
			state = bytes.Replace(state, []byte(ref(had)), []byte(ref(l.Ref())), 1)
		}
	}
	if err := os.WriteFile(filepath.Join(m.w.dir, m.id, stateFile), state, 0o644); err != nil { //nolint:gosec // as the agent does
		return fmt.Errorf("write state: %w", err)
	}
	return nil
}

// inherit learns of an item that was there before. No law judges it: the world did not see how it came about.
func (t *truth) inherit(item store.Item) {
	t.records.mu.Lock()
	defer t.records.mu.Unlock()
	t.written[item.Key] = []*store.Item{&item}
	switch item.Key.Sort {
	case store.KindInstance:
		note(t, item, t.inheritInstance)
	case store.KindRunStatus:
		note(t, item, t.inheritStatus)
	case store.KindRunRequest:
		note(t, item, func(item store.Item, r store.RunRequest) {
			id, _ := item.Key.RequestID()
			r.ID, r.Version, r.ExpiresAt = id, item.Version, item.ExpiresAt
			t.records.ask(id, r, r.CreatedAt.Time)
			if r.ReleasedAttempt > 0 {
				in(t.facts.given, id)[r.ReleasedAttempt] = t.w.begin
			}
		})
	case store.KindRunClient:
		note(t, item, func(item store.Item, c store.RunClient) {
			id, _ := item.Key.RequestID()
			t.facts.seen[id] = c.SeenAt.Time
		})
	case store.KindHeartbeat:
		note(t, item, func(item store.Item, h store.Heartbeat) {
			if p, _ := item.Key.Principal(); h.Beat.Key == "" {
				t.owners.keyless[p] = true
			}
		})
	case store.KindSignal:
		note(t, item, func(item store.Item, s store.Signal) {
			t.signal(item, s)
			p, _ := item.Key.Principal()
			t.records.lastAt[p] = s.UpdatedAt.Time
		})
	case store.KindLaunch:
		note(t, item, func(item store.Item, l store.Launch) {
			_, l.Token, _ = strings.Cut(item.Key.Partition, "#")
			t.records.launches[l.Token] = l
		})
	case store.KindDrain:
		note(t, item, func(item store.Item, d store.DrainOrder) {
			d.ID, _ = item.Key.DrainID()
			d.ExpiresAt = item.ExpiresAt
			t.facts.orders[d.ID] = order{d, d.CreatedAt.Time, d.CreatedAt.Time}
		})
	case store.KindLease:
		note(t, item, func(_ store.Item, l store.Lease) {
			t.records.lease, t.terms.of[l.Holder], t.terms.now = l, l.Term, l.Term
		})
	}
}

func (t *truth) inheritInstance(item store.Item, in store.Instance) {
	in.Principal, _ = item.Key.Principal()
	in.Version, in.ExpiresAt = item.Version, item.ExpiresAt
	t.records.instances[in.ID] = in
	if in.RunID != "" {
		t.owners.history[in.ID] = []ownership{{run: in.RunID, from: in.Since.Time}}
	}
	r := in.Registration
	if r.Serial > 0 && in.SealKey == "" {
		t.owners.keyless[in.Principal] = true
	}
	if r.Secret != "" && r.Mode == store.JIT {
		t.owners.secrets[r.Secret] = fmt.Sprintf("%s/%d", in.ID, r.Serial)
	}
}

func (t *truth) inheritStatus(item store.Item, st store.RunStatus) {
	st.ID, _ = item.Key.RequestID()
	st.Version, st.ExpiresAt = item.Version, item.ExpiresAt
	t.records.status[st.ID] = st
	if !st.ReadyAt.IsZero() {
		in(t.facts.readyAt, st.ID)[st.Attempt] = st.ReadyAt.Time
	}
	if st.Phase == statemachine.PhaseReleased {
		t.handover.over[st.ID] = st.ReleasedAt.Time
	}
}
