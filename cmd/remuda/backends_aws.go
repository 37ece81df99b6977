package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent/ec2machine"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/userdata"
	"github.com/remuda-run/remuda/internal/awscfg"
	"github.com/remuda-run/remuda/internal/bucket"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/sqspool"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/dynamostore"
)

// region is the parameter of a URL that names the region; "": the one of the credential chain.
const region = "region"

// loadAWS returns the configuration for the region of u, or for home. A region that is missing or none is the caller's
// mistake; credentials may come later.
func loadAWS(ctx context.Context, u *url.URL, home string) (aws.Config, error) {
	cfg, err := awscfg.Load(ctx, cmp.Or(u.Query().Get(region), home))
	if errors.Is(err, awscfg.ErrRegion) {
		err = asUsage(err)
	}
	return cfg, err
}

// openObserved opens the table, so that its answers keep the knowledge of the service's clock fresh. home is the region
// of a URL that names none.
func (a *app) openObserved(ctx context.Context, cfg config.Config, service *ec2machine.ServiceClock, home string, log *slog.Logger) (store.Table, error) {
	observed := maps.Clone(stores)
	observed["dynamodb"] = openDynamo(service, home)
	return open(ctx, "store", cfg.Store, observed, a.clock, log)
}

// openDynamo opens the table of a URL; service, unless nil, observes its answers.
func openDynamo(service *ec2machine.ServiceClock, home string) opener[store.Table] {
	return func(ctx context.Context, u *url.URL, clk clock.WithTicker, log *slog.Logger) (store.Table, error) {
		cfg, err := loadAWS(ctx, u, home)
		if err != nil {
			return nil, err
		}
		if service != nil {
			cfg = service.Observe(cfg)
		}
		table, err := dynamostore.Open(ctx, u, cfg, clk, log)
		return table, asUsage(err) // it calls nothing: the URL is wrong
	}
}

func openSQS(ctx context.Context, u *url.URL, clk clock.WithTicker, log *slog.Logger) (pool.Pool, error) {
	cfg, err := loadAWS(ctx, u, "")
	if err != nil {
		return nil, err
	}
	queues, err := sqspool.Open(u, cfg)
	return queues, asUsage(err) // it calls nothing either
}

// fleetAWS returns the configuration for the region of the fleet.
func fleetAWS(ctx context.Context, c config.Config) (aws.Config, error) {
	u, err := url.Parse(c.Fleet)
	if err != nil {
		return aws.Config{}, fmt.Errorf("fleet: %w", err)
	}
	return loadAWS(ctx, u, "")
}

// openBucket opens the bucket of an installation, which is in the region of its fleet.
func openBucket(ctx context.Context, c config.Config) (*bucket.Bucket, error) {
	cfg, err := fleetAWS(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", c.EC2.Bucket, err)
	}
	return bucket.Open(cfg, c.EC2.Bucket), nil
}

const jobsAreRoot = "agent.runnerUser is root: jobs run as root and can take the role of their machine; see docs/security.md"

// validateJobsUser refuses to launch machines whose jobs would be root, and have the credentials of the
// machine's role, only because no one said who they are (H42, H43).
func validateJobsUser(c config.Config) error {
	if c.Agent.RunnerUser != "" {
		return nil
	}
	return fmt.Errorf("agent.runnerUser: must be a user of the machines for runner and jobs, or %s if jobs may be root and have the credentials of their machine's role (docs/security.md), got \"\"", config.RootUser)
}

