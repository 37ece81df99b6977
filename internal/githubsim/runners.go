package githubsim

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// Limits of the real service.
const (
	// TokenLife is the life of a registration token (GitHub REST, "Create a registration token").
	TokenLife = time.Hour
	// maxLabels is the most labels a runner may have (GitHub REST, "Create configuration for a
	// just-in-time runner").
	maxLabels = 100
	// maxName is the longest name the real service takes, in bytes.
	maxName = 64
	// prunedAfter and ephemeralPrunedAfter are how long an offline runner stays registered (GitHub
	// Docs, "Removing self-hosted runners").
	prunedAfter          = 14 * 24 * time.Hour
	ephemeralPrunedAfter = 24 * time.Hour
)

// Registration is one registration of a runner, current or past. Two with the same name mean that
// the name was used twice.
type Registration struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	Labels    []string  `json:"labels"`
	Group     string    `json:"group"`
	JIT       bool      `json:"jit"`
	Ephemeral bool      `json:"ephemeral"`
	CreatedAt time.Time `json:"createdAt"`
	RemovedAt time.Time `json:"removedAt,omitzero"`
	Removed   string    `json:"removed,omitempty"` // why; empty: still registered
	Online    bool      `json:"online"`
	Busy      bool      `json:"busy"`
	Jobs      []string  `json:"jobs"` // ids of the jobs it ran, oldest first
}

// Why a registration ended.
const (
	RemovedDeleted  = "deleted"  // by DeleteRunner
	RemovedItself   = "itself"   // by the runner program's remove command
	RemovedUsed     = "used"     // ephemeral: it had its one job
	RemovedLapsed   = "lapsed"   // just-in-time and idle for too long
	RemovedReplaced = "replaced" // by a registration of the same name
	RemovedPruned   = "pruned"   // offline for too long
)

type registration struct {
	Registration
	runner *runner // nil once removed
}

type runner struct {
	*registration
	secret   string
	session  *session
	job      *job
	lastSeen time.Time // of the last session; creation before the first
	idleFrom time.Time // when it was last created, connected or finished a job
	busyAt   time.Time // when job last changed
	looked   time.Time // when its end is next looked at; zero: not at all
}

// waits reports whether a poll of r is in progress and r may take a job.
func (r *runner) waits() bool { return r.job == nil && r.session != nil && r.session.polling > 0 }

// keys returns r's labels folded, each once.
func (r *runner) keys() []string {
	out := make([]string, 0, len(r.Labels))
	for _, l := range r.Labels {
		if key := strings.ToLower(l); !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	return out
}

// JITConfig registers a runner for one job and returns its configuration (POST
// …/generate-jitconfig). The runner is offline until it connects.
func (h *Hub) JITConfig(ctx context.Context, name, label string) (githubapi.JIT, error) {
	r, encoded, err := h.generate(ctx, name, githubapi.DefaultRunnerGroupID, []string{label})
	return githubapi.JIT{RunnerID: r.ID, Config: encoded}, err
}

func (h *Hub) generate(ctx context.Context, name string, groupID int64, labels []string) (Registration, string, error) {
	var reg Registration
	var encoded string
	err := h.do(ctx, CallJIT, func(now time.Time) error {
		if err := validate(name, labels); err != nil {
			return err
		}
		group, err := h.groupName(groupID)
		if err != nil {
			return err
		}
		if h.names[strings.ToLower(name)] != nil {
			return fmt.Errorf("%s: %w", name, githubapi.ErrNameTaken)
		}
		r := h.register(now, name, group, labels, true, true)
		reg = h.describe(r.registration, now)
		encoded, err = encodeJIT(Credentials{RunnerID: r.ID, Name: name, Secret: r.secret, URL: h.url, Ephemeral: true})
		return err
	})
	return reg, encoded, err
}

// RegistrationToken returns a new token, good for an hour and any number of runners.
func (h *Hub) RegistrationToken(ctx context.Context) (githubapi.Token, error) {
	var tok githubapi.Token
	err := h.do(ctx, CallToken, func(now time.Time) error {
		tok = githubapi.Token{Value: rand.Text(), Expires: now.Add(TokenLife).UTC().Truncate(time.Second)}
		h.tokens[tok.Value] = tok.Expires
		return nil
	})
	return tok, err
}

// Runners lists every registered runner by id. Busy is late by Options.BusyLag.
func (h *Hub) Runners(ctx context.Context) ([]githubapi.Runner, error) {
	var out []githubapi.Runner
	err := h.do(ctx, CallList, func(now time.Time) error {
		out = h.list(now)
		return nil
	})
	return out, err
}

// FindRunner returns the runner of a name, if there is one.
func (h *Hub) FindRunner(ctx context.Context, name string) (githubapi.Runner, bool, error) {
	var out githubapi.Runner
	var found bool
	err := h.do(ctx, CallList, func(now time.Time) error {
		if r := h.names[strings.ToLower(name)]; r != nil {
			out, found = h.show(r, now), true
		}
		return nil
	})
	return out, found, err
}

// DeleteRunner removes a runner. One that is gone already is no error; one that runs a job is
// githubapi.ErrBusy.
func (h *Hub) DeleteRunner(ctx context.Context, id int64) error {
	_, err := h.deleteRunner(ctx, id)
	return err
}

func (h *Hub) deleteRunner(ctx context.Context, id int64) (found bool, err error) {
	err = h.do(ctx, CallDelete, func(now time.Time) error {
		r := h.runners.get(id)
		if r == nil {
			return nil
		}
		found = true
		if r.job != nil {
			return fmt.Errorf("runner %d %s: %w", id, r.Name, githubapi.ErrBusy)
		}
		h.remove(r, RemovedDeleted, now)
		return nil
	})
	return found, err
}

// URL returns the URL that runners are configured with.
func (h *Hub) URL() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.url
}

