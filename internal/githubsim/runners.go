package githubsim

import (
	"cmp"
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
		group, err := h.groups.name(groupID)
		if err != nil {
			return err
		}
		if h.registry.named(name) != nil {
			return fmt.Errorf("%s: %w", name, githubapi.ErrNameTaken)
		}
		r := h.registry.register(now, name, group, labels, true, true)
		reg = h.registry.describe(r.registration, now)
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
		out = h.registry.list(now)
		return nil
	})
	return out, err
}

// FindRunner returns the runner of a name, if there is one.
func (h *Hub) FindRunner(ctx context.Context, name string) (githubapi.Runner, bool, error) {
	var out githubapi.Runner
	var found bool
	err := h.do(ctx, CallList, func(now time.Time) error {
		if r := h.registry.named(name); r != nil {
			out, found = h.registry.show(r, now), true
		}
		return nil
	})
	return out, found, err
}

// DeleteRunner removes a runner. One that is gone already is no error; one that runs a job is
// githubapi.ErrBusy.
func (h *Hub) DeleteRunner(ctx context.Context, id int64) error {
	return h.do(ctx, CallDelete, func(now time.Time) error {
		_, err := h.dispatcher.removeIdle(id, RemovedDeleted, now)
		return err
	})
}

// AddLabel gives a runner one more label, and a job that waits for it. One that it has stays. githubapi.ErrGone: there is no
// such runner.
func (h *Hub) AddLabel(ctx context.Context, id int64, label string) error {
	_, err := h.addLabels(ctx, id, []string{label})
	return err
}

// addLabels returns all labels of the runner.
func (h *Hub) addLabels(ctx context.Context, id int64, labels []string) ([]string, error) {
	var all []string
	err := h.do(ctx, CallLabel, func(now time.Time) error {
		r := h.registry.get(id)
		if r == nil {
			return fmt.Errorf("runner %d: %w", id, githubapi.ErrGone)
		}
		if err := validate(r.Name, append(slices.Clone(r.Labels), labels...)); err != nil || len(labels) == 0 {
			return cmp.Or(err, fmt.Errorf("labels must be 1 to %d: %w", maxLabels, ErrInvalid))
		}
		h.registry.label(r, labels)
		h.dispatcher.match(r, now)
		all = slices.Clone(r.Labels)
		return nil
	})
	return all, err
}

// URL returns the URL that runners are configured with.
func (h *Hub) URL() string {
	var url string
	h.monitor.with(func(time.Time) { url = h.url })
	return url
}

// SetURL replaces the URL for registrations made from now on.
func (h *Hub) SetURL(url string) {
	h.monitor.change(func(time.Time) { h.url = url })
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
		if err := h.tokens.check(token, now); err != nil {
			return err
		}
		if err := validate(q.Name, q.Labels); err != nil {
			return err
		}
		group, err := h.groups.find(q.Group)
		if err != nil {
			return err
		}
		id := int64(0)
		if old := h.registry.named(q.Name); old != nil {
			if !q.Replace || old.job != nil {
				return fmt.Errorf("%s: %w", q.Name, githubapi.ErrNameTaken)
			}
			id = old.ID
			h.dispatcher.remove(old, RemovedReplaced, now)
		}
		r := h.registry.register(now, q.Name, group, q.Labels, false, q.Ephemeral)
		if id != 0 {
			h.registry.renumber(r, id)
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
		if err := h.tokens.check(token, now); err != nil {
			return err
		}
		_, err := h.dispatcher.removeIdle(id, RemovedItself, now)
		return err
	})
}

// Registrations returns every registration there ever was, oldest first (H37).
func (h *Hub) Registrations() []Registration {
	var out []Registration
	h.dispatcher.view(func(now time.Time) {
		for _, r := range h.registry.past {
			out = append(out, h.registry.describe(r, now))
		}
	})
	return out
}

// Registered returns what Runners does, to one who looks from outside: it is no call, and never waits.
func (h *Hub) Registered() []githubapi.Runner {
	var out []githubapi.Runner
	h.dispatcher.view(func(now time.Time) { out = h.registry.list(now) })
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

// tokens are those for registering and removing runners, with the end of each.
type tokens map[string]time.Time

// check returns ErrUnauthorized unless a token is good now.
func (t tokens) check(token string, now time.Time) error {
	for known, expires := range t {
		if !now.Before(expires) {
			delete(t, known)
			continue
		}
		if subtle.ConstantTimeCompare([]byte(known), []byte(token)) == 1 {
			return nil
		}
	}
	return fmt.Errorf("token: %w", ErrUnauthorized)
}
