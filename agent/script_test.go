package agent_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/internal/machinelog"
	"github.com/remuda-run/remuda/internal/process"
)

// What the operator's script says is not for jobs, also where an earlier version left a log they can read.
func TestCommand_LogIsPrivate_H43(t *testing.T) {
	command := agenttest.Shell(t, agenttest.Instance(t), "echo token")
	for range 2 {
		if err := command.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(command.Log)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("log = %v, %v, want mode 0600", info.Mode(), err)
		}
		if err := os.Chmod(command.Log, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// H46: the true exit status counts, and the last lines tell why.
func TestCommand_Status_S39_H46(t *testing.T) {
	id := agenttest.Instance(t)
	if err := agenttest.Shell(t, id, "echo fine").Run(context.Background()); err != nil {
		t.Errorf("Run of a script that succeeds = %v", err)
	}
	err := agenttest.Shell(t, id, "echo first ghp_0123456789abcdefghij; echo the reason >&2; false; exit 3").Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.HasSuffix(err.Error(), "first ***\nthe reason") {
		t.Errorf("Run = %v, want exit status 3 and the last lines", err)
	}
	err = agenttest.Shell(t, id, "i=0; while [ $i -lt 1000 ]; do echo line $i; i=$((i+1)); done; exit 1").Run(context.Background())
	if err == nil || len(err.Error()) > 2000 || !strings.HasSuffix(err.Error(), "line 998\nline 999") || !strings.Contains(err.Error(), ": line ") {
		t.Errorf("Run = %v, want the end of the output in whole lines", err)
	}
	missing := agenttest.Shell(t, id, "")
	missing.Path = "/nowhere/script"
	if err := missing.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "/nowhere/script") {
		t.Errorf("Run of a missing script = %v", err)
	}
}

// A secret does not show where the end of the output begins in its middle, and the operator's patterns hold.
func TestCommand_SecretBeforeTheCut_ReviewB28(t *testing.T) {
	id := agenttest.Instance(t)
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat(strings.Repeat("QUJDREVGR0g", 5)+"\n", 40) + "-----END PRIVATE KEY-----"
	err := agenttest.Shell(t, id, "cat <<'E'\n"+key+"\nE\nset -x\n: docker login -u bot -p s3same\nexit 1").Run(context.Background())
	if err == nil || strings.Contains(err.Error(), "QUJD") || strings.Contains(err.Error(), "s3same") || !strings.Contains(err.Error(), "login -u bot -p ***") {
		t.Errorf("Run = %v, want neither key nor password", err)
	}
	err = agenttest.Shell(t, id, "printf 'password=%02000d' 7; exit 1").Run(context.Background())
	if err == nil || strings.Contains(err.Error(), "0007") {
		t.Errorf("Run = %v, want no part of a long line's secret", err)
	}
	own := agenttest.Shell(t, id, "echo license ACME-77; exit 1")
	if own.Mask, err = machinelog.ParsePatterns([]string{`ACME-\d+`}); err != nil {
		t.Fatal(err)
	}
	if err := own.Run(context.Background()); err == nil || !strings.HasSuffix(err.Error(), "license ***") {
		t.Errorf("Run = %v, want the operator's pattern masked", err)
	}
}

// H03: a script that hangs is killed at its limit, however far it came.
func TestCommand_Limit_H03(t *testing.T) {
	c := agenttest.Shell(t, agenttest.Instance(t), "sleep 600 & sleep 600 & wait")
	c.Limit = 100 * time.Millisecond
	if err := c.Run(context.Background()); !errors.Is(err, agent.ErrScriptLimit) {
		t.Errorf("Run = %v, want ErrScriptLimit", err)
	}
}

// H03: whatever ends a script under way, its limit or the end of the agent, ends its children too.
func TestCommand_ContextEnds_KillsGroup_H03(t *testing.T) {
	id := agenttest.Instance(t)
	c := agenttest.Shell(t, id, "sleep 600 & sleep 600 & echo waiting; wait")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	agenttest.Eventually(t, "the script has children", func() bool {
		said, err := os.ReadFile(c.Log)
		return err == nil && string(said) == "waiting\n"
	})
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || !strings.HasSuffix(err.Error(), "waiting") {
		t.Errorf("Run = %v, want context.Canceled and the last lines", err)
	}
	agenttest.Eventually(t, "the script's children end", func() bool {
		left, err := process.Find(agent.EnvMarker, id)
		return err == nil && len(left) == 0
	})
}

// A background process that keeps the output open holds up no one, and lives on.
func TestCommand_BackgroundProcess_NotWaitedFor(t *testing.T) {
	id := agenttest.Instance(t)
	if err := agenttest.Shell(t, id, "sleep 600 & exit 0").Run(context.Background()); err != nil {
		t.Fatalf("Run = %v", err)
	}
	agenttest.Eventually(t, "the service that the script started is found alive", func() bool { // it may be in the middle of exec
		left, err := process.Find(agent.EnvMarker, id)
		return err == nil && len(left) == 1
	})
}