// SetURL replaces the URL for registrations made from now on.
func (h *Hub) SetURL(url string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.url = url
	h.broadcast()
}

// RegisterRequest is what the runner program's configure command sends.
type RegisterRequest struct {
	Name      string   `json:"name"`
	Labels    []string `json:"labels"`
	Ephemeral bool     `json:"ephemeral,omitempty"`
	Replace   bool     `json:"replace,omitempty"`
	Group     string   `json:"group,omitempty"` // name; empty: the default one
}

// Register registers a runner with a registration token. A taken name is githubapi.ErrNameTaken,
// unless q.Replace takes over the registration: same id, new labels.
func (h *Hub) Register(ctx context.Context, token string, q RegisterRequest) (Credentials, error) {
	var cred Credentials
	err := h.do(ctx, CallRegister, func(now time.Time) error {
		if err := h.authorize(token, now); err != nil {
			return err
		}
		if err := validate(q.Name, q.Labels); err != nil {
			return err
		}
		group, err := h.group(q.Group)
		if err != nil {
			return err
		}
		id := int64(0)
		if old := h.names[strings.ToLower(q.Name)]; old != nil {
			if !q.Replace || old.job != nil {
				return fmt.Errorf("%s: %w", q.Name, githubapi.ErrNameTaken)
			}
			id = old.ID
			h.remove(old, RemovedReplaced, now)
		}
		r := h.register(now, q.Name, group, q.Labels, false, q.Ephemeral)
		if id != 0 {
			h.runners.remove(r.ID)
			r.ID = id
			h.runners.add(r)
		}
		cred = Credentials{RunnerID: r.ID, Name: r.Name, Secret: r.secret, URL: h.url, Ephemeral: q.Ephemeral}
		return nil
	})
	return cred, err
}

// Unregister removes a runner with a removal token, for which a registration token does as well.
// One that is gone already is no error.
func (h *Hub) Unregister(ctx context.Context, token string, id int64) error {
	return h.do(ctx, CallRemove, func(now time.Time) error {
		if err := h.authorize(token, now); err != nil {
			return err
		}
		r := h.runners.get(id)
		if r == nil {
			return nil
		}
		if r.job != nil {
			return fmt.Errorf("runner %d %s: %w", id, r.Name, githubapi.ErrBusy)
		}
		h.remove(r, RemovedItself, now)
		return nil
	})
}

// Registrations returns every registration there ever was, oldest first (H37).
func (h *Hub) Registrations() []Registration {
	var out []Registration
	h.view(func(now time.Time) {
		for _, r := range h.past {
			out = append(out, h.describe(r, now))
		}
	})
	return out
}

