// Package hypervisor runs the machines that a simulated EC2 only keeps records of.
//
// It watches the service for launched instances. Each gets a folder as its disk
// (REMUDA_ROOT), a metadata service of its own on loopback, credentials of its role's session, and
// stand-ins for systemctl, shutdown and poweroff; then its user data runs, out of the version of the
// launch template it was launched from, as cloud-init would run it. What that starts, systemd's part
// included, is the real thing. A machine that powers itself off is ended at the service by its shutdown
// behaviour; one that ended there loses all its processes.
package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
)

// Options configure New. All are required, except Env and Admit.
type Options struct {
	EC2  *ec2test.Server
	STS  *sts.Client   // makes the sessions of the machines' role
	Role string        // ARN of that role
	Dir  string        // holds a folder per machine
	Env  []string      // of every process of a machine: where it finds AWS, which a real one knows
	Poll time.Duration // pause between two looks
	Log  *log.Logger   // what happens to machines, for people

	// Admit makes the credentials of a machine, and its principal, known to a service that looks at signatures; nil: there is none.
	Admit func(c aws.Credentials, principal string)
}

// Hypervisor runs machines. It is safe for concurrent use.
type Hypervisor struct {
	Options

	mu       sync.Mutex
	machines map[string]*machine // every one that was ever seen
}

// New returns a hypervisor that has seen no machine yet.
func New(o Options) *Hypervisor {
	return &Hypervisor{Options: o, machines: map[string]*machine{}}
}

// Run runs machines until ctx ends, and then takes the power from those that are left. Its error is
// that of a machine whose processes could not be ended. What fails otherwise is logged and tried again.
func (h *Hypervisor) Run(ctx context.Context) error {
	ticker := time.NewTicker(h.Poll)
	defer ticker.Stop()
	for {
		if err := h.look(ctx); err != nil && ctx.Err() == nil {
			h.Log.Printf("start or end machines: %v", err)
		}
		select {
		case <-ctx.Done():
			var errs []error
			for _, m := range h.all() {
				errs = append(errs, m.end())
			}
			return errors.Join(errs...)
		case <-ticker.C:
		}
	}
}

// look starts machines that are new and ends those that were terminated.
func (h *Hypervisor) look(ctx context.Context) error {
	var err error
	for _, i := range h.EC2.Instances() {
		h.mu.Lock()
		m := h.machines[i.ID]
		h.mu.Unlock()
		switch alive := i.EndedAt.IsZero(); {
		case m == nil && alive:
			err = errors.Join(err, h.start(ctx, i))
		case m != nil && !alive:
			err = errors.Join(err, m.end())
		}
	}
	return err
}

// start boots a machine.
func (h *Hypervisor) start(ctx context.Context, i ec2test.Instance) error {
	session, err := h.STS.AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: aws.String(h.Role), RoleSessionName: aws.String(i.ID)})
	if err != nil {
		return fmt.Errorf("machine %s: %w", i.ID, err)
	}
	if c := session.Credentials; h.Admit != nil {
		h.Admit(aws.Credentials{AccessKeyID: *c.AccessKeyId, SecretAccessKey: *c.SecretAccessKey, SessionToken: *c.SessionToken}, *session.AssumedRoleUser.AssumedRoleId)
	}
	m, err := h.newMachine(i, session.Credentials)
	if err != nil {
		return fmt.Errorf("machine %s: %w", i.ID, err)
	}
	h.mu.Lock()
	h.machines[i.ID] = m
	h.mu.Unlock()
	m.logf("%s is switched on", i.Type)
	return m.boot(i.UserData)
}

func (h *Hypervisor) all() []*machine {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.machines))
}

// Machines returns the ids of every machine that was ever switched on.
func (h *Hypervisor) Machines() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.machines))
}

// Running returns the ids of the machines that are not switched off.
func (h *Hypervisor) Running() []string {
	var ids []string
	for _, m := range h.all() {
		if !m.ended() {
			ids = append(ids, m.id)
		}
	}
	return ids
}

// Crash kills a machine's services with SIGKILL and starts them no more. What they started lives on.
func (h *Hypervisor) Crash(id string) error { return h.signal(id, syscall.SIGKILL) }

// ShutDown asks a machine's services to stop, as its operating system does at its end, and starts them no more.
func (h *Hypervisor) ShutDown(id string) error { return h.signal(id, syscall.SIGTERM) }

func (h *Hypervisor) signal(id string, sig syscall.Signal) error {
	h.mu.Lock()
	m := h.machines[id]
	h.mu.Unlock()
	if m == nil {
		return fmt.Errorf("machine %s: never switched on", id)
	}
	return m.signal(sig)
}
