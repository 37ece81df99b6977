package bubbletest

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// Without the one processor this crashes inside the race detector within its first rounds.
func TestRun_TimersOfManyGoroutines(t *testing.T) {
	Run(t, func(t *testing.T) {
		if n := runtime.GOMAXPROCS(0); raceDetector && n != 1 {
			t.Errorf("%d processors in a bubble, want 1", n)
		}
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for range 200 {
					for range 100 {
						timer := time.NewTimer(0)
						select {
						case <-timer.C:
						default:
						}
					}
					done := make(chan struct{})
					time.AfterFunc(time.Duration(g), func() { close(done) })
					<-done
				}
			})
		}
		wg.Wait()
	})
}

func TestProcessors_AsBeforeAfterTheLastBubble(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	var p processors
	p.enter()
	p.enter()
	p.leave()
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Errorf("%d processors with one bubble left, want 1", n)
	}
	p.leave()
	if n := runtime.GOMAXPROCS(0); n != before {
		t.Errorf("%d processors after the last bubble, want %d", n, before)
	}
}
