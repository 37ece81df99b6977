package host

import (
	"context"
	"path/filepath"
	"testing"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/agent/scrub"
	"github.com/remuda-run/remuda/internal/process"
)

// Halting an instance of a process fleet ends all its processes but the agent's.
func TestProcess_HaltAndNotice_S12_S30(t *testing.T) {
	id := agenttest.Instance(t)
	if err := agenttest.Shell(t, id, "setsid sleep 600 & sleep 600 & exit 0").Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	notice := filepath.Join(t.TempDir(), "interruption")
	m := processMachine{Scrubber: scrub.Scrubber{InstanceID: id, Root: t.TempDir(), Clock: clock.RealClock{}}, notice: notice}
	if err := m.Halt(context.Background(), "test"); err != nil {
		t.Fatalf("Halt = %v", err)
	}
	if left, err := process.Find(agent.EnvMarker, id); err != nil || len(left) != 0 {
		t.Errorf("%d processes are left, %v", len(left), err)
	}
	if m.Interrupted(context.Background()) || (processMachine{}).Interrupted(context.Background()) {
		t.Error("Interrupted without notice")
	}
	agenttest.Write(t, notice, "")
	if !m.Interrupted(context.Background()) {
		t.Error("not Interrupted after notice")
	}
}