// openEC2 opens the EC2 fleet whose machines get c and the scripts it names by user data.
func openEC2(ctx context.Context, a *app, u *url.URL, c config.Config, _ string, log *slog.Logger) (machinery, error) {
	if err := validateJobsUser(c); err != nil {
		return machinery{}, asUsage(fmt.Errorf("open fleet: %w", err))
	}
	if c.JobsUser() == "" {
		log.Warn(jobsAreRoot)
	}
	cfg, err := loadAWS(ctx, u, "")
	if err != nil {
		return machinery{}, fmt.Errorf("open fleet: %w", err)
	}
	c, release, err := published(ctx, cfg, c)
	if err != nil {
		return machinery{}, fmt.Errorf("open fleet: %w", err)
	}
	classes, err := a.ec2Classes(c, cfg.Region)
	if err != nil {
		return machinery{}, asUsage(err)
	}
	e, base := c.EC2, classes[""]
	delete(classes, "")
	f, err := ec2fleet.Open(ctx, u, cfg, ec2fleet.Options{
		Arch: base.Arch, Subnets: base.Subnets, SecurityGroups: base.SecurityGroups, AMI: base.AMI, InstanceProfile: base.InstanceProfile,
		UserData: base.UserData, RootVolumeGiB: base.RootVolumeGiB, Classes: classes, RoleID: e.RoleID,
		PriceProtection: int32(e.PriceProtection), Tags: e.Tags, //nolint:gosec // bounded by Validate
		CreatedLimit: c.Limits.Created + c.Limits.Visibility, Clock: a.clock, Log: log, Mask: c.Agent.Patterns(),
	})
	if err != nil {
		return machinery{}, asUsage(fmt.Errorf("section ec2 of the configuration: %w", err))
	}
	a.release.Store(&release)
	return machinery{Fleet: f, renew: func(ctx context.Context, c config.Config) (fleet.Fleet, func(), error) {
		next, err := openEC2(ctx, a, u, c, "", log)
		return next.Fleet, func() {}, err
	}}, nil
}

// ec2Classes returns what the machines of each class are made of, under "" those of a class that says nothing.
func (a *app) ec2Classes(c config.Config, region string) (map[string]ec2fleet.Class, error) {
	out, scripts := map[string]ec2fleet.Class{}, map[string]string{}
	all := maps.Clone(c.Classes)
	all[""] = config.Class{}
	for name, class := range all {
		arch := class.Architecture()
		if scripts[arch] == "" {
			script, err := a.userData(c, region, arch)
			if err != nil {
				return nil, err
			}
			scripts[arch] = script
		}
		made := ec2fleet.Class{
			Arch: arch, CPU: class.CPU, AMI: cmp.Or(class.AMI, c.EC2.AMI.For(arch)), UserData: scripts[arch],
			RootVolumeGiB: int32(cmp.Or(class.RootVolume, c.EC2.RootVolume)), //nolint:gosec // bounded by Validate
			Subnets:       class.Subnets, SecurityGroups: class.SecurityGroups, InstanceProfile: cmp.Or(class.InstanceProfile, c.EC2.InstanceProfile),
			GPU: ec2fleet.GPU(class.GPU), Burstable: class.Burstable, Exclude: class.Exclude,
		}
		if len(made.Subnets) == 0 {
			made.Subnets = c.EC2.Subnets
		}
		if len(made.SecurityGroups) == 0 {
			made.SecurityGroups = c.EC2.SecurityGroups
		}
		out[name] = made
	}
	return out, nil
}

// Where the operator's scripts are on an instance.
const (
	instanceScript = "/etc/remuda/pre-runner"
	instanceScrub  = "/etc/remuda/scrub"
)

// userData renders the first script of an instance of an architecture in region.
func (a *app) userData(c config.Config, region, arch string) (string, error) {
	var files []userdata.File
	texts, err := instanceFiles(a, c)
	if err != nil {
		return "", err
	}
	for i, f := range []struct {
		path    string
		setting *string
	}{{instanceScript, &c.Agent.Script}, {instanceScrub, &c.Agent.Scrub}} {
		if *f.setting != "" {
			files = append(files, userdata.File{Path: f.path, Mode: 0o755, Content: texts[i]})
			*f.setting = f.path
		}
	}
	settings, err := config.AgentSettings(c, arch)
	if err != nil {
		return "", err
	}
	return userdata.Render(userdata.Data{
		Name: c.Name, Region: region, Limit: c.Limits.Created, User: c.JobsUser(), Config: settings, Files: files,
		Program: programOf(c, arch), Network: config.Network(c.Agent.Env),
	})
}

// programOf is where a machine of an architecture has this program from.
func programOf(c config.Config, arch string) userdata.Program {
	return userdata.Program{URL: c.EC2.BinaryURL.For(arch), SHA256: c.EC2.BinarySHA256.For(arch), Baked: c.EC2.BinaryPath}
}
