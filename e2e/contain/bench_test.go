package contain

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/attack"
)

// BenchmarkRelease is the price of a release at N = 1 and level full, from the order to stop the listener until the
// machine is clean: where jobs may write no files, where they may write 100,000, and where the job leaves 20,000 processes
// whose parent has ended. The sides take turns, so that a busy computer is as busy for all. It reports the best time of each side, and
// the median: what other programs take of the processors is not the cost of a release.
func BenchmarkRelease(b *testing.B) {
	type side struct {
		name    string
		files   int
		orphans int
		world   *world
		job     string
		took    []time.Duration
		pooled  []time.Duration // from the end of the job, with which the agent begins to end what is left, until the instance is idle
	}
	sides := []*side{{name: "none"}, {name: "100000-files", files: 100_000}, {name: "20000-orphans", orphans: 20_000}}
	for _, s := range sides {
		root := b.TempDir()
		s.world = newWorld(b, "REMUDA_ROOT="+root)
		s.world.Check(errors.Join(os.Chmod(filepath.Dir(root), 0o755), os.Chmod(root, 0o755))) // both users enter
		s.world.cache(root, s.files)
		s.job = "true"
		if s.orphans > 0 {
			s.job = s.world.orphans(b, s.orphans)
		}
	}
	for i := 0; b.Loop(); i++ {
		for _, s := range sides {
			s.world.until("the process table has room", func() bool { return s.world.zombies() == 0 })
			run := strconv.Itoa(100 + i)
			machine := s.world.request(run)
			s.world.job(run, s.job)
			began := time.Now()
			s.world.release(run)
			s.pooled = append(s.pooled, time.Since(began))
			s.world.clean(machine)
			s.took = append(s.took, s.world.cleaned(machine))
		}
	}
	for _, s := range sides {
		slices.Sort(s.took)
		slices.Sort(s.pooled)
		b.ReportMetric(float64(s.pooled[len(s.pooled)/2].Microseconds())/1000, "pooled-ms/"+s.name)
		b.ReportMetric(float64(s.took[0].Microseconds())/1000, "best-ms/"+s.name)
		b.ReportMetric(float64(s.took[len(s.took)/2].Microseconds())/1000, "median-ms/"+s.name)
	}
}

// orphans is a job that leaves processes whose parent has ended.
func (w *world) orphans(b *testing.B, n int) string {
	w.Helper()
	lines, hostile := attack.Listen(b), filepath.Join(w.programs, "hostile")
	attack.Build(b, hostile)
	return fmt.Sprintf("'%s' leave -line %s -name orphans -kind orphans -wide %d", hostile, lines.Address(), n)
}

// cache makes files that jobs may write, a hundred in each folder.
func (w *world) cache(root string, files int) {
	w.Helper()
	for i := range files {
		dir := filepath.Join(root, "opt/cache", fmt.Sprintf("package-%d", i/100))
		if i%100 == 0 {
			w.Check(errors.Join(os.MkdirAll(dir, 0o755), os.Lchown(dir, w.user.UID, w.user.GID)))
		}
		file := filepath.Join(dir, fmt.Sprintf("module-%d.js", i%100))
		w.Check(errors.Join(os.WriteFile(file, nil, 0o644), os.Lchown(file, w.user.UID, w.user.GID)))
	}
}

// cleaned is how long the last release of a machine took, as its agent's log tells.
func (w *world) cleaned(machine string) time.Duration {
	w.Helper()
	took := time.Duration(-1)
	for line := range strings.Lines(w.log(machine)) {
		var said struct {
			Msg     string  `json:"msg"`
			Run     string  `json:"request_id"`
			Seconds float64 `json:"elapsed_seconds"`
		}
		w.Check(json.Unmarshal([]byte(line), &said))
		if said.Msg == "machine ready for assignment" && said.Run == "" {
			took = time.Duration(said.Seconds * float64(time.Second))
		}
	}
	if took < 0 {
		w.Fatalf("machine %s was never cleaned", machine)
	}
	return took
}
