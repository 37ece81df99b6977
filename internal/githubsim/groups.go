package githubsim

import (
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
	h.monitor.change(func(time.Time) { h.groups = append(groups{defaultGroup}, names...) })
}

// SetEnd says until when the service takes a version of the runner. The service does not hold it to that:
// see SetDeprecated.
func (h *Hub) SetEnd(version string, d githubapi.Deprecation) {
	h.monitor.change(func(time.Time) { h.ends[version] = d })
}

// groups are the names of the runner groups, the default one first.
type groups []string

// name returns the name of the group of an id.
func (g groups) name(id int64) (string, error) {
	if i := id - githubapi.DefaultRunnerGroupID; i >= 0 && i < int64(len(g)) {
		return g[i], nil
	}
	return "", fmt.Errorf("id %d: %w", id, ErrNoGroup)
}

// id returns the id of the group of a name, that of the default one if it is there no more.
func (g groups) id(name string) int64 {
	return githubapi.DefaultRunnerGroupID + int64(max(0, slices.Index(g, name)))
}

// find returns a group as its own name writes it; "" is the default one.
func (g groups) find(name string) (string, error) {
	if name == "" {
		return defaultGroup, nil
	}
	i := slices.IndexFunc(g, func(one string) bool { return strings.EqualFold(one, name) })
	if i < 0 {
		return "", fmt.Errorf("%q: %w", name, ErrNoGroup)
	}
	return g[i], nil
}

// groupIDs returns the group of each runner, by the runner's id.
func (s *server) groupIDs() map[int64]int64 {
	out := map[int64]int64{}
	s.hub.monitor.with(func(time.Time) {
		for _, r := range s.hub.registry.runners {
			out[r.ID] = s.hub.groups.id(r.Group)
		}
	})
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
	var end githubapi.Deprecation
	err := s.hub.do(r.Context(), CallDeprecation, func(time.Time) error {
		known, ok := s.hub.ends[out.Version]
		if !ok {
			return fmt.Errorf("version %s: %w", out.Version, errNotFound)
		}
		end = known
		return nil
	})
	if !end.Registration.IsZero() {
		out.Registration = &end.Registration
	}
	if !end.Runtime.IsZero() {
		out.Runtime = &end.Runtime
	}
	s.answer(w, CallDeprecation, http.StatusOK, out, err)
}
