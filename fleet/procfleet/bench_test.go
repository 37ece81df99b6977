//go:build linux

package procfleet

import (
	"fmt"
	"os"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/process"
)

// One look at n machines that are up, as Run takes four times a second.
func BenchmarkLook(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f, err := open(b.Context(), b.TempDir(), Options{Command: script(sleeper), Clock: clock.RealClock{}})
			if err != nil {
				b.Fatal(err)
			}
			leader, err := process.Lookup(os.Getpid()) // it is only looked at
			if err != nil {
				b.Fatal(err)
			}
			for range n {
				r := record{ID: newID(), State: "up", LaunchedAt: time.Now(), Boot: f.boot, Leader: leader}
				if err := f.disk.add(r); err != nil {
					b.Fatal(err)
				}
			}
			run := newRunner(f)
			for b.Loop() {
				if _, err := run.look(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
