package soak

import (
	"context"
	crand "crypto/rand"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/witness"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/dynamostore"
	"github.com/remuda-run/remuda/store/sqlitestore"
)

// soak is an installation that is disturbed while it works.
type soak struct {
	program.T
	site
	rng     *rand.Rand // of the faults
	probes  atomic.Int64
	beside  atomic.Bool // there are two faults at once
	seed    uint64
	began   time.Time
	disks   map[string]*disk // by what lies on them; none where they cannot be filled
	gitHub  program.GitHub
	store   *store.Store
	witness *witness.Witness

	controllers []*unit
	clients     clients
	work        work
	ledger      ledger
	stopped     chan struct{} // closed when no new run may begin
	workers     sync.WaitGroup
}

// source is one that two faults may draw from at once.
type source struct {
	mu  sync.Mutex
	src rand.Source
}

// Uint64 implements rand.Source.
func (s *source) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.src.Uint64()
}

// site is where the installation is.
type site struct {
	program.Fleet
	dir     string   // logs, and the traces of jobs
	db      string   // folder of the store's file
	environ []string // of every process
}

const (
	// patience is how long one thing may take on a busy machine whose parts are being killed.
	patience = 4 * time.Minute
	// commandTimeout is what the commands are told, which then say more.
	commandTimeout = "210s"
	// witnessGrace is how long an instance may outlive its threshold here: the agents' grace, while
	// nobody leads and a reader waits for its turn.
	witnessGrace = 45 * time.Second
	// silence is after how long GitHub gives up a runner; one that is only stopped comes back before.
	silence = "30s"
)

// backend is where an installation keeps its records.
type backend struct {
	name string
	// urls returns the settings of store and pool, more of the environment, and what opens the table beside
	// the controllers.
	urls func(*soak) (settings string, env []string, open func(context.Context) (store.Table, error))
}

var embedded = backend{"embedded", func(s *soak) (string, []string, func(context.Context) (store.Table, error)) {
	path := filepath.Join(s.db, "remuda.db")
	return "store: sqlite://" + path + "\n", nil, func(ctx context.Context) (store.Table, error) {
		return sqlitestore.Open(ctx, &url.URL{Scheme: "sqlite", Path: path}, clock.RealClock{})
	}
}}

var aws = backend{"aws", func(s *soak) (string, []string, func(context.Context) (store.Table, error)) {
	dynamo, moto := awstest.DynamoDBLocal(s), awstest.Moto(s)
	name := "soak-" + strings.ToLower(crand.Text()[:10])
	settings := fmt.Sprintf("name: %s\nstore: dynamodb://%[1]s?region=%s\npool: sqs://%[1]s?region=%[2]s\n", name, awstest.Region)
	env := awstest.Env(map[string]string{"dynamodb": dynamo, "sqs": moto, "sts": moto, "iam": moto})
	return settings, env, func(ctx context.Context) (store.Table, error) {
		return dynamostore.Open(ctx, &url.URL{Scheme: "dynamodb", Host: name}, awstest.Config(s, dynamo), clock.RealClock{}, slog.New(slog.DiscardHandler))
	}
}}

// newSoak makes an installation: folders, on disks of their own where that is possible, a simulated
// GitHub, a configuration.
func newSoak(t testing.TB, on backend, seed uint64) *soak {
	t.Helper()
	s := &soak{T: program.T{TB: t}, seed: seed, began: time.Now(), rng: rand.New(&source{src: rand.NewPCG(seed, 0)}), disks: map[string]*disk{}, stopped: make(chan struct{})}
	s.ledger.init(on.name)
	s.dir = t.TempDir()
	s.db, s.Fleet = filepath.Join(s.dir, "db"), program.Fleet(filepath.Join(s.dir, "fleet"))
	for _, folder := range []string{s.db, string(s.Fleet), s.traces()} {
		s.Check(os.Mkdir(folder, 0o700))
	}
	s.environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "REMUDA_CONFIG=" + filepath.Join(s.dir, "remuda.yaml")}
	urls, env, open := on.urls(s) // may leave the test out
	if on.name == embedded.name {
		s.mount("store", s.db)
	}
	s.mount("fleet", string(s.Fleet))
	t.Cleanup(s.tails)

	s.gitHub = program.Start(t, program.Command{
		Name: "github", Args: []string{"dev", "github", "--silence", silence}, Dir: s.dir, Env: s.environ, Patience: patience,
	}).GitHub()
	s.environ = append(append(s.environ, env...), "REMUDA_SIMULATED_TOKEN="+s.gitHub.Token)
	settings, err := os.ReadFile(filepath.Join("testdata", "remuda.yaml"))
	s.Check(err)
	settings = fmt.Appendf(settings, "%sfleet: process://%s\n%s", urls, s.Fleet, s.gitHub.Settings)
	s.Check(os.WriteFile(filepath.Join(s.dir, "remuda.yaml"), settings, 0o600))
	if out, code := s.run("init"); code != 0 {
		t.Fatalf("remuda init: exit code %d: %s", code, out)
	}
	s.watch(open)
	t.Cleanup(s.endMachines)
	return s
}

// watch opens the store beside the controllers. A look may fail while a disk is full or a stopped process
// holds a lock; what must be seen in the end is seen by the judge.
func (s *soak) watch(open func(context.Context) (store.Table, error)) {
	s.Helper()
	table, err := open(s.Context())
	s.Check(err)
	s.store = store.New(table)
	s.witness = witness.New(s.store, witnessGrace)
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			start := time.Now()
			err := s.witness.Look(ctx)
			took := time.Since(start)
			if err == nil {
				s.ledger.read(took)
			} else if ctx.Err() == nil {
				s.ledger.count("looks of the witness that failed")
			}
			select { // a third of the time at most: others need the table, too
			case <-ctx.Done():
			case <-time.After(max(20*time.Millisecond, 2*took)):
			}
		}
	}()
	s.Cleanup(func() {
		cancel()
		<-done
		if err := table.Close(); err != nil {
			s.Error(err)
		}
	})
}

// until waits for a condition that other processes bring about.
func (s *soak) until(what string, cond func() bool) bool {
	s.Helper()
	err := program.Until(patience, what, cond)
	if err != nil {
		s.Error(err)
	}
	return err == nil
}

// begin starts two controllers and the workload.
func (s *soak) begin() {
	s.Helper()
	for _, name := range []string{"controller-a", "controller-b"} {
		s.controllers = append(s.controllers, s.keep(name, "controller"))
	}
	if !s.until("a controller leads", func() bool { return s.leader() != nil }) {
		s.FailNow()
	}
	for i := range workers {
		s.workers.Go(func() { s.worker(i) })
	}
	s.Cleanup(s.rest)
}
