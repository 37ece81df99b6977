package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/ec2machine"
	"github.com/remuda-run/remuda/agent/scrub"
	"github.com/remuda-run/remuda/fleet/ec2fleet/userdata"
	"github.com/remuda-run/remuda/internal/awscfg"
	"github.com/remuda-run/remuda/internal/bucket"
	"github.com/remuda-run/remuda/internal/machinelog"
	"github.com/remuda-run/remuda/store"
)

// ec2Site is an EC2 instance, which finds out on its own who it is. Its store is opened when the agent
// runs: credentials and STS may be late, and nothing may keep the dead-man timer from running.
func ec2Site(ctx context.Context, p Place, name string) (site, error) {
	if err := os.MkdirAll(p.Dir, 0o755); err != nil { // the runner's user has its folders in it
		return site{}, fmt.Errorf("folder of the instance: %w", err)
	}
	host, err := ec2machine.Open(ctx, ec2machine.Options{
		Dir: p.Dir, Name: name, Limit: p.Config.Limits.Created, Clock: p.Clock, Log: p.Log,
	})
	if err != nil {
		return site{}, err
	}
	logs := &ec2Logs{bucket: p.Config.EC2.Bucket}
	var mu sync.Mutex // an agent may end while connect still hangs
	var table store.Table
	connect := func(ctx context.Context) (*store.Store, store.Principal, error) {
		config, err := awscfg.Load(ctx, host.Region)
		if err != nil {
			return nil, "", err
		}
		principal, err := host.Principal(ctx, config)
		if err != nil {
			return nil, "", err
		}
		logs.open(config, principal)
		opened, err := p.OpenTable(ctx, host.ServiceClock, host.Region)
		if err != nil {
			return nil, "", err
		}
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() != nil { // no one waits for it any more
			return nil, "", errors.Join(context.Cause(ctx), opened.Close())
		}
		table = opened
		return store.New(table), store.Principal(principal), nil
	}
	s := site{
		id:      host.InstanceID,
		whole:   p.ownsComputer(),
		cache:   filepath.Join(p.Dir, "runners"),
		image:   p.Env[RootEnv] + userdata.RunnerDir,
		machine: func(s scrub.Scrubber) agent.Machine { return ec2machine.Machine{Scrubber: s, Host: host} },
		options: func(o *agent.Options) {
			o.Connect, o.TakeOver, o.Offset, o.NoticePoll = connect, host.TakeOver, host.Offset, ec2machine.NoticePoll
		},
		close: func() error {
			mu.Lock()
			defer mu.Unlock()
			if table == nil {
				return nil
			}
			return table.Close()
		},
	}
	if p.Config.EC2.Bucket != "" {
		s.logs = logs
	}
	return s, nil
}

// ec2Logs is the installation's bucket, once the machine knows who it is.
type ec2Logs struct {
	bucket string

	mu   sync.Mutex
	logs bucket.Logs // without Bucket until then
}

func (l *ec2Logs) open(cfg aws.Config, principal string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bucket != "" {
		l.logs = bucket.Logs{Bucket: bucket.Open(cfg, l.bucket), Principal: principal}
	}
}

// Put implements machinelog.Store.
func (l *ec2Logs) Put(ctx context.Context, log machinelog.Log) error {
	l.mu.Lock()
	logs := l.logs
	l.mu.Unlock()
	if logs.Bucket == nil {
		return fmt.Errorf("keep output in bucket %s: this machine does not know its principal yet", l.bucket)
	}
	return logs.Put(ctx, log)
}

// Get implements machinelog.Store: machines may write logs, and read none.
func (l *ec2Logs) Get(context.Context, string) (machinelog.Log, error) {
	return machinelog.Log{}, machinelog.ErrNone
}

// RootEnv names the folder that the user data took for the disk (fleet/ec2fleet/userdata), and that is scrubbed. Who
// has one shares the computer around it with others.
const RootEnv = "REMUDA_ROOT"

// ownsComputer reports whether an EC2 instance has its computer to itself: a folder may stand for its disk.
func (p Place) ownsComputer() bool { return p.Env[RootEnv] == "" }
