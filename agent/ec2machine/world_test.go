package ec2machine_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/agent/ec2machine"
)

// computer is a folder for the agent, and stand-ins for the commands that end a machine.
type computer struct {
	*agenttest.Commands
	t       *testing.T
	dir     string
	log     bytes.Buffer
	options ec2machine.Options
}

// newComputer returns one whose only commands are the stand-ins. They may be late: on a busy machine a shell's start
// takes seconds.
func newComputer(t *testing.T) *computer {
	t.Helper()
	t.Cleanup(ec2machine.SetCommandLimit(time.Minute))
	c := &computer{Commands: agenttest.NewCommands(t), t: t, dir: t.TempDir()}
	c.options = ec2machine.Options{
		Dir: c.dir, Name: "main", Limit: time.Minute, Clock: clock.RealClock{}, Log: slog.New(slog.NewTextHandler(&c.log, nil)),
	}
	return c
}

func (c *computer) open() *ec2machine.Host {
	c.t.Helper()
	h, err := ec2machine.Open(context.Background(), c.options)
	if err != nil {
		c.t.Fatalf("Open = %v", err)
	}
	return h
}
