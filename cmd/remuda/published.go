package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/remuda-run/remuda/internal/bucket"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/reconciler"
)

// fromRelease reports which of program and runner c leaves to release.json of the bucket.
func fromRelease(c config.Config) (program, runner bool) {
	has := c.EC2.Bucket != ""
	return has && c.EC2.BinaryURL == nil && c.EC2.BinaryPath == "", has && c.Agent.RunnerURL == nil && c.Agent.RunnerDir == ""
}

// published puts into c what release.json says of program and runner, where c leaves that to it, and returns what it read. A
// runner that is not published is part of the image.
func published(ctx context.Context, cfg aws.Config, c config.Config) (config.Config, bucket.Release, error) {
	program, runner := fromRelease(c)
	if !program && !runner {
		return c, bucket.Release{}, nil
	}
	b := bucket.Open(cfg, c.EC2.Bucket)
	r, err := b.Release(ctx)
	if err != nil {
		return c, r, err
	}
	if program {
		c.EC2.BinaryURL, c.EC2.BinarySHA256 = perArch(b, r.Program)
		var errs []error
		for _, name := range slices.Sorted(maps.Keys(c.Classes)) {
			if arch := c.Classes[name].Architecture(); c.EC2.BinaryURL.For(arch) == "" {
				errs = append(errs, fmt.Errorf("%s has no program for %s, which classes.%s needs: run `remuda init --publish`", b.URL(bucket.ReleaseKey), arch, name))
			}
		}
		err = errors.Join(errs...)
	}
	if runner {
		c.Agent.RunnerURL, c.Agent.RunnerSHA256 = perArch(b, r.Runner)
	}
	return c, r, err
}

// perArch are addresses and checksums of artifacts, as the configuration has them.
func perArch(b *bucket.Bucket, artifacts map[string]bucket.Artifact) (urls, sums config.PerArch) {
	if len(artifacts) == 0 {
		return nil, nil
	}
	urls, sums = config.PerArch{}, config.PerArch{}
	for arch, a := range artifacts {
		urls[arch], sums[arch] = b.URL(a.Key), a.SHA256
	}
	return urls, sums
}

// releaseChore looks whether something else is published than machines are made of, and has the configuration taken up again
// then, by which the launch template follows.
func (b *backends) releaseChore(a *app, cfg config.Config) reconciler.Chore {
	return reconciler.Chore{Name: "release", Do: func(ctx context.Context) error {
		in, err := openBucket(ctx, cfg)
		if err != nil {
			return err
		}
		now, err := in.Release(ctx)
		if err != nil {
			return err
		}
		if used := a.release.Load(); used != nil && !reflect.DeepEqual(*used, now) {
			b.log.Info("something else is published: machines will be made of it")
			select {
			case a.republished <- struct{}{}:
			default: // it is known
			}
		}
		return nil
	}}
}
