package awstest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/remuda-run/remuda/internal/awstest/awstools"
)

const host = "127.0.0.1"

const (
	// startLimit bounds the start of a service. Measured alone on two cores: 1 s to 3 s.
	startLimit = 90 * time.Second
	// probeLimit bounds one question whether it is there; the JVM's first answer takes up to 1 s.
	probeLimit = 5 * time.Second
	// startAttempts is how many ports are tried. Between choosing one and listening on it, another
	// process may take it.
	startAttempts = 3
)

// server is a service of which a test binary runs one process.
type server struct {
	tool    awstools.Tool
	command func(dir, port string) (args []string, workDir string, err error)
	probe   func() *http.Request // answered with 200 by a service that is ready

	mu       sync.Mutex
	asked    bool
	endpoint string
	err      error
	child    *child
}

// use returns the endpoint, or skips or fails the test. What it found once holds for the whole binary.
func (s *server) use(t testing.TB) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.asked {
		s.asked = true
		s.start(t.Context())
	}
	if s.err == nil {
		return s.endpoint
	}
	if s.child != nil { // it is installed but does not work
		t.Fatalf("start %s: %v", s.tool.Name, s.err)
	}
	leaveOut(t, s.tool, s.err)
	return ""
}

// leaveOut skips the test, or fails it where nothing may be left out, because tool is not installed.
func leaveOut(t testing.TB, tool awstools.Tool, err error) {
	t.Helper()
	if os.Getenv(EnvRequire) == "1" {
		t.Fatalf("%s: %v", tool.Name, err)
	}
	_ = os.Getenv(envRun) // go test must not take this result from its cache
	reason, _, _ := strings.Cut(err.Error(), "\n")
	t.Skipf("left out: %s: %s", tool.Name, reason)
}

// envRun differs in each run of `make test`. A test that reads it is not taken from go test's cache,
// which knows nothing of programs that were installed meanwhile.
const envRun = "REMUDA_TEST_RUN"

// start sets endpoint, or err. child is set if a process was started.
func (s *server) start(ctx context.Context) {
	dir, err := s.tool.Install(ctx)
	if err != nil {
		s.err = err
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("no answer within %s", startLimit))
	defer cancel()
	for range startAttempts {
		if s.err = s.attempt(ctx, dir); !errors.Is(s.err, errPortTaken) {
			return
		}
	}
}

var errPortTaken = errors.New("its port is taken")

// portTaken is what Java and Python both print then. ElasticMQ lives on, answering nobody.
const portTaken = "Address already in use"

func (s *server) attempt(ctx context.Context, dir string) error {
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	args, workDir, err := s.command(dir, port)
	if err != nil {
		return err
	}
	program, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	if s.child, err = spawn(program, args[1:], workDir); err != nil {
		return err
	}
	endpoint := "http://" + net.JoinHostPort(host, port)
	if err := s.await(ctx, endpoint); err != nil {
		s.child.stop()
		output := s.child.tail()
		if strings.Contains(output, portTaken) {
			err = errPortTaken
		}
		return fmt.Errorf("%w; %s wrote:\n%s", err, args[0], output)
	}
	s.endpoint = endpoint
	return nil
}

// await returns when the service answers, its process has ended or ctx has.
func (s *server) await(ctx context.Context, endpoint string) error {
	transport := &http.Transport{DisableKeepAlives: true}
	client := http.Client{Transport: transport, Timeout: probeLimit}
	pace := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(20*time.Millisecond), backoff.WithMaxInterval(500*time.Millisecond), backoff.WithMaxElapsedTime(0))
	probe := func() error {
		var answer error
		req := s.probe().WithContext(ctx)
		u := *req.URL
		u.Scheme, u.Host = "http", strings.TrimPrefix(endpoint, "http://")
		req.URL = &u
		resp, err := client.Do(req)
		if err != nil {
			answer = err
		} else {
			_, err = io.Copy(io.Discard, resp.Body)
			answer = errors.Join(err, resp.Body.Close())
			if resp.StatusCode != http.StatusOK {
				answer = fmt.Errorf("answers %s", resp.Status)
			}
		}
		select {
		case <-s.child.done: // another process answered
			return backoff.Permanent(fmt.Errorf("its process ended: %w", s.child.err))
		default:
			if strings.Contains(s.child.tail(), portTaken) {
				return backoff.Permanent(errPortTaken)
			}
			return answer
		}
	}
	err := backoff.Retry(probe, backoff.WithContext(pace, ctx))
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// stop ends the service.
func (s *server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.child != nil {
		s.child.stop()
		_ = s.child.output.Close() // nobody reads it any more
	}
}

// freePort returns a port on which nobody listens now.
func freePort(ctx context.Context) (string, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// jsonRequest is a call without arguments, signed by nobody: the services check no signature.
func jsonRequest(service, target string) *http.Request {
	req, err := http.NewRequest(http.MethodPost, "/", strings.NewReader("{}"))
	if err != nil {
		panic(err) // the arguments are constants
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", target)
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+AccessKey+"/20260101/"+Region+"/"+service+"/aws4_request, SignedHeaders=host, Signature=0")
	return req
}
