package agent

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/remuda-run/remuda/internal/atomicfile"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// keyFile is the name of the machine's private key in Options.Dir. The agent's user alone can read it.
const keyFile = "agent-key"

// openKey reads the key that registrations are sealed to, or makes it. One that cannot be used is replaced: the
// controller sees another key than the one it knows, and ends the machine.
func openKey(dir string, log *slog.Logger) (store.MachineKey, error) {
	path := filepath.Join(dir, keyFile)
	private, err := os.ReadFile(path)
	switch {
	case err == nil:
		key, err := store.NewMachineKey(private)
		if err == nil {
			return key, nil
		}
		log.Error("the agent's key is of no use and is replaced: this machine will be ended", logkey.Path, path, logkey.Error, err)
	case !errors.Is(err, fs.ErrNotExist):
		return store.MachineKey{}, fmt.Errorf("read machine key: %w", err)
	}
	private = make([]byte, 32)
	rand.Read(private) // never fails
	key, err := store.NewMachineKey(private)
	if err != nil {
		return store.MachineKey{}, err
	}
	return key, atomicfile.Write(path, private, 0o600)
}

// keyError says that a registration is not sealed to this machine's key: nothing but another machine helps.
type keyError struct{ cause error }

func (e *keyError) Error() string { return e.cause.Error() }
func (e *keyError) Unwrap() error { return e.cause }
