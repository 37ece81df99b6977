package sim

import (
	"context"
	"path/filepath"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// admitEvery is between two tries of a job-started hook to have the agent read its record, and admitFor how long one waits.
const (
	admitEvery = 500 * time.Millisecond
	admitFor   = 12 * time.Second
)

// admit is the job-started hook of a machine: it judges by the agent's state once the agent that lives has confirmed that.
func (m *machine) admit(ctx context.Context, j githubsim.Job) bool {
	for !m.confirm(ctx) {
		if wait(ctx, admitEvery) != nil {
			return false
		}
	}
	err := agent.JobStarted(filepath.Join(m.w.dir, m.id), []string{"GITHUB_RUN_ID=" + j.RunID, "GITHUB_REPOSITORY=" + j.Repository})
	if err != nil {
		m.w.transcript.tellf("%s refuses job %s: %v", short(m.id), j.ID, err)
	}
	return err == nil
}

// runs notes the agent that runs on the machine.
func (m *machine) runs(a *agent.Agent) {
	m.w.machines.mu.Lock()
	defer m.w.machines.mu.Unlock()
	m.agent = a
}

// confirm has the machine's agent read its record, if there is one.
func (m *machine) confirm(ctx context.Context) bool {
	m.w.machines.mu.Lock()
	a, p := m.agent, m.proc
	m.w.machines.mu.Unlock()
	if a == nil || p != nil && !p.alive() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, admitFor)
	defer cancel()
	if p != nil {
		defer context.AfterFunc(p.ctx, cancel)() // once it is gone it answers nobody
	}
	return a.Confirm(ctx) == nil
}
