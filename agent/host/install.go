package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/remuda-run/remuda/agent/actionsrunner"
	"github.com/remuda-run/remuda/fleet/ec2fleet/userdata"
	"github.com/remuda-run/remuda/internal/awscfg"
	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/bucket"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim/simrunner"
)

// install makes the runner's folder, unless it is there: all of it or none, since an agent may die in
// between. A caller that comes while another is at it waits.
func (m *machine) install(ctx context.Context) error {
	if m.installing.Acquire(ctx, 1) != nil {
		why := context.Cause(ctx)
		if trouble := m.trouble.Load(); trouble != nil {
			why = *trouble
		}
		return fmt.Errorf("install runner of %s: %w: still at it: %w", m.id, githubapi.ErrUnavailable, why)
	}
	defer m.installing.Release(1)
	dir := filepath.Join(m.Dir, runnerFolder)
	if _, err := os.Stat(filepath.Join(dir, "bin", "Runner.Listener")); err == nil {
		return nil
	}
	if err := m.installIn(ctx, dir); err != nil {
		return fmt.Errorf("install runner of %s: %w", m.id, err)
	}
	return nil
}

// unpacked reports whether the image has the runner of a URL unpacked, as the script for images does it.
func (m *machine) unpacked(url, sum string) bool {
	if m.image == "" || url == "" {
		return false
	}
	mark, err := os.ReadFile(filepath.Join(m.image, userdata.RunnerMark))
	return err == nil && strings.EqualFold(strings.TrimSpace(string(mark)), sum)
}

func (m *machine) installIn(ctx context.Context, dir string) error {
	temp := dir + ".new"
	if err := errors.Join(os.RemoveAll(temp), os.Mkdir(temp, 0o700)); err != nil {
		return err
	}
	var err error
	switch c, arch := m.Config.Agent, config.NativeArch(); {
	case m.unpacked(c.RunnerURL.For(arch), c.RunnerSHA256.For(arch)):
		err = os.CopyFS(temp, os.DirFS(m.image))
	case c.RunnerURL.For(arch) != "":
		err = actionsrunner.Archive{
			URL: c.RunnerURL.For(arch), SHA256: c.RunnerSHA256.For(arch), Cache: m.cache, Clock: m.Clock, Log: m.Log, S3: object,
			OnFailure: func(err error) { m.trouble.Store(&err) },
		}.Unpack(ctx, temp)
	case c.RunnerDir != "":
		err = os.CopyFS(temp, os.DirFS(c.RunnerDir))
	default:
		err = simrunner.Install(temp, m.Exe)
	}
	if err == nil {
		err = dropVariables(temp)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	if err := m.give(temp, actionsrunner.Share); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(temp, dir)
}

// object opens s3://bucket/key with the role of this machine, in its region.
func object(ctx context.Context, url string) (io.ReadCloser, error) {
	cfg, err := awscfg.Load(ctx, "")
	if err != nil {
		return nil, err
	}
	name, key, _ := strings.Cut(strings.TrimPrefix(url, "s3://"), "/")
	body, err := bucket.Open(cfg, name).Read(ctx, key)
	if class := awserr.ClassOf(err); class == awserr.Denied || class == awserr.NotFound || class == awserr.Invalid {
		err = fmt.Errorf("%w: %w", githubapi.ErrRefused, err)
	}
	return body, err
}
