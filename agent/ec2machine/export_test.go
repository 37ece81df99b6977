package ec2machine

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A test that forgets SetPower must not end the computer it runs on.
func init() { cutPower = func() error { panic("power cut in a test") } }

// SetPower gives the computer firmware that shows tag, and a stand-in for its power.
func SetPower(t *testing.T, tag string, cut func() error) {
	t.Helper()
	wasTag, wasCut := assetTag, cutPower
	t.Cleanup(func() { assetTag, cutPower = wasTag, wasCut })
	assetTag, cutPower = filepath.Join(t.TempDir(), "board_asset_tag"), cut
	if err := os.WriteFile(assetTag, []byte(tag+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// SetCommandLimit changes how long one command may take, and returns what changes it back.
func SetCommandLimit(limit time.Duration) (restore func()) {
	was := commandLimit
	commandLimit = limit
	return func() { commandLimit = was }
}
