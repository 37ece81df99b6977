package ec2machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/remuda-run/remuda/internal/process"
)

// ErrForeign says that the instance belongs to another installation, or to none.
var ErrForeign = errors.New("ec2machine: instance does not belong to this installation")

// Identity says which instance this is.
type Identity struct {
	Boot       string `json:"boot"` // for which the rest was found
	InstanceID string `json:"instanceId"`
	Region     string `json:"region"`
	Name       string `json:"name"` // of the installation
}

// known reports whether all of it was found on this boot for installation name.
func (id Identity) known(boot, name string) bool {
	return boot != "" && id.Boot == boot && id.Name == name && id.InstanceID != "" && id.Region != ""
}

// identityFile is the name of the cache in Options.Dir. An image made of a running instance carries
// the cache along, but not its boot.
const identityFile = "identity.json"

// readIdentity returns what an earlier process found, and the present boot. What cannot be read is
// nothing.
func readIdentity(file string) (cached Identity, boot string, err error) {
	if boot, err = process.BootID(); err != nil {
		return cached, "", err
	}
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return cached, boot, nil
	}
	if err != nil {
		return cached, boot, fmt.Errorf("read identity: %w", err)
	}
	if err := json.Unmarshal(b, &cached); err != nil {
		return Identity{}, boot, nil //nolint:nilerr // cut off by a crash: asked for anew
	}
	return cached, boot, nil
}
