// Package hypervisor runs the machines that a simulated EC2 only keeps records of.
//
// It watches the service for launched instances of one installation. Each gets a folder as its disk
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
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// Options configure New. All are required, except Env.
type Options struct {
	Name string        // of the installation: the value of the tag remuda-name
	EC2  *ec2.Client   // sees everything at once, unlike the installation's own perhaps
	STS  *sts.Client   // makes the sessions of the machines' role
	Role string        // ARN of that role
	Dir  string        // holds a folder per machine
	Env  []string      // of every process of a machine: where it finds AWS, which a real one knows
	Poll time.Duration // pause between two looks
	Log  *log.Logger   // what happens to machines, for people
}

// Hypervisor runs machines. It is safe for concurrent use.
type Hypervisor struct {
	Options

	mu        sync.Mutex
	machines  map[string]*machine // every one that was ever seen
	templates map[string]*types.ResponseLaunchTemplateData
}

// New returns a hypervisor that has seen no machine yet.
func New(o Options) *Hypervisor {
	return &Hypervisor{Options: o, machines: map[string]*machine{}, templates: map[string]*types.ResponseLaunchTemplateData{}}
}

// Run runs machines until ctx ends, and then takes the power from those that are left. Its error is
// that of a machine whose processes could not be ended. What fails otherwise is logged and tried again.
func (h *Hypervisor) Run(ctx context.Context) error {
	ticker := time.NewTicker(h.Poll)
	defer ticker.Stop()
	for {
		if err := h.look(ctx); err != nil && ctx.Err() == nil {
			h.Log.Printf("look at EC2: %v", err)
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
	instances, err := h.instances(ctx)
	for _, i := range instances {
		id := aws.ToString(i.InstanceId)
		h.mu.Lock()
		m := h.machines[id]
		h.mu.Unlock()
		switch {
		case m == nil && alive(i):
			err = errors.Join(err, h.start(ctx, i))
		case m != nil && !alive(i):
			err = errors.Join(err, m.end())
		}
	}
	return err
}

// instances lists the installation's instances, ended ones included.
func (h *Hypervisor) instances(ctx context.Context) ([]types.Instance, error) {
	var all []types.Instance
	in := &ec2.DescribeInstancesInput{Filters: []types.Filter{{Name: aws.String("tag:remuda-name"), Values: []string{h.Name}}}}
	for pages := ec2.NewDescribeInstancesPaginator(h.EC2, in); pages.HasMorePages(); {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return all, err
		}
		for _, r := range out.Reservations {
			all = append(all, r.Instances...)
		}
	}
	return all, nil
}

// alive reports whether an instance costs money.
func alive(i types.Instance) bool {
	return i.State != nil && i.State.Name != types.InstanceStateNameShuttingDown && i.State.Name != types.InstanceStateNameTerminated
}

// Alive returns the ids of the installation's instances that are not terminated at EC2.
func (h *Hypervisor) Alive(ctx context.Context) ([]string, error) {
	all, err := h.instances(ctx)
	var ids []string
	for _, i := range all {
		if alive(i) {
			ids = append(ids, aws.ToString(i.InstanceId))
		}
	}
	return ids, err
}

// start boots a machine.
func (h *Hypervisor) start(ctx context.Context, i types.Instance) error {
	id := aws.ToString(i.InstanceId)
	data, err := h.template(ctx, i)
	if err != nil {
		return fmt.Errorf("machine %s: %w", id, err)
	}
	session, err := h.STS.AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: aws.String(h.Role), RoleSessionName: aws.String(id)})
	if err != nil {
		return fmt.Errorf("machine %s: %w", id, err)
	}
	m, err := h.newMachine(i, data, session.Credentials)
	if err != nil {
		return fmt.Errorf("machine %s: %w", id, err)
	}
	h.mu.Lock()
	h.machines[id] = m
	h.mu.Unlock()
	m.logf("%s is switched on", i.InstanceType)
	return m.boot(data)
}

// template returns what the instance was launched from.
func (h *Hypervisor) template(ctx context.Context, i types.Instance) (*types.ResponseLaunchTemplateData, error) {
	id, version := tag(i, "aws:ec2launchtemplate:id"), tag(i, "aws:ec2launchtemplate:version")
	key := id + "/" + version
	h.mu.Lock()
	known := h.templates[key]
	h.mu.Unlock()
	if known != nil {
		return known, nil
	}
	out, err := h.EC2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{
		LaunchTemplateId: aws.String(id), Versions: []string{version},
	})
	if err != nil {
		return nil, err
	}
	if len(out.LaunchTemplateVersions) != 1 || out.LaunchTemplateVersions[0].LaunchTemplateData == nil {
		return nil, fmt.Errorf("launch template %s: %d versions", key, len(out.LaunchTemplateVersions))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.templates[key] = out.LaunchTemplateVersions[0].LaunchTemplateData
	return h.templates[key], nil
}

func tag(i types.Instance, key string) string {
	for _, t := range i.Tags {
		if aws.ToString(t.Key) == key {
			return aws.ToString(t.Value)
		}
	}
	return ""
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
func (h *Hypervisor) Crash(id string) error {
	h.mu.Lock()
	m := h.machines[id]
	h.mu.Unlock()
	if m == nil {
		return fmt.Errorf("machine %s: never switched on", id)
	}
	return m.crash()
}

// Interrupt gives a machine notice that EC2 takes its spot capacity back at a time.
func (h *Hypervisor) Interrupt(id string, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.machines[id].meta.set("meta-data/spot/instance-action", text(map[string]any{"action": "terminate", "time": at.UTC().Format(time.RFC3339)}))
}
