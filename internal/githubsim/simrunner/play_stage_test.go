//go:build unix

package simrunner

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/githubsim"
)

// stage is a GitHub and a runner program in one process, in virtual time.
type stage struct {
	hub    *githubsim.Hub
	dir    string
	config string
	start  time.Time
	draw   float64

	said    chan cue // by the program
	code    chan int
	signals chan os.Signal
	wire    *wire // of the listener
	alive   *atomic.Bool
	ended   bool
	jobs    int

	mu     sync.Mutex
	worker func() // kills it
	rest   sync.WaitGroup
}

// The server of the plays held a poll for 50 s, gave tokens for less than two polls, and ended a session that was
// silent for between two and five minutes.
func newStage(t *testing.T, draw float64) *stage {
	s := &stage{dir: t.TempDir(), start: time.Now(), draw: draw, said: make(chan cue, 100)}
	s.hub = githubsim.New(githubsim.Options{
		Clock: clock.RealClock{}, URL: "http://127.0.0.1/octo/repo", PollWait: 50 * time.Second, OnlineFor: time.Minute,
		AccessFor: 90 * time.Second, SessionTimeout: 4 * time.Minute, Latency: githubsim.Latency{Session: 200 * time.Millisecond},
	})
	jit, err := s.hub.JITConfig(t.Context(), "r1", "lab")
	if err != nil {
		t.Fatal(err)
	}
	s.config = jit.Config
	return s
}

func (s *stage) since() time.Duration { return time.Since(s.start) }

// begin starts the program.
func (s *stage) begin() {
	timing := RealTiming()
	timing.Draw = func() float64 { return s.draw }
	alive := &atomic.Bool{}
	alive.Store(true)
	s.ended, s.alive, s.wire = false, alive, &wire{handler: githubsim.Handler(s.hub, "")}
	s.code, s.signals = make(chan int, 1), make(chan os.Signal)
	p := &Program{
		Dir: s.dir, Env: []string{inputPrefix + "JITCONFIG=" + s.config, deprecatedEnv + "=1"},
		Stdout: stream{s, alive, "out"}, Stderr: stream{s, alive, "ERR"}, Signals: s.signals,
		Client: &http.Client{Transport: s.wire, Timeout: callTimeout}, Clock: clock.RealClock{}, Timing: timing, spawn: s.spawn,
	}
	code := s.code
	s.rest.Go(func() { code <- p.Main(context.Background(), []string{"run"}) })
}

// spawn starts a worker, which lives on without its listener, but for its own kill.
func (s *stage) spawn(p *Program) (*workerProcess, error) {
	in, orders := io.Pipe()
	ended := make(chan struct{})
	var once sync.Once
	code := -1
	end := func(c int) { once.Do(func() { code = c; close(ended) }) }
	alive := s.alive
	w := &Program{
		Dir: p.Dir, Env: p.Env, Stdout: io.Discard, Stderr: io.Discard, Clock: p.Clock, Timing: p.Timing,
		Client: &http.Client{Transport: &wire{handler: s.wire.handler}, Timeout: callTimeout},
		start:  act, orphaned: func(int) bool { return !alive.Load() },
	}
	s.mu.Lock()
	s.worker = func() { end(-1) }
	s.mu.Unlock()
	s.rest.Go(func() {
		end(w.serve(in))
		in.Close()
	})
	return &workerProcess{
		orders: orders, ended: ended, code: func() int { return code }, output: func() string { return "" }, kill: func() { end(-1) },
	}, nil
}

// do does what a cue says.
func (s *stage) do(t *testing.T, c cue) {
	t.Helper()
	words := strings.Fields(c.text)
	var err error
	switch words[0] {
	case "signal":
		s.signal(t, words[1])
	case "kill":
		s.mu.Lock()
		kill := s.worker
		s.mu.Unlock()
		kill()
	case "submit":
		s.jobs++
		_, script, _ := strings.Cut(c.text, "--script ")
		name := fmt.Sprintf("job-%d", s.jobs)
		err = s.hub.Submit(githubsim.Job{ID: strconv.Itoa(s.jobs), Name: name, Label: "lab", Script: script})
	case "outage":
		var seconds int
		seconds, err = strconv.Atoi(words[2])
		s.hub.SetTrouble(githubsim.Service(words[4]), githubsim.Trouble(words[1]), time.Duration(seconds)*time.Second)
	case "delete":
		err = s.hub.Evict(1)
	case "conflict":
		var n int
		n, err = strconv.Atoi(words[1])
		s.hub.SetConflicts(n)
	case "deprecate", "deprecate-version":
		s.hub.SetDeprecated(true)
	case "expire":
		err = s.hub.Expire(1)
	case "update":
		err = s.hub.OfferUpdate(1, githubsim.Update{Version: "2.999.0", URL: "http://127.0.0.1/nothing.tar.gz"})
	case "1": // srv: id, name, label, run, state, conclusion, runner
		var rec githubsim.JobRecord
		rec, err = s.hub.Job("1")
		want := map[string]githubsim.Conclusion{
			"succeeded": githubsim.Success, "failed": githubsim.Failure, "canceled": githubsim.Cancelled,
		}[words[5]]
		if string(rec.State) != words[4] || rec.Conclusion != want || rec.Runner != words[6] {
			t.Errorf("GitHub holds %+v, want %s", rec, c.text)
		}
	default:
		t.Fatalf("cannot do %q", c.text)
	}
	if err != nil {
		t.Fatalf("%s: %v", c.text, err)
	}
}

