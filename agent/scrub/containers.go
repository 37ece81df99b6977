package scrub

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/remuda-run/remuda/store"
)

// engine is the program of the container engine; without it on the PATH there are no containers.
const engine = "docker"

// Containers are the things of a container engine, by id or name. Images stay: they are a cache that
// jobs share.
type Containers struct {
	Containers []string `json:"containers"`
	Volumes    []string `json:"volumes"`
	Networks   []string `json:"networks"`
}

// listContainers returns what there is, nil if there is no engine or it does not answer.
func listContainers(ctx context.Context) (*Containers, error) {
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
	var c Containers
	var err error
	if c.Containers, err = ask(ctx, "ps", "--all", "--quiet", "--no-trunc"); err != nil {
		return nil, err
	}
	if c.Volumes, err = ask(ctx, "volume", "ls", "--quiet"); err != nil {
		return nil, err
	}
	if c.Networks, err = ask(ctx, "network", "ls", "--quiet", "--no-trunc", "--filter", "type=custom"); err != nil {
		return nil, err
	}
	return &c, nil
}

// removeContainers removes everything that was not there before the first run, and checks. An engine
// that answered then must answer now.
func removeContainers(ctx context.Context, was *Containers) error {
	now, err := listContainers(ctx)
	if err != nil {
		return err
	}
	if now == nil {
		if was != nil {
			return errors.New("the container engine does not answer any more")
		}
		return nil
	}
	if was == nil {
		was = &Containers{}
	}
	var failed error // a thing may have gone with another one, so what is left decides
	for _, kind := range []struct {
		now, was []string
		remove   []string
	}{
		{now.Containers, was.Containers, []string{"rm", "--force", "--volumes"}},
		{now.Volumes, was.Volumes, []string{"volume", "rm", "--force"}},
		{now.Networks, was.Networks, []string{"network", "rm"}},
	} {
		if more := without(kind.now, kind.was); len(more) > 0 {
			_, err := ask(ctx, append(kind.remove, more...)...)
			failed = errors.Join(failed, err)
		}
	}
	now, err = listContainers(ctx)
	switch {
	case err != nil:
		return errors.Join(failed, err)
	case now == nil:
		return errors.Join(failed, errors.New("the container engine does not answer any more"))
	}
	left := slices.Concat(without(now.Containers, was.Containers), without(now.Volumes, was.Volumes), without(now.Networks, was.Networks))
	if len(left) == 0 {
		return nil
	}
	return errors.Join(failed, fmt.Errorf("%d containers, volumes and networks are left, one is %s", len(left), left[0]))
}

func without(list, known []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(known, s) })
}

// ask runs the engine's program and returns the words it prints.
func ask(ctx context.Context, args ...string) ([]string, error) {
	out, err := exec.CommandContext(ctx, engine, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, store.Tail(strings.TrimSpace(string(exit.Stderr))))
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", engine, strings.Join(args[:min(2, len(args))], " "), err)
	}
	return strings.Fields(string(out)), nil
}
