package githubsim

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// defaultGroup is the runner group that everyone has.
const defaultGroup = "Default"

// SetGroups replaces the runner groups beside the default one. Their ids follow that one's.
func (h *Hub) SetGroups(names ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.groups = append([]string{defaultGroup}, names...)
	h.broadcast()
}

// SetEnd says until when the service takes a version of the runner. The service does not hold it to that:
// see SetDeprecated.
func (h *Hub) SetEnd(version string, d githubapi.Deprecation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ends[version] = d
	h.broadcast()
}

// groupName returns the name of the group of an id. The caller holds the lock.
func (h *Hub) groupName(id int64) (string, error) {
	if i := id - githubapi.DefaultRunnerGroupID; i >= 0 && i < int64(len(h.groups)) {
		return h.groups[i], nil
	}
	return "", fmt.Errorf("id %d: %w", id, ErrNoGroup)
}

// group returns a group as its own name writes it; "" is the default one. The caller holds the lock.
func (h *Hub) group(name string) (string, error) {
	if name == "" {
		return defaultGroup, nil
	}
	i := slices.IndexFunc(h.groups, func(g string) bool { return strings.EqualFold(g, name) })
	if i < 0 {
		return "", fmt.Errorf("%q: %w", name, ErrNoGroup)
	}
	return h.groups[i], nil
}

// groupIDs returns the group of each runner, by the runner's id.
func (h *Hub) groupIDs() map[int64]int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := map[int64]int64{}
	for _, r := range h.runners {
		out[r.ID] = githubapi.DefaultRunnerGroupID + int64(max(0, slices.Index(h.groups, r.Group)))
	}
	return out
}

type wireGroup struct {
	ID      int64  `json:"id"`
	Name    string `json:"name"`
	Default bool   `json:"default"`
}

type wireGroups struct {
	TotalCount int         `json:"total_count"`
	Groups     []wireGroup `json:"runner_groups"`
}

// listGroups answers with every group in one page, which holds more than anybody has here.
func (s *server) listGroups(w http.ResponseWriter, r *http.Request) {
	var out wireGroups
	err := s.hub.do(r.Context(), CallGroups, func(time.Time) error {
		for i, name := range s.hub.groups {
			out.Groups = append(out.Groups, wireGroup{ID: githubapi.DefaultRunnerGroupID + int64(i), Name: name, Default: i == 0})
		}
		out.TotalCount = len(out.Groups)
		return nil
	})
	s.answer(w, CallGroups, http.StatusOK, out, err)
}

type wireEnd struct {
	Version      string     `json:"runner_version"`
	Registration *time.Time `json:"registration_deprecates_at"`
	Runtime      *time.Time `json:"runtime_deprecates_at"`
}

// deprecation answers with the dates of a version (GitHub REST, "Get runner version end-of-life schedule").
func (s *server) deprecation(w http.ResponseWriter, r *http.Request) {
	out := wireEnd{Version: r.PathValue("version")}
	d, err := s.hub.end(r.Context(), out.Version)
	if !d.Registration.IsZero() {
		out.Registration = &d.Registration
	}
	if !d.Runtime.IsZero() {
		out.Runtime = &d.Runtime
	}
	s.answer(w, CallDeprecation, http.StatusOK, out, err)
}

func (h *Hub) end(ctx context.Context, version string) (d githubapi.Deprecation, err error) {
	err = h.do(ctx, CallDeprecation, func(time.Time) error {
		known, ok := h.ends[version]
		if !ok {
			return fmt.Errorf("version %s: %w", version, errNotFound)
		}
		d = known
		return nil
	})
	return d, err
}