// signal sends a signal to the program. What SIGKILL leaves in this process is cut off.
func (s *stage) signal(t *testing.T, name string) {
	t.Helper()
	switch name {
	case "SIGINT":
		s.signals <- syscall.SIGINT
	case "SIGTERM":
		s.signals <- syscall.SIGTERM
	case "SIGKILL":
		s.cut()
		s.code <- -9
	default:
		t.Fatalf("cannot send %s", name)
	}
}

// cut lets nothing of the program come through any more.
func (s *stage) cut() {
	s.alive.Store(false)
	s.wire.cut()
}

// next returns what the program says next.
func (s *stage) next(t *testing.T, want cue) cue {
	t.Helper()
	select {
	case c := <-s.said:
		return c
	case <-time.After(time.Hour):
		t.Fatalf("said nothing, want\n%s", want)
	}
	return cue{}
}

func (s *stage) exit(t *testing.T) int {
	t.Helper()
	select {
	case code := <-s.code:
		s.ended = true
		s.cut()
		return code
	case c := <-s.said:
		t.Fatalf("said before its end\n%s", c)
	case <-time.After(time.Hour):
		t.Fatal("does not end")
	}
	return 0
}

func (s *stage) left() (out []cue) {
	for len(s.said) > 0 {
		out = append(out, <-s.said)
	}
	return out
}

// close ends what a failed or cut play leaves.
func (s *stage) close() {
	s.cut()
	s.mu.Lock()
	if s.worker != nil {
		s.worker()
	}
	s.mu.Unlock()
	gone := make(chan struct{})
	go func() { s.rest.Wait(); close(gone) }()
	for { // gently, then at once
		select {
		case s.signals <- syscall.SIGTERM:
		case <-gone:
			time.Sleep(time.Hour) // what an ended program has left in this process gives up
			return
		}
	}
}

// stream is one output of the program. Blank lines are not in plays.
type stream struct {
	stage *stage
	alive *atomic.Bool
	kind  string
}

func (o stream) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		if text := strings.TrimSpace(string(line)); text != "" && o.alive.Load() {
			o.stage.said <- cue{o.stage.since(), o.kind, text}
		}
	}
	return len(b), nil
}

// wire carries requests to the handler without a network, until it is cut.
type wire struct {
	handler http.Handler
	mu      sync.Mutex
	severed bool
	calls   map[*http.Request]context.CancelFunc
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.severed = true
	for _, cancel := range w.calls {
		cancel()
	}
}

func (w *wire) RoundTrip(q *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(q.Context())
	defer cancel()
	w.mu.Lock()
	if w.calls == nil {
		w.calls = map[*http.Request]context.CancelFunc{}
	}
	severed := w.severed
	w.calls[q] = cancel
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		delete(w.calls, q)
		w.mu.Unlock()
	}()
	if severed {
		return nil, io.EOF
	}
	if q.Body == nil {
		q = q.Clone(ctx)
		q.Body = http.NoBody
	}
	type answer struct {
		resp *http.Response
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		defer func() {
			if recover() != nil { // http.ErrAbortHandler
				answered <- answer{err: io.ErrUnexpectedEOF}
			}
		}()
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, q.WithContext(ctx))
		answered <- answer{resp: rec.Result()}
	}()
	select {
	case a := <-answered:
		return a.resp, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// act stands for a shell that runs a step: a sleep, which a signal to the shell alone does not end; one that ignores
// signals; or anything that is done at once.
func act(cmd *exec.Cmd) (*stepProcess, error) {
	raw, err := os.ReadFile(cmd.Args[len(cmd.Args)-1])
	if err != nil {
		return nil, err
	}
	script := string(raw)
	ended, silent := make(chan error, 1), make(chan struct{})
	var once sync.Once
	end := func(err error) { once.Do(func() { ended <- err }) }
	seconds, sleeps := strings.CutPrefix(script, "sleep ")
	stubborn := strings.HasPrefix(script, "trap ")
	switch n, err := strconv.Atoi(strings.TrimSpace(seconds)); {
	case sleeps && err == nil:
		time.AfterFunc(time.Duration(n)*time.Second, func() { end(nil); close(silent) })
	case !stubborn:
		end(nil)
		close(silent)
	}
	return &stepProcess{ended: ended, silent: silent, signal: func(sig os.Signal) error {
		switch {
		case sig == syscall.SIGKILL:
			end(fmt.Errorf("signal: %s", sig))
			if stubborn {
				close(silent)
			}
		case sig == syscall.SIGTERM && !stubborn:
			end(fmt.Errorf("signal: %s", sig))
		}
		return nil
	}}, nil
}