// Registered returns what Runners does, to one who looks from outside: it is no call, and never waits.
func (h *Hub) Registered() []githubapi.Runner {
	var out []githubapi.Runner
	h.view(func(now time.Time) { out = h.list(now) })
	return out
}

// NamesUsedTwice returns the names that were registered more than once, ignoring case (H37).
func (h *Hub) NamesUsedTwice() []string {
	var out []string
	seen := map[string]int{}
	for _, r := range h.Registrations() {
		key := strings.ToLower(r.Name)
		if seen[key]++; seen[key] == 2 {
			out = append(out, r.Name)
		}
	}
	return out
}

// InstanceOf returns the instance that a runner name of the form <instance id>-<term>.<serial>
// belongs to, or "" for any other name.
func InstanceOf(name string) string {
	i := strings.LastIndexByte(name, '-')
	if i <= 0 || i == len(name)-1 || strings.Trim(name[i+1:], ".0123456789") != "" {
		return ""
	}
	return name[:i]
}

func validate(name string, labels []string) error {
	switch {
	case name == "" || len(name) > maxName:
		return fmt.Errorf("name must have 1 to %d bytes: %w", maxName, ErrInvalid)
	case len(labels) == 0 || len(labels) > maxLabels || slices.Contains(labels, ""):
		return fmt.Errorf("labels must be 1 to %d and not empty: %w", maxLabels, ErrInvalid)
	}
	return nil
}

func (h *Hub) authorize(token string, now time.Time) error {
	for known, expires := range h.tokens {
		if !now.Before(expires) {
			delete(h.tokens, known)
			continue
		}
		if subtle.ConstantTimeCompare([]byte(known), []byte(token)) == 1 {
			return nil
		}
	}
	return fmt.Errorf("token: %w", ErrUnauthorized)
}

// register adds a runner. The caller holds the lock and has checked name and labels.
func (h *Hub) register(now time.Time, name, group string, labels []string, jit, ephemeral bool) *runner {
	h.lastID++
	reg := &registration{Registration: Registration{
		ID: h.lastID, Name: name, Group: group, Labels: slices.Clone(labels),
		JIT: jit, Ephemeral: ephemeral, CreatedAt: now.UTC(), Jobs: []string{},
	}}
	r := &runner{registration: reg, secret: rand.Text(), lastSeen: now, idleFrom: now}
	reg.runner = r
	h.runners.add(r)
	h.names[strings.ToLower(name)] = r
	for _, key := range r.keys() {
		h.carriers[key] = append(h.carriers[key], r)
	}
	h.past = append(h.past, reg)
	h.mayEnd(r)
	return r
}

// remove ends a registration and its session. A job of its own fails. The caller holds the lock.
func (h *Hub) remove(r *runner, why string, now time.Time) {
	if r.session != nil {
		h.closeSession(r.session, ErrRunnerGone, now)
	}
	r.Removed, r.RemovedAt = why, now.UTC()
	r.registration.runner = nil
	h.runners.remove(r.ID)
	delete(h.names, strings.ToLower(r.Name))
	for _, key := range r.keys() {
		if i := slices.Index(h.carriers[key], r); i >= 0 {
			h.carriers[key] = slices.Delete(h.carriers[key], i, i+1)
		}
		if len(h.carriers[key]) == 0 {
			delete(h.carriers, key)
		}
	}
}

func (h *Hub) describe(reg *registration, now time.Time) Registration {
	out := reg.Registration
	out.Labels, out.Jobs = slices.Clone(out.Labels), slices.Clone(out.Jobs)
	if r := reg.runner; r != nil {
		out.Online, out.Busy = h.online(r, now), r.job != nil
	}
	return out
}

func (h *Hub) list(now time.Time) []githubapi.Runner {
	out := make([]githubapi.Runner, 0, len(h.runners))
	for _, r := range h.runners {
		out = append(out, h.show(r, now))
	}
	return out
}

// show is a runner as a listing shows it. Its labels never change, and are shared.
func (h *Hub) show(r *runner, now time.Time) githubapi.Runner {
	busy := r.job != nil
	if !r.busyAt.IsZero() && now.Before(r.busyAt.Add(h.opts.BusyLag)) {
		busy = !busy
	}
	return githubapi.Runner{ID: r.ID, Name: r.Name, Online: h.online(r, now), Busy: busy, Labels: slices.Clip(r.Labels)}
}
