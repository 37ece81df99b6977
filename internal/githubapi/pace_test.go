package githubapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubapi"
)

// transport answers without a network, so that time in a bubble goes on.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func reply(code int, body string, header map[string]string) *http.Response {
	rec := httptest.NewRecorder()
	for k, v := range header {
		rec.Header().Set(k, v)
	}
	rec.WriteHeader(code)
	_, _ = rec.WriteString(body) // a recorder cannot fail
	return rec.Result()
}

const jitBody = `{"runner":{"id":5},"encoded_jit_config":"Yw=="}`

// offline returns a client whose calls all go to f.
func offline(t *testing.T, f transport, budget int, with ...func(*githubapi.Options)) *githubapi.Client {
	t.Helper()
	o := githubapi.Options{
		URL:                  "https://github.com/octo/repo",
		Token:                func(context.Context) (string, error) { return secret, nil },
		HTTPClient:           &http.Client{Transport: f},
		Clock:                clock.RealClock{},
		RegistrationsPer5Min: budget,
	}
	for _, w := range with {
		w(&o)
	}
	c, err := githubapi.New(o)
	if err != nil {
		t.Fatalf("New() error = %v", err)
	}
	return c
}

func TestPace_BurstAtOnce_ThenAtTheBudgetsRate(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		calls := 0
		c := offline(t, func(*http.Request) (*http.Response, error) {
			calls++
			return reply(201, jitBody, nil), nil
		}, 300) // one a second
		start := time.Now()
		for i := range 303 {
			if _, err := c.JITConfig(t.Context(), "i-1-"+strconv.Itoa(i), "1"); err != nil {
				t.Fatalf("JITConfig() #%d error = %v", i, err)
			}
			if i == 299 && time.Since(start) != 0 {
				t.Errorf("the first 300 took %s, want no wait", time.Since(start))
			}
		}
		if got := time.Since(start); got != 3*time.Second {
			t.Errorf("303 calls of 300 per 5 min took %s, want 3 s", got)
		}
		if calls != 303 {
			t.Errorf("made %d calls, want 303", calls)
		}
	})
}

func TestPace_FarTurnIsLeftToTheCaller(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := offline(t, func(*http.Request) (*http.Response, error) { return reply(201, jitBody, nil), nil }, 1)
		start := time.Now()
		if _, err := c.JITConfig(t.Context(), "i-1-1", "1"); err != nil {
			t.Fatalf("JITConfig() error = %v", err)
		}
		for range 3 { // refused turns must not push each other back
			_, err := c.JITConfig(t.Context(), "i-1-2", "1")
			checkKind(t, err, githubapi.ErrThrottled)
			if got, ok := githubapi.RetryAt(err); !ok || !got.Equal(start.Add(5*time.Minute)) {
				t.Errorf("RetryAt() = %s, %v, want 5 min after the start", got, ok)
			}
		}
		if time.Since(start) != 0 {
			t.Errorf("a turn 5 min off held the caller for %s", time.Since(start))
		}
		if err := c.DeleteRunner(t.Context(), 1); err != nil {
			t.Errorf("DeleteRunner() meanwhile error = %v, want nil: it has another budget", err)
		}
		time.Sleep(5 * time.Minute)
		if _, err := c.JITConfig(t.Context(), "i-1-2", "1"); err != nil {
			t.Errorf("JITConfig() in its turn error = %v", err)
		}
	})
}

func TestPace_WaitEndsWithTheCaller(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := offline(t, func(*http.Request) (*http.Response, error) { return reply(201, jitBody, nil), nil }, 100)
		for range 100 {
			if _, err := c.JITConfig(t.Context(), "i-1-1", "1"); err != nil {
				t.Fatalf("JITConfig() error = %v", err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.JITConfig(ctx, "i-1-2", "1") // its turn is in 3 s
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("JITConfig() error = %v, want DeadlineExceeded", err)
		}
	})
}

func TestPace_NoCallsWhileGitHubWantsNone(t *testing.T) {
	for _, tt := range []struct {
		name       string
		code       int
		header     map[string]string
		quiet      time.Duration
		everything bool // the other calls are held as well
	}{
		{"Reset", 403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "+90"}, 90 * time.Second, false},
		{"ResetHasPassed", 403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "+0"}, time.Second, false},
		{"SharedBudget", 403, map[string]string{
			"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "+90", "X-RateLimit-Resource": "core"}, 90 * time.Second, true},
		{"RetryAfter", 429, map[string]string{"Retry-After": "40"}, 40 * time.Second, true},
		{"HugeRetryAfter", 429, map[string]string{"Retry-After": "99999999999"}, time.Hour, true},
		{"Unsaid", 429, nil, time.Minute, true},
		{"FarReset", 429, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "+999999"}, time.Hour, false},
		{"LastOfTheBudget", 201, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "+30"}, 30 * time.Second, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				// GitHub's clock is an hour ahead: its reset instant is on that clock.
				server := func() time.Time { return time.Now().Add(time.Hour) }
				limited, calls := true, 0
				c := offline(t, func(r *http.Request) (*http.Response, error) {
					calls++
					if r.Method != http.MethodPost {
						return reply(204, "", nil), nil
					}
					if !limited {
						return reply(201, jitBody, nil), nil
					}
					h := map[string]string{"Date": server().UTC().Format(http.TimeFormat)}
					for k, v := range tt.header {
						if n, err := strconv.Atoi(v); err == nil && v[0] == '+' {
							v = strconv.FormatInt(server().Unix()+int64(n), 10)
						}
						h[k] = v
					}
					return reply(tt.code, jitBody, h), nil
				}, 1500)
				time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // headers have whole seconds
				start := time.Now()
				if _, err := c.JITConfig(t.Context(), "i-1-1", "1"); tt.code != 201 {
					checkKind(t, err, githubapi.ErrThrottled)
				} else if err != nil {
					t.Fatalf("JITConfig() error = %v", err)
				}
				limited = false
				time.Sleep(tt.quiet - 1)
				_, err := c.JITConfig(t.Context(), "i-1-2", "1")
				checkKind(t, err, githubapi.ErrThrottled)
				if got, ok := githubapi.RetryAt(err); !ok || !got.Equal(start.Add(tt.quiet)) {
					t.Errorf("RetryAt() = %s, %v, want %s after the start", got.Sub(start), ok, tt.quiet)
				}
				if calls != 1 {
					t.Errorf("made %d calls while none were wanted, want 0", calls-1)
				}
				err = c.DeleteRunner(t.Context(), 1)
				if held := errors.Is(err, githubapi.ErrThrottled); held != tt.everything || !held && err != nil {
					t.Errorf("DeleteRunner() meanwhile error = %v, want held: %v", err, tt.everything)
				}
				time.Sleep(1)
				if _, err := c.JITConfig(t.Context(), "i-1-3", "1"); err != nil {
					t.Errorf("JITConfig() afterwards error = %v, want nil", err)
				}
			})
		})
	}
}

