package githubapi_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubapi"
)

func share(s float64) func(*githubapi.Options) {
	return func(o *githubapi.Options) { o.RunsShare = s }
}

// budgeted is GitHub with a rate limit and lists that change now and then. It counts what it is asked.
type budgeted struct {
	mu        sync.Mutex
	limit     int
	remaining int
	reset     time.Time
	changes   float64 // how likely something changed since the last call
	version   map[string]int
	full      []time.Time // answered 200
	unchanged int
	points    []time.Time // of GETs
}

func (g *budgeted) answer(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		return reply(201, jitBody, map[string]string{"X-RateLimit-Resource": "actions_runner_registration"}), nil
	}
	time.Sleep(100 * time.Millisecond)
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if !now.Before(g.reset) {
		g.reset, g.remaining = now.Add(time.Hour), g.limit
	}
	g.points = append(g.points, now)
	if rand.Float64() < g.changes {
		g.version[r.URL.String()]++
	}
	tag := strconv.Itoa(g.version[r.URL.String()])
	code, body := 200, `{"id":1,"run_attempt":1}`
	if r.Header.Get("If-None-Match") == tag {
		g.unchanged++
		code, body = 304, ""
	} else {
		g.remaining--
		g.full = append(g.full, now)
	}
	return reply(code, body, map[string]string{
		"ETag": tag, "Date": now.UTC().Format(http.TimeFormat), "X-RateLimit-Resource": "core", "X-RateLimit-Limit": strconv.Itoa(g.limit),
		"X-RateLimit-Remaining": strconv.Itoa(g.remaining), "X-RateLimit-Reset": strconv.FormatInt(g.reset.Unix(), 10),
	}), nil
}

