//go:build unix

package simrunner_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/githubsim/simrunner"
)

// patience bounds every wait of a test; none comes near it unless something is broken.
const patience = time.Minute

// soon are pauses that no test waits for.
var soon = simrunner.Span{Least: time.Millisecond, Most: 2 * time.Millisecond}

// world is a GitHub behind HTTP.
type world struct {
	*githubsim.Hub
	server *httptest.Server
	client *http.Client
	timing simrunner.Timing // of the programs that start runs
}

func newWorld(t *testing.T, o githubsim.Options) *world {
	t.Helper()
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	h := githubsim.New(o)
	w := &world{
		Hub: h, server: httptest.NewServer(githubsim.Handler(h, "control")),
		timing: simrunner.Timing{
			SessionRetry: 10 * time.Millisecond, ConflictLimit: 80 * time.Millisecond,
			Resend: time.Millisecond, Repeat: soon, Poll: soon, LongPoll: soon, Draw: rand.Float64,
			Interrupt: 200 * time.Millisecond, Terminate: 200 * time.Millisecond, Post: patience,
		},
	}
	h.SetURL(w.server.URL + "/octo/repo")
	w.client = &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		w.client.CloseIdleConnections()
		w.server.CloseClientConnections()
		w.server.Close()
	})
	return w
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// jit registers a runner for one job and returns its encoded configuration.
func (w *world) jit(t *testing.T, name, label string) string {
	t.Helper()
	j, err := w.JITConfig(t.Context(), name, label)
	must(t, err)
	return j.Config
}

func (w *world) token(t *testing.T) string {
	t.Helper()
	tok, err := w.RegistrationToken(t.Context())
	must(t, err)
	return tok.Value
}

func (w *world) submit(t *testing.T, j githubsim.Job) {
	t.Helper()
	must(t, w.Submit(j))
}

// completed waits for a job's end.
func (w *world) completed(t *testing.T, id string) githubsim.JobRecord {
	t.Helper()
	rec, err := w.Wait(bounded(t), id)
	must(t, err)
	return rec
}

// concluded judges the conclusion of a job, once it is completed.
func (w *world) concluded(t *testing.T, id string, want githubsim.Conclusion) {
	t.Helper()
	if got := w.completed(t, id).Conclusion; got != want {
		t.Errorf("conclusion of job %s = %s, want %s", id, got, want)
	}
}

// await waits until something of the hub holds.
func (w *world) await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	if err := w.Until(bounded(t), cond); err != nil {
		t.Fatalf("wait until %s: %v", what, err)
	}
}

func (w *world) state(id string) githubsim.JobState {
	rec, err := w.Job(id)
	if err != nil {
		return ""
	}
	return rec.State
}

// text collects output and lets tests wait for it.
type text struct {
	mu      sync.Mutex
	all     strings.Builder
	changed chan struct{}
}

func newText() *text { return &text{changed: make(chan struct{})} }

func (x *text) Write(b []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	close(x.changed)
	x.changed = make(chan struct{})
	return x.all.Write(b)
}

func (x *text) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.all.String()
}

// has judges what was written so far.
func (x *text) has(t *testing.T, part string) {
	t.Helper()
	if !strings.Contains(x.String(), part) {
		t.Errorf("no %q in:\n%s", part, x)
	}
}

func (x *text) await(t *testing.T, part string) {
	t.Helper()
	ctx := bounded(t)
	for {
		x.mu.Lock()
		found, changed := strings.Contains(x.all.String(), part), x.changed
		x.mu.Unlock()
		if found {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("no %q in:\n%s", part, x)
		}
	}
}

// started is a runner program under way in this process.
type started struct {
	out, err *text
	stop     context.CancelFunc
	code     chan int
}

// start starts the program with times short enough for tests.
func (w *world) start(t *testing.T, dir string, env []string, args ...string) *started {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &started{out: newText(), err: newText(), stop: cancel, code: make(chan int, 1)}
	p := &simrunner.Program{
		Dir: dir, Exe: os.Args[0], Env: append(env, "GORACE=atexit_sleep_ms=0"), Stdout: s.out, Stderr: s.err, Client: w.client, Clock: clock.RealClock{}, Timing: w.timing,
	}
	go func() { s.code <- p.Main(ctx, args) }()
	t.Cleanup(func() { s.exit(t) })
	return s
}

// exit stops the program if it still runs, and returns its exit code.
func (s *started) exit(t *testing.T) int {
	t.Helper()
	s.stop()
	return s.ended(t)
}

// ended waits for the program to end by itself.
func (s *started) ended(t *testing.T) int {
	t.Helper()
	select {
	case code := <-s.code:
		s.code <- code
		return code
	case <-time.After(patience):
		t.Fatalf("program does not end; output:\n%s%s", s.out, s.err)
		return -1
	}
}
