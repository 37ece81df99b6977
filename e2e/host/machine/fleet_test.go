//go:build linux

package machine

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/remuda-run/remuda/e2e/aws/hypervisor"
	"github.com/remuda-run/remuda/e2e/host/hosttest"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/s3sig"
)

// computers boots a machine for each instance of a simulated EC2, and ends it with its instance.
type computers struct {
	ec2     *ec2test.Server
	sts     *sts.Client
	role    string // ARN
	dir     string
	options hosttest.Options // of each, but for its folder and its metadata
	forges  atomic.Bool      // machines are given a secret key that is not theirs

	mu    sync.Mutex
	byID  map[string]*hosttest.Machine
	creds []aws.Credentials // of every machine
}

// look is how often EC2 is looked at.
const look = 200 * time.Millisecond

// run boots and ends machines until ctx ends, and then takes the power from those that are left.
func (c *computers) run(ctx context.Context, t testing.TB) error {
	var ending sync.WaitGroup
	defer ending.Wait()
	for ctx.Err() == nil {
		for _, i := range c.ec2.Instances() {
			m := c.machine(i.ID)
			switch {
			case m == nil && i.EndedAt.IsZero():
				started, err := c.start(ctx, i)
				if err != nil {
					return err
				}
				ending.Go(func() { // by its own power-off, which EC2 answers by its shutdown behaviour, or by ours
					<-started.Off()
					c.ec2.PowerOff(i.ID)
				})
				t.Logf("%s: %s boots", i.ID, i.Type)
			case m != nil && !i.EndedAt.IsZero():
				if err := m.Cut(); err != nil {
					return err
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(look):
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for id, m := range c.byID {
		errs = append(errs, m.Cut())
		if t.Failed() {
			t.Logf("%s\n%s", id, m.Story())
		}
	}
	return errors.Join(errs...)
}

func (c *computers) machine(id string) *hosttest.Machine {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byID[id]
}

// start boots an instance by its user data, with credentials of its role's session.
func (c *computers) start(ctx context.Context, i ec2test.Instance) (*hosttest.Machine, error) {
	session, err := c.sts.AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: aws.String(c.role), RoleSessionName: aws.String(i.ID)})
	if err != nil {
		return nil, fmt.Errorf("machine %s: %w", i.ID, err)
	}
	userData, err := base64.StdEncoding.DecodeString(i.UserData)
	if err != nil {
		return nil, fmt.Errorf("machine %s: user data: %w", i.ID, err)
	}
	c.mu.Lock()
	c.creds = append(c.creds, aws.Credentials{
		AccessKeyID: *session.Credentials.AccessKeyId, SecretAccessKey: *session.Credentials.SecretAccessKey, SessionToken: *session.Credentials.SessionToken,
	})
	c.mu.Unlock()
	if c.forges.Load() {
		session.Credentials.SecretAccessKey = aws.String("not" + *session.Credentials.SecretAccessKey)
	}
	meta := hypervisor.Metadata(i, session.Credentials)
	o := c.options
	o.Dir = filepath.Join(c.dir, i.ID)
	o.Metadata = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/latest/user-data" && r.Header.Get("X-Aws-Ec2-Metadata-Token") != "" {
			_, _ = w.Write(userData)
			return
		}
		meta.ServeHTTP(w, r)
	})
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	m, err := hosttest.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byID[i.ID] = m
	return m, nil
}

// allows reports whether a machine has signed a request to S3, whose signature is made anew; else what S3 answers.
func (c *computers) allows(r *http.Request) (status int, code string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	status, code = http.StatusForbidden, "InvalidAccessKeyId"
	for _, creds := range c.creds {
		if status, code = s3sig.Refusal(r, s3sig.Nothing, creds, awstest.Region, time.Now()); code == "" {
			break
		}
	}
	return status, code
}

// environment makes every unit of a machine find AWS where the tests have it, which a real instance knows by its region.
func environment(endpoints map[string]string) hosttest.File {
	var b strings.Builder
	b.WriteString("[Manager]\nDefaultEnvironment=")
	for service, url := range endpoints {
		fmt.Fprintf(&b, "AWS_ENDPOINT_URL_%s=%s ", strings.ToUpper(service), url)
	}
	return hosttest.File{Text: b.String() + "\n", Mode: 0o644}
}