// mostWithin is how many of the instants, which are in order, lie within one span.
func mostWithin(span time.Duration, at []time.Time) int {
	most, from := 0, 0
	for i := range at {
		for at[i].Sub(at[from]) >= span {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

// watchFor goes through 20 runs of each of 10 repositories, again every 15 s or as soon as it is through, and says how often it
// was sent away.
func watchFor(t *testing.T, c *githubapi.Client, d time.Duration) (away int) {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	end := time.Now().Add(d)
	for i := range 10 {
		wg.Go(func() {
			time.Sleep(time.Duration(i) * time.Second)
			due := time.Now()
			for run := 0; time.Now().Before(end); {
				err := look(t, c, fmt.Sprintf("octo/app-%d", i), run)
				if at, throttled := githubapi.RetryAt(err); throttled {
					wait := time.Until(at)
					if wait <= 0 || wait > time.Hour {
						t.Errorf("RetryAt() is in %s, want a wait of at most an hour", wait)
					}
					mu.Lock()
					away++
					mu.Unlock()
					time.Sleep(min(wait, time.Until(end)))
					continue
				}
				if err != nil {
					t.Errorf("run %d: %v", run, err)
				}
				if run = (run + 1) % 21; run == 0 {
					due = due.Add(15 * time.Second)
					time.Sleep(time.Until(due))
				}
			}
		})
	}
	wg.Wait()
	return away
}

// look asks for the jobs of one of a repository's runs, or for 0 for all that are active.
func look(t *testing.T, c *githubapi.Client, repository string, run int) error {
	t.Helper()
	if run == 0 {
		_, err := c.ActiveRuns(t.Context(), repository)
		return err
	}
	_, err := c.WorkflowJobs(t.Context(), repository, int64(run), 1)
	return err
}

// However much 200 runs in 10 repositories change, no hour sees more than a tenth of the budget and no minute more than a tenth
// of its points, and what there is room for is used; registrations never wait.
func TestRunsShare_200Runs(t *testing.T) {
	for _, limit := range []int{5000, 12500} {
		for name, changes := range map[string]float64{"Quiet": 0.001, "Busy": 0.05, "Wild": 1} {
			t.Run(fmt.Sprint(limit, name), func(t *testing.T) {
				bubbletest.Run(t, func(t *testing.T) {
					g := &budgeted{limit: limit, changes: changes, version: map[string]int{}, remaining: limit, reset: time.Now().Add(25 * time.Minute)}
					c := offline(t, g.answer, 1500)
					go func() {
						for range 3600 {
							if _, err := c.JITConfig(t.Context(), "i-1-1", "1"); err != nil {
								t.Errorf("JITConfig() meanwhile error = %v", err)
							}
							time.Sleep(time.Second)
						}
					}()
					start := time.Now()
					away := watchFor(t, c, 90*time.Minute)
					hour, minute := mostWithin(time.Hour, g.full), mostWithin(time.Minute, g.points)
					t.Logf("%d answers in full and %d unchanged, at most %d in full an hour, %d points a minute, %d sent away", len(g.full), g.unchanged, hour, minute, away)
					if hour > limit/10 || minute > 90 {
						t.Errorf("%d answers in full in an hour, %d points in a minute, want at most %d and 90", hour, minute, limit/10)
					}
					if changes == 1 && hour < limit/10*8/10 {
						t.Errorf("%d answers in full in an hour, want most of the %d that there is room for", hour, limit/10)
					}
					if first := mostWithin(time.Minute, g.full[:min(len(g.full), 200)]); first > limit/10/12+limit/600+1 {
						t.Errorf("%d answers in full in a minute, want five minutes' worth at most at once", first)
					}
					if after := g.points[19].Sub(start); after > 10*time.Second {
						t.Errorf("20 calls were made after %s, want no wait at the start", after)
					}
				})
			})
		}
	}
}

// With a tenth of the budget left watching takes a tenth of that, until the budget is whole again.
func TestRunsShare_SlowsWhenTheBudgetIsLow(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		g := &budgeted{limit: 5000, changes: 1, version: map[string]int{}, remaining: 500, reset: time.Now().Add(time.Hour)}
		c := offline(t, g.answer, 1500)
		if _, err := c.Runners(t.Context()); err != nil { // whose headers count, too
			t.Fatal(err)
		}
		if at := roomAtOnce(t, c); at != 4 {
			t.Errorf("%d calls had room at once, want 4: five minutes' worth of a tenth of 500 an hour", at)
		}
		g.full = nil
		watchFor(t, c, 30*time.Minute)
		if low := len(g.full); low < 20 || low > 35 {
			t.Errorf("%d answers in full in half an hour, want near a tenth of 250", low)
		}
		for range 1500 {
			if _, err := c.JITConfig(t.Context(), "i-1-1", "1"); err != nil {
				t.Fatalf("JITConfig() meanwhile error = %v", err)
			}
		}
		time.Sleep(30 * time.Minute)
		g.full = nil
		watchFor(t, c, time.Hour)
		if whole := len(g.full); whole < 350 || whole > 500 {
			t.Errorf("%d answers in full after the reset, want nearly 500", whole)
		}
	})
}

// roomAtOnce is how many calls there is room for now.
func roomAtOnce(t *testing.T, c *githubapi.Client) int {
	t.Helper()
	for n := range 1000 {
		_, _, err := c.WorkflowRun(t.Context(), repo, 1)
		if _, throttled := githubapi.RetryAt(err); throttled {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return 1000
}

// Who has no room before the budget is whole again is told to come back then.
func TestRunsShare_NoRoomBeforeTheReset(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		reset := time.Now().Add(10 * time.Minute)
		g := &budgeted{limit: 5000, changes: 1, version: map[string]int{}, remaining: 5, reset: reset}
		c := offline(t, g.answer, 1500)
		if _, err := c.Runners(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := roomAtOnce(t, c); n != 1 { // a tenth of 24 an hour: the next in 25 min
			t.Errorf("%d calls had room at once, want 1", n)
		}
		_, _, err := c.WorkflowRun(t.Context(), repo, 1)
		if at, ok := githubapi.RetryAt(err); !ok || at.Before(reset) || at.After(reset.Add(2*time.Second)) {
			t.Errorf("RetryAt() = %s, %v, want the reset at %s", at, ok, reset)
		}
		if _, err := c.Runners(t.Context()); err != nil {
			t.Errorf("Runners() meanwhile error = %v", err)
		}
	})
}

// Nothing left stops watching until the reset, of which no answer tells: then the whole budget counts again.
func TestRunsShare_GoesOnAfterAnEmptyBudget(t *testing.T) {
	for s, longest := range map[float64]time.Duration{0.1: 0, 0.0024: 6 * time.Minute} { // the latter is 12 an hour, one at once
		bubbletest.Run(t, func(t *testing.T) {
			g := &budgeted{limit: 5000, version: map[string]int{}, remaining: 1, reset: time.Now().Add(10 * time.Minute)}
			c := offline(t, g.answer, 1500, share(s))
			if _, _, err := c.WorkflowRun(t.Context(), repo, 1); err != nil {
				t.Fatal(err)
			}
			_, _, err := c.WorkflowRun(t.Context(), repo, 1)
			checkKind(t, err, githubapi.ErrThrottled)
			at, ok := githubapi.RetryAt(err)
			if wait := time.Until(at); !ok || wait < 9*time.Minute || wait > 10*time.Minute {
				t.Fatalf("RetryAt() is in %s, want the reset", wait)
			}
			_, err = c.Runners(t.Context())
			checkKind(t, err, githubapi.ErrThrottled) // GitHub's own hold is of the whole budget
			time.Sleep(time.Until(at))
			if _, _, err = c.WorkflowRun(t.Context(), repo, 1); longest > 0 {
				at, ok := githubapi.RetryAt(err)
				if wait := time.Until(at); !ok || wait <= 0 || wait > longest {
					t.Fatalf("share %v: RetryAt() after the reset is in %s, %v, want %s at most", s, wait, ok, longest)
				}
				time.Sleep(time.Until(at))
				_, _, err = c.WorkflowRun(t.Context(), repo, 1)
			}
			if err != nil {
				t.Errorf("share %v: WorkflowRun() after the reset error = %v", s, err)
			}
		})
	}
}

// What has no room is not asked for, and holds nothing else; at the instant it is told, there is room for one call.
func TestRunsShare_NoRoomHoldsNothingElse(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		calls := 0
		c := offline(t, func(r *http.Request) (*http.Response, error) {
			calls++
			if strings.HasSuffix(r.URL.Path, "/generate-jitconfig") {
				return reply(201, jitBody, nil), nil
			}
			return reply(200, `{"id":1,"run_attempt":1}`, nil), nil
		}, 1500, share(0.012)) // 60 an hour: 5 at once, then one in 65 s
		run := func() error { _, _, err := c.WorkflowRun(t.Context(), repo, 1); return err }
		for range 5 {
			if err := run(); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 {
			calls = 0
			err := run()
			checkKind(t, err, githubapi.ErrThrottled)
			at, ok := githubapi.RetryAt(err)
			if wait := time.Until(at); !ok || calls != 0 || wait < 65*time.Second || wait > 66*time.Second {
				t.Fatalf("RetryAt() is in %s after %d calls, want 65.5 s after none", wait, calls)
			}
			_, jit := c.JITConfig(t.Context(), "i-1-1", "1")
			_, list := c.Runners(t.Context())
			if err := errors.Join(jit, list, c.DeleteRunner(t.Context(), 1), c.RerunJob(t.Context(), repo, 1)); err != nil {
				t.Errorf("other calls meanwhile: %v", err)
			}
			time.Sleep(time.Until(at))
			if err := run(); err != nil {
				t.Fatalf("WorkflowRun() when there is room error = %v", err)
			}
		}
	})
}

// A call that is under way counts until its answer tells that it was free; a lost reply counts as one in full.
func TestRunsShare_CallsUnderWay_AndLostReplies(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		lost := false
		c := offline(t, func(r *http.Request) (*http.Response, error) {
			time.Sleep(500 * time.Millisecond)
			if lost {
				return nil, errors.New("connection reset")
			}
			if r.Header.Get("If-None-Match") != "" {
				return reply(304, "", nil), nil
			}
			return reply(200, `{"id":1,"run_attempt":1}`, map[string]string{"ETag": `"1"`}), nil
		}, 1500, share(0.012))
		run := func() error { _, _, err := c.WorkflowRun(t.Context(), repo, 1); return err }
		atOnce := func(n int) (made int, back []time.Duration) {
			var mu sync.Mutex
			var wg sync.WaitGroup
			for range n {
				wg.Go(func() {
					err := run()
					at, throttled := githubapi.RetryAt(err)
					mu.Lock()
					defer mu.Unlock()
					if !throttled {
						made++
						return
					}
					back = append(back, time.Until(at))
				})
			}
			wg.Wait()
			return made, back
		}
		if err := run(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour) // room for five again
		for range 4 {
			made, back := atOnce(20)
			if made != 5 {
				t.Errorf("%d calls were made at once, want 5", made)
			}
			slices.Sort(back) // the first once those under way are answered, the others as 10 points a minute allow
			for i, in := range back {
				if want := time.Second + time.Duration(i)*6*time.Second; in != want {
					t.Errorf("RetryAt() is in %s for the one that is sent away as number %d, want %s", in, i, want)
				}
			}
			time.Sleep(2 * time.Minute)
		}
		for range 15 { // unchanged, one after another: free
			if err := run(); err != nil {
				t.Errorf("WorkflowRun() unchanged error = %v", err)
			}
			time.Sleep(6 * time.Second)
		}
		time.Sleep(time.Minute)
		lost = true
		for range 5 {
			checkKind(t, run(), githubapi.ErrUnavailable)
		}
		checkKind(t, run(), githubapi.ErrThrottled)
	})
}

