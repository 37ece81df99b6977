package soak

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// workers is how many workflows run side by side.
const workers = 3

// client is a command of a workflow that runs now.
type client struct {
	cmd    *exec.Cmd
	name   string
	killed bool
}

// clients are those that run now.
type clients struct {
	mu  sync.Mutex
	all []*client
}

// work is what was asked for.
type work struct {
	mu       sync.Mutex
	requests []string
	jobs     []string
}

func (w *work) asked(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, id)
}

// run runs a command of the operator's, which no fault strikes.
func (s *soak) run(args ...string) (string, int) {
	out, code, _ := s.command(false, args...)
	return out, code
}

// command runs a command of a workflow, which may be struck, and reports whether it was killed.
func (s *soak) command(mayDie bool, args ...string) (out string, code int, killed bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.Context()), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program.Binary, args...)
	var text bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, s.environ, &text, &text
	if err := cmd.Start(); err != nil {
		return err.Error(), -1, false
	}
	c := &client{cmd: cmd, name: strings.Join(args[:min(3, len(args))], " ")}
	if mayDie {
		s.clients.add(c)
		defer s.clients.remove(c)
	}
	err := cmd.Wait()
	s.clients.mu.Lock()
	defer s.clients.mu.Unlock()
	if err != nil && cmd.ProcessState == nil {
		return err.Error(), -1, c.killed
	}
	return text.String(), cmd.ProcessState.ExitCode(), c.killed
}

func (c *clients) add(one *client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, one)
}

func (c *clients) remove(one *client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = slices.DeleteFunc(c.all, func(o *client) bool { return o == one })
}

// worker plays one workflow run after the other.
func (s *soak) worker(i int) {
	rng := rand.New(rand.NewPCG(s.seed, uint64(i)+1))
	for n := 1; ; n++ {
		select {
		case <-s.stopped:
			return
		default:
		}
		s.workflow(fmt.Sprintf("run-%d-%d", i, n), 1+rng.IntN(2), rng.IntN(4), rng)
	}
}

// workflow is one run: request, jobs, release. A run whose request's command died is given back without
// jobs, as the action's last step does.
func (s *soak) workflow(id string, count, jobs int, rng *rand.Rand) {
	got := s.request(id, count)
	if got {
		var ids []string
		for j := range jobs {
			if job := fmt.Sprintf("%s-job-%d", id, j); s.submit(id, job, rng.Float64()/2) {
				ids = append(ids, job)
			}
		}
		for _, job := range ids {
			s.await(job)
		}
	}
	s.release(id, got)
	s.ledger.count("runs")
}

// slow is what an answer is worth a line from.
const slow = 15 * time.Second

// request asks for runners and waits. A command that met a full disk is started again, as a workflow's
// owner would; it is the same request.
func (s *soak) request(id string, count int) (got bool) {
	s.work.asked(id)
	for {
		start := time.Now()
		out, code, killed := s.command(true, "request", "--id", id, "--count", fmt.Sprint(count), "--resource-class", "small", "--timeout", commandTimeout)
		switch {
		case code == 0:
			took := time.Since(start)
			s.ledger.answered(took)
			if took > slow {
				s.Logf("%7.2f s: request %s for %d was answered after %s", time.Since(s.began).Seconds(), id, count, took.Round(time.Millisecond))
			}
			return true
		case killed:
			return false
		case s.ledger.meets("", start, time.Now()):
			s.ledger.count("requests that failed while a disk was full")
			s.Logf("request %s while a disk was full: exit code %d: %s", id, code, last(out))
			if code != 1 { // answered; 1: it could not be asked
				return false
			}
		default:
			s.Errorf("request %s: exit code %d after %s: %s", id, code, time.Since(start).Round(time.Millisecond), out)
			return false
		}
	}
}

// release gives a run back, until that is done.
func (s *soak) release(id string, asked bool) {
	for deadline := time.Now().Add(patience); ; {
		start := time.Now()
		out, code, killed := s.command(true, "release", "--id", id, "--timeout", commandTimeout)
		switch {
		case code == 0 || code == 3 && !asked: // not found: the request's command died before it wrote
			return
		case time.Now().After(deadline) || !killed && !s.ledger.meets("", start, time.Now()):
			s.Errorf("release %s: exit code %d after %s: %s", id, code, time.Since(start).Round(time.Millisecond), out)
			return
		}
	}
}

// last returns the last line of an output.
func last(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}

func (s *soak) traces() string { return filepath.Join(s.dir, "traces") }

// submit queues a job that leaves a trace each time that it runs: the folder in which it does.
func (s *soak) submit(run, id string, seconds float64) bool {
	script := fmt.Sprintf("pwd >> '%s'\nsleep %.2f\n", filepath.Join(s.traces(), id), seconds)
	job := githubsim.Job{ID: id, RunID: run, Label: run, Name: id, Script: script}
	var rec githubsim.JobRecord
	if err := s.call(http.MethodPost, "/jobs", job, &rec); err != nil {
		s.Errorf("submit job %s: %v", id, err)
		return false
	}
	s.work.mu.Lock()
	defer s.work.mu.Unlock()
	s.work.jobs = append(s.work.jobs, id)
	return true
}

// await waits until a job has ended.
func (s *soak) await(id string) {
	var rec githubsim.JobRecord
	if err := s.call(http.MethodGet, "/jobs/"+url.PathEscape(id)+"?wait=1", nil, &rec); err != nil {
		err = errors.Join(err, s.call(http.MethodGet, "/jobs/"+url.PathEscape(id), nil, &rec))
		s.Errorf("job %s is %s on %q and does not end: %v", id, rec.State, rec.InstanceID, err)
	}
}

// call speaks to the simulated GitHub.
func (s *soak) call(method, path string, in, out any) error {
	return s.gitHub.Call(s.Context(), patience, method, path, in, out)
}

// ran returns the machines on which a job ran, once for each time.
func (s *soak) ran(id string) (machines []string, err error) {
	text, err := os.ReadFile(filepath.Join(s.traces(), id))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for _, folder := range strings.Fields(string(text)) {
		below, _ := strings.CutPrefix(folder, s.Machine("")+"/")
		machine, _, _ := strings.Cut(below, "/")
		machines = append(machines, machine)
	}
	return machines, err
}

// rest lets no new run begin and waits for those that are under way. It may be called again.
func (s *soak) rest() {
	select {
	case <-s.stopped:
	default:
		close(s.stopped)
	}
	s.workers.Wait()
}
