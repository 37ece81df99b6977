package aws

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/remuda-run/remuda/e2e/action/step"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/store"
)

// host is one of the hosts of controllers, with a program and a configuration file of its own.
type host struct {
	w                      *world
	name, binary, settings string
	action                 string // folder of the action of its version
	controller             *program.Daemon
}

func (h *host) environ() []string {
	return append(h.w.environ(h.w.parts.controller), "REMUDA_CONFIG="+h.settings, "REMUDA_INTERVALS_HOUSEKEEPING=500ms", "REMUDA_HTTP_LISTEN=127.0.0.1:0")
}

// begin starts the controller, and waits until it says something.
func (h *host) begin(says string) {
	h.w.Helper()
	h.controller = program.Start(h.w, program.Command{
		Name: "controller-" + h.name, Program: h.binary, Args: []string{"controller"}, Dir: h.w.dir, Env: h.environ(), Patience: patience,
	})
	h.controller.Says(says)
}

// end stops it in order.
func (h *host) end() {
	h.w.Helper()
	if code := h.controller.End(syscall.SIGTERM); code != 0 {
		h.w.Errorf("%s: exit code %d", h.name, code)
	}
}

// What controllers say.
const (
	leads      = "this controller leads"
	waits      = "waiting for the lease"
	othersHand = "was changed by someone else"
	madeItself = `a resource was made or repaired","resource":"launch template [^}]*version \d+ is the default now`
)

// Two hosts, of which one is upgraded before the other, so that their programs and their configuration files differ: only the one
// that leads makes its launch template the default, once, and the other's again when that leads, without a version more. The
// action and the machines of either version work under the controller of the other.
func TestUpgrade_TwoHosts(t *testing.T) {
	t.Parallel()
	step.RequireNode(t)
	w := newWorld(t, nil)
	built := program.BuildEarlier(t)
	content, err := os.ReadFile(built.Binary)
	w.Check(err)
	sum := sha256.Sum256(content)
	earlierWeb := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) { http.ServeFile(out, r, built.Binary) }))
	t.Cleanup(earlierWeb.Close)
	now := &host{w: w, name: "now", binary: program.Binary, settings: w.config()}
	earlier := &host{w: w, name: built.Name, binary: built.Binary, settings: filepath.Join(w.dir, "earlier.yaml"), action: built.Source}
	w.Check(os.WriteFile(earlier.settings, w.settingsFor(filepath.Join(built.Source, "e2e", "aws", "testdata"), earlierWeb.URL+"/remuda", hex.EncodeToString(sum[:])), 0o600))
	_, err = program.RunWith(w.Context(), earlier.binary, w.dir, earlier.environ(), "init")
	w.Check(err)
	w.host()
	w.watch()

	// The earlier one leads; the upgraded host waits and leaves the template alone.
	earlier.begin(leads)
	now.begin(waits)
	w.action = now.action
	first := w.workflow("4711", 1, "0")
	w.templateIs(0, 1, first[0])

	// The upgraded one leads, and the other waits, still with the earlier program. What is warm goes; others come.
	earlier.end()
	now.controller.Says(madeItself)
	w.gone(first[0])
	earlier.begin(waits)
	w.action = earlier.action
	second := w.workflow("4712", 1, "0")
	w.templateIs(1, 2, second[0])

	// Someone who applies the other's configuration meanwhile is undone, once, and the leader says so.
	_, err = program.RunWith(w.Context(), earlier.binary, w.dir, earlier.environ(), "init")
	w.Check(err)
	now.controller.Says(othersHand)
	w.templateIs(3, 2, second[0])

	// Back: the earlier version of the template is good again, and none is made.
	now.end()
	earlier.controller.Says(madeItself)
	w.gone(second[0])
	now.begin(waits)
	w.action = now.action
	third := w.workflow("4713", 1, "0")
	w.templateIs(4, 1, third[0])

	// And to the end under the upgraded one.
	earlier.end()
	now.controller.Says(madeItself)
	w.controller = now.controller
	w.emptied(3)
	w.templateIs(5, 0, "")
	for _, h := range []*host{now, earlier} {
		if strings.Contains(string(h.controller.Output()), othersHand) {
			t.Errorf("%s found that another changes the template while it leads", h.name)
		}
	}
}

// gone waits until a warm machine was dismissed: until the leader has seen that it is outdated, it may be given out.
func (w *world) gone(machine string) {
	w.Helper()
	w.until(machine+" is dismissed", func() bool {
		w.Check(w.witness.Look(w.Context()))
		return w.witness.Count(func(in store.Instance) bool { return string(in.ID) == machine && !in.Gone() }) == 0
	})
}

// templateIs expects how often another version was made the default, that there are two at most, and of which the machine is.
func (w *world) templateIs(switches, version int, machine string) {
	w.Helper()
	if n := w.cloud.Calls("ModifyLaunchTemplate"); n != switches {
		w.Errorf("the default version was changed %d times, want %d", n, switches)
	}
	if n := w.cloud.Calls("CreateLaunchTemplateVersion"); n > 1 {
		w.Errorf("%d versions were made beside the first, want one", n)
	}
	if machine == "" {
		return
	}
	w.Check(w.witness.Look(w.Context()))
	for _, in := range w.witness.Instances() {
		if string(in.ID) == machine && !strings.HasSuffix(in.TemplateVersion, "/"+string(rune('0'+version))) {
			w.Errorf("machine %s is of template %s, want version %d", machine, in.TemplateVersion, version)
		}
	}
}