// GitHub's secondary limit, met by watching, holds everything, as any other call's does.
func TestRunsShare_ASecondaryLimitHoldsAll(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := offline(t, func(*http.Request) (*http.Response, error) {
			return reply(403, `{"message":"slow down"}`, map[string]string{"Retry-After": "30"}), nil
		}, 1500)
		_, err := c.ActiveRuns(t.Context(), repo)
		checkKind(t, err, githubapi.ErrThrottled)
		want, _ := githubapi.RetryAt(err)
		_, jit := c.JITConfig(t.Context(), "i-1-1", "1")
		for _, err := range []error{jit, c.DeleteRunner(t.Context(), 1), c.CancelRun(t.Context(), repo, 1)} {
			checkKind(t, err, githubapi.ErrThrottled)
			if at, ok := githubapi.RetryAt(err); !ok || !at.Equal(want) || time.Until(at) != 30*time.Second {
				t.Errorf("RetryAt() = %s, %v, want %s", at, ok, want)
			}
		}
	})
}

func TestNew_RunsShare(t *testing.T) {
	for _, s := range []float64{-0.1, 1.01, math.NaN(), math.Inf(1)} {
		o := options("https://github.com/octo", "", nil)
		o.RunsShare = s
		if _, err := githubapi.New(o); err == nil || !strings.Contains(err.Error(), "runs share must be 0 to 1, got ") {
			t.Errorf("New() with share %v error = %v", s, err)
		}
	}
}
