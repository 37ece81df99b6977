package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/remuda-run/remuda/fleet"
)

// devLaunches is the file in the folder with the tokens of the launches that devs made there, a line each.
const devLaunches = "dev.launches"

// ownFleet remembers what dev launches, so that dev ends that alone. A token is kept before its launch,
// for the next dev if this one dies: an unknown machine is left, but one of ours is never forgotten.
type ownFleet struct {
	fleet.Fleet
	file *os.File

	mu     sync.Mutex
	tokens map[string]bool
}

// openOwn reads what the devs of dir launched. The caller sets Fleet before anything is asked of it, and
// closes the result.
func openOwn(dir string) (*ownFleet, error) {
	file, err := os.OpenFile(filepath.Join(dir, devLaunches), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open launches of dev: %w", err)
	}
	own := &ownFleet{file: file, tokens: map[string]bool{}}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		own.tokens[lines.Text()] = true
	}
	if err := lines.Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("read launches of dev: %w", err), file.Close())
	}
	return own, nil
}

// Ended implements fleet.Notifier.
func (f *ownFleet) Ended() <-chan struct{} {
	if says, ok := f.Fleet.(fleet.Notifier); ok {
		return says.Ended()
	}
	return nil
}

// Launch notes the launch and makes it.
func (f *ownFleet) Launch(ctx context.Context, p fleet.Plan) (fleet.Outcome, error) {
	if err := f.note(p.Token); err != nil {
		return fleet.Outcome{}, err
	}
	return f.Fleet.Launch(ctx, p)
}

func (f *ownFleet) note(token string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tokens[token] {
		return nil
	}
	if _, err := fmt.Fprintln(f.file, token); err != nil {
		return fmt.Errorf("note launch %s: %w", token, err)
	}
	f.tokens[token] = true
	return nil
}

// living lists the machines of our launches that have not ended.
func (f *ownFleet) living(ctx context.Context) ([]string, error) {
	machines, err := f.Fleet.List(ctx, "")
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	machines = slices.DeleteFunc(machines, func(m fleet.Machine) bool { return m.State == fleet.Ended || !f.tokens[m.LaunchToken] })
	ids := make([]string, len(machines))
	for i, m := range machines {
		ids[i] = m.ID
	}
	return ids, nil
}

// forget drops the notes once nothing of ours is left.
func (f *ownFleet) forget() error {
	if err := os.Remove(f.file.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget launches of dev: %w", err)
	}
	return nil
}

// endLimit bounds the wait for instances to end when dev stops.
const endLimit = 30 * time.Second

// end terminates every instance of ours and waits until none is left, so that nothing outlives dev.
func (f *ownFleet) end(ctx context.Context, a *app) error {
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	for asked := false; ; asked = true {
		ids, err := f.living(ctx)
		if err != nil {
			return fmt.Errorf("end instances: %w", err)
		}
		if len(ids) == 0 {
			return f.forget()
		}
		if !asked {
			fmt.Fprintf(a.err, "remuda dev: ending %s\n", plural(len(ids), "instance"))
			if err := f.Terminate(ctx, ids...); err != nil {
				return fmt.Errorf("end instances: %w", err)
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("end instances: %d still live after %s", len(ids), endLimit)
		case <-a.clock.After(50 * time.Millisecond):
		}
	}
}

// Close ends the notes. The fleet below is its owner's.
func (f *ownFleet) Close() error { return f.file.Close() }