// A secondary limit that says nothing is waited out for longer each time in a row, and calls under way at
// once count once (GitHub REST, "Rate limits": exponentially increasing).
func TestPace_UnsaidLimitsBackOff(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		limited := true
		c := offline(t, func(*http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			if limited {
				return reply(403, `{"message":"You have exceeded a secondary rate limit","documentation_url":"https://docs.github.com/x#secondary-rate-limits"}`, nil), nil
			}
			return reply(204, "", nil), nil
		}, 1500)
		hold := func() time.Duration {
			var wg sync.WaitGroup
			until := make([]time.Time, 5)
			for i := range until {
				wg.Go(func() {
					until[i], _ = githubapi.RetryAt(c.DeleteRunner(t.Context(), 1))
				})
			}
			wg.Wait()
			for _, at := range until[1:] {
				if !at.Equal(until[0]) {
					t.Errorf("calls at once are held until %s and %s", until[0], at)
				}
			}
			d := time.Until(until[0])
			time.Sleep(d)
			return d
		}
		for i, want := range []time.Duration{1, 2, 4, 8, 8} {
			if got := hold(); got != want*time.Minute {
				t.Errorf("limit %d in a row held calls for %s, want %d min", i+1, got, want)
			}
		}
		limited = false
		if err := c.DeleteRunner(t.Context(), 1); err != nil {
			t.Errorf("DeleteRunner() afterwards error = %v", err)
		}
		limited = true
		if got := hold(); got != time.Minute {
			t.Errorf("the first limit after a success held calls for %s, want 1 min", got)
		}
	})
}

// Where GitHub's answer does not say that it limits in any other way than by its message, it is no missing permission.
func TestPace_LimitThatOnlyItsMessageTells(t *testing.T) {
	for _, body := range []string{
		`{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`,
		`{"message":"You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry your request again later.",
		  "documentation_url":"https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"}`,
		`{"message":"API rate limit exceeded for installation ID 1."}`,
	} {
		bubbletest.Run(t, func(t *testing.T) {
			c := offline(t, func(*http.Request) (*http.Response, error) {
				return reply(403, body, map[string]string{"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "4000"}), nil
			}, 1500)
			start := time.Now()
			_, err := c.ActiveRuns(t.Context(), "octo/repo")
			checkKind(t, err, githubapi.ErrThrottled)
			if at, ok := githubapi.RetryAt(err); !ok || !at.Equal(start.Add(time.Minute)) {
				t.Errorf("%s: RetryAt() = %s, %v, want a minute after the start", body, at, ok)
			}
		})
	}
}

func TestCallTimeout_EndsACallThatHangs(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := offline(t, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, 1500)
		start := time.Now()
		err := c.DeleteRunner(t.Context(), 1)
		checkKind(t, err, githubapi.ErrUnavailable)
		if got := time.Since(start); got != githubapi.CallTimeout {
			t.Errorf("gave up after %s, want %s", got, githubapi.CallTimeout)
		}
		if want := "delete runner 1: github: unavailable: no answer within 5s"; fmt.Sprint(err) != want {
			t.Errorf("error = %v, want %s", err, want)
		}
	})
}

// What GitHub last said of the budget that most calls have; that of registrations, where it is another, is none of it.
func TestClient_Rate(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		header := map[string]string{}
		c := offline(t, func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				return reply(http.StatusCreated, jitBody, header), nil
			}
			return reply(http.StatusOK, `{"runners":[]}`, header), nil
		}, 100)
		list := func() {
			t.Helper()
			if _, err := c.Runners(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		list()
		if r := c.Rate(); r.Limit != 0 {
			t.Errorf("rate = %v before GitHub said any", r)
		}
		reset := time.Now().Add(31 * time.Minute)
		header["X-RateLimit-Resource"], header["X-RateLimit-Limit"], header["X-RateLimit-Remaining"] = "core", "5000", "4812"
		header["X-RateLimit-Reset"] = strconv.FormatInt(reset.Unix(), 10)
		list()
		header["X-RateLimit-Resource"], header["X-RateLimit-Remaining"] = "actions_runner_registration", "17"
		if _, err := c.JITConfig(t.Context(), "i-1", "77"); err != nil {
			t.Fatal(err)
		}
		if r := c.Rate(); r.Limit != 5000 || r.Remaining != 4812 || r.Reset.Unix() != reset.Unix() {
			t.Errorf("rate = %v, want 4812 of 5000 until %s", r, reset)
		}
	})
}
