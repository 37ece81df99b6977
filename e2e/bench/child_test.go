package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/bench"
	"github.com/remuda-run/remuda/internal/metrics"
	"github.com/remuda-run/remuda/store"
)

// childEnv makes the test binary act as another process: what it is to be, "controller", "scraped" (a controller with
// metrics), "agents" or "clients",
// and childDir and childCount where and for how many instances. Its life ends with its standard
// input.
const (
	childEnv   = "REMUDA_BENCH_CHILD"
	childDir   = "REMUDA_BENCH_DIR"
	childCount = "REMUDA_BENCH_COUNT"
)

func child(what string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // its end is all that counts
		cancel()
	}()
	var n int
	if _, err := fmt.Sscan(os.Getenv(childCount), &n); err != nil {
		return err
	}
	o := bench.Options{Dir: os.Getenv(childDir)}
	if what == "scraped" {
		o.Metrics = metrics.New([]string{bench.Class})
		go scrapes(ctx, o.Metrics)
	}
	if d := exported(); d != nil {
		o.Backends = &bench.Backends{Table: d.table}
	}
	w, err := bench.Open(ctx, o)
	if err != nil {
		return err
	}
	if what == "clients" {
		return waitingClients(ctx, w.Client, n)
	}
	if what == "agents" {
		return beatAll(ctx, w.Client, n)
	}
	return controller(ctx, w, n)
}

// spawn starts a child that ends with the benchmark, and returns what it prints.
func spawn(b *testing.B, what, dir string, n int) io.Reader {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+what, childDir+"="+dir, fmt.Sprintf("%s=%d", childCount, n))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	check(b, err)
	out, err := cmd.StdoutPipe()
	check(b, err)
	check(b, cmd.Start())
	b.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil && b.Context().Err() == nil {
			b.Errorf("%s: %v", what, err)
		}
	})
	return out
}

// beatAll writes the heartbeats of n instances, each every 5 s, until ctx ends.
func beatAll(ctx context.Context, s *store.Store, n int) error {
	const period = 5 * time.Second
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	began := time.Now()
	for done := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for due := int(time.Since(began).Seconds() / period.Seconds() * float64(n)); done < due; done++ {
			if err := bench.Beat(ctx, s, done%n); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// idleReport is what a controller tells of itself while nothing happens.
type idleReport struct {
	Filled  time.Duration // from the start until every record was looked at and every message received
	Before  usage         // the fleet is there, the controller is not
	After   usage         // once filled, after a collection of garbage
	Window  time.Duration // then, some seconds later
	CPU     time.Duration // used in it
	Usage   bench.Usage   // of the store, also
	PeakRSS float64       // MiB, since the start of the process
}

// usage is what a process takes, memory in MiB.
type usage struct {
	Heap, Sys, RSS float64
	Goroutines     int
}

const mib = 1 << 20

func usageNow() usage {
	runtime.GC()
	runtime.GC() // what finalizers freed
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{
		Heap: float64(m.HeapAlloc) / mib, Sys: float64(m.Sys) / mib, RSS: status("VmRSS"), Goroutines: runtime.NumGoroutine(),
	}
}

// status reads a value of proc_pid_status(5) in MiB; 0 where there is none.
func status(name string) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	var kib float64
	if _, after, found := strings.Cut(string(text), name+":"); found {
		if _, err := fmt.Sscan(after, &kib); err != nil {
			return 0
		}
	}
	return kib / 1024
}

// cpu returns the time that the process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// settled is when a controller is at rest: after its second scan, 10 s after the first.
const settled = 12 * time.Second

// window covers one poll of all vitals, which is at the first tick of 2 s after 15 s, and neither sweep
// nor scan, which are every 30 s and 3 min.
const window = 16 * time.Second

// controller runs a controller on n seeded instances, prints an idleReport and waits for ctx.
func controller(ctx context.Context, w *bench.World, n int) error {
	w.SeedFleet(n)
	out := idleReport{Before: usageNow(), Window: window}
	start := time.Now()
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	for w.Pool.Received.Load() < int64(n) { // each once: looked at, offered, received
		select {
		case err := <-done:
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
	out.Filled = time.Since(start)
	select {
	case err := <-done:
		return err
	case <-time.After(settled - time.Since(start)):
	}
	out.After = usageNow()
	asked, used := w.ByController.Usage(), cpu()
	select {
	case err := <-done:
		return err
	case <-time.After(window):
	}
	out.CPU, out.Usage = cpu()-used, w.ByController.Usage().Since(asked)
	out.PeakRSS = status("VmHWM")
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		return err
	}
	return <-done
}
