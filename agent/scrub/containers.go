package scrub

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/remuda-run/remuda/internal/boundary"
	"github.com/remuda-run/remuda/internal/process"
)

// engine is the program of the container engine; without it on the PATH there are no containers.
const engine = "docker"

// Containers are the things of a container engine, of each kind their ids or names. What images hold stays: it is a cache
// that jobs share.
type Containers map[string][]string

// kinds are those of Containers, by their names there, with the words of the engine's program that list and remove them.
// A container holds on to its volumes and networks: it goes first.
var kinds = []struct {
	name         string
	list, remove []string
}{
	{"containers", []string{"ps", "--all", "--quiet", "--no-trunc"}, []string{"rm", "--force", "--volumes"}},
	{"volumes", []string{"volume", "ls", "--quiet"}, []string{"volume", "rm", "--force"}},
	{"networks", []string{"network", "ls", "--quiet", "--no-trunc", "--filter", "type=custom"}, []string{"network", "rm"}},
}

// listContainers returns what there is, nil if there is no engine or it does not answer.
func listContainers(ctx context.Context) (Containers, error) {
	if _, err := exec.LookPath(engine); err != nil {
		return nil, nil //nolint:nilnil,nilerr // no engine, no containers
	}
	// Some versions of the program succeed without an engine, and print nothing.
	if id, err := ask(ctx, "info", "--format", "{{.ID}}"); err != nil || len(id) == 0 {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, nil //nolint:nilnil // installed, not running
	}
	all := Containers{}
	for _, kind := range kinds {
		var err error
		if all[kind.name], err = ask(ctx, kind.list...); err != nil {
			return nil, err
		}
	}
	var err error
	all[tags], err = listTags(ctx)
	return all, err
}

var errNoEngine = errors.New("the container engine does not answer any more")

// removeContainers removes everything that was not there before the first run, and checks. It reports whether there were
// containers. An engine that answered then must answer now.
func removeContainers(ctx context.Context, was Containers) (found bool, err error) {
	now, err := listContainers(ctx)
	switch {
	case err != nil:
		return false, err
	case now == nil && was == nil:
		return false, nil
	case now == nil:
		return false, errNoEngine
	}
	var failed error // a thing may have gone with another one, so what is left decides
	if own := without(now["containers"], was["containers"]); len(own) > 0 {
		found = true
		_, _ = ask(ctx, append([]string{"update", "--restart=no"}, own...)...) // one that is removed with its end cannot be restarted
		if err := boundary.EndContainers(ctx, own); err != nil {
			return true, err
		}
	}
	for _, kind := range kinds {
		if more := without(now[kind.name], was[kind.name]); len(more) > 0 {
			_, err := ask(ctx, slices.Concat(kind.remove, more)...)
			failed = errors.Join(failed, err)
		}
	}
	failed = errors.Join(failed, restoreTags(ctx, was[tags], now[tags]))
	now, err = listContainers(ctx)
	switch {
	case err != nil:
		return found, errors.Join(failed, err)
	case now == nil:
		return found, errors.Join(failed, errNoEngine)
	}
	left := without(now[tags], was[tags])
	for _, kind := range kinds {
		left = append(left, without(now[kind.name], was[kind.name])...)
	}
	if len(left) == 0 {
		return found, nil
	}
	return found, errors.Join(failed, fmt.Errorf("%d containers, volumes, networks and tags are left or changed, one is %s", len(left), left[0]))
}

func without(list, known []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(known, s) })
}

// ask runs the engine's program and returns the words it prints.
func ask(ctx context.Context, args ...string) ([]string, error) {
	out, err := process.Output(ctx, engine, args...)
	return strings.Fields(out), err
}
