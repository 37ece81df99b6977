package hypervisor

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/process"
)

// marker is in the environment of all that a machine's own services start, and agent.EnvMarker in that
// of what its agent starts for runs.
const marker = "REMUDA_E2E_MACHINE"

// machine is one computer.
type machine struct {
	h       *Hypervisor
	id      string
	root    string           // its disk
	bin     string           // stand-ins for its programs
	web     *httptest.Server // metadata and the stand-ins' other end
	meta    *agenttest.Metadata
	ctx     context.Context //nolint:containedctx // ends with the machine, which no call's does
	cut     context.CancelFunc
	working sync.WaitGroup

	mu       sync.Mutex
	off      bool
	crashed  bool
	timer    *time.Timer // of a scheduled power-off
	services map[string]*os.Process
}

func (h *Hypervisor) newMachine(i ec2test.Instance, c *ststypes.Credentials) (*machine, error) {
	m := &machine{
		h: h, id: i.ID, root: filepath.Join(h.Dir, i.ID, "root"), bin: filepath.Join(h.Dir, i.ID, "bin"), services: map[string]*os.Process{},
	}
	if err := os.MkdirAll(filepath.Join(m.root, "dev"), 0o700); err != nil { // of the console
		return nil, err
	}
	m.meta = Metadata(i, c)
	m.ctx, m.cut = context.WithCancel(context.Background())
	m.web = httptest.NewServer(m.serve())
	if err := m.standIns(); err != nil {
		return nil, errors.Join(err, m.end())
	}
	return m, nil
}

// environ is what every process of the machine has.
func (m *machine) environ(more ...string) []string {
	env := []string{
		"PATH=" + m.bin + string(os.PathListSeparator) + os.Getenv("PATH"), "REMUDA_ROOT=" + m.root, marker + "=" + m.id,
		"AWS_EC2_METADATA_SERVICE_ENDPOINT=" + m.web.URL,
	}
	return append(append(env, m.h.Env...), more...)
}

// boot runs the user data.
func (m *machine) boot(userData string) error {
	script, err := base64.StdEncoding.DecodeString(userData)
	if err != nil {
		return fmt.Errorf("user data: %w", err)
	}
	file := filepath.Join(m.root, "user-data")
	if err := os.WriteFile(file, script, 0o600); err != nil {
		return err
	}
	cmd, err := m.command("user-data.log", m.environ(), "bash", file)
	if err != nil {
		return err
	}
	m.working.Go(func() {
		err := cmd.Wait()
		m.logf("user data ended: %v", err)
	})
	return nil
}

// command starts a program in a process group of its own, its output in a file of the machine.
func (m *machine) command(log string, env []string, args ...string) (*exec.Cmd, error) {
	out, err := os.OpenFile(filepath.Join(m.root, log), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = m.root, env, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.off {
		return nil, errors.New("the machine is off")
	}
	err = cmd.Start()
	return cmd, err
}

// logf notes what happens to the machine.
func (m *machine) logf(format string, args ...any) { m.h.Log.Printf(m.id+" "+format, args...) }

// ended reports whether nothing of the machine runs any more, nor ever will.
func (m *machine) ended() bool { return m.ctx.Err() != nil }

// powerOff is the machine's own end: its power goes, and EC2 does what its shutdown behaviour says.
func (m *machine) powerOff() {
	m.logf("powers itself off")
	m.working.Go(func() {
		if err := m.kill(); err != nil {
			m.logf("power off: %v", err)
		}
		for !m.ended() && !m.h.EC2.PowerOff(m.id) {
			select {
			case <-m.ctx.Done():
			case <-time.After(m.h.Poll):
			}
		}
	})
}

// end takes everything of the machine away but its disk. It may be called again.
func (m *machine) end() error {
	if m.ended() {
		return nil
	}
	m.logf("ends")
	m.cut()
	err := m.kill()
	m.web.CloseClientConnections()
	m.web.Close()
	m.working.Wait()
	return err
}

// killLimit is how long the kernel may take to end processes on a busy machine.
const killLimit = 30 * time.Second

// kill ends every process and lets none start any more.
func (m *machine) kill() error {
	m.mu.Lock()
	m.off = true
	if m.timer != nil {
		m.timer.Stop()
	}
	m.mu.Unlock()
	if err := program.KillLeft(killLimit, m.processes); err != nil {
		return fmt.Errorf("machine %s: %w", m.id, err)
	}
	return nil
}

// processes returns those of the machine that live.
func (m *machine) processes() ([]process.Ref, error) {
	own, err := process.Find(marker, m.id)
	if err != nil {
		return nil, err
	}
	runs, err := process.Find(agent.EnvMarker, m.id)
	return append(own, runs...), err
}

// signal sends a signal to the services, which are started no more.
func (m *machine) signal(sig syscall.Signal) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.crashed = true
	if len(m.services) == 0 {
		return fmt.Errorf("machine %s: no service runs", m.id)
	}
	var errs []error
	for _, p := range m.services {
		errs = append(errs, p.Signal(sig))
	}
	return errors.Join(errs...)
}
