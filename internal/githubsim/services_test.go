package githubsim_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// troubled reports whether err is the trouble of a service, and not its end.
func troubled(err error, s githubsim.Service, tr githubsim.Trouble) bool {
	var got *githubsim.ServiceError
	kind := githubapi.ErrUnavailable
	if tr == githubsim.Answer403 {
		kind = githubsim.ErrForbidden
	}
	return errors.As(err, &got) && *got == githubsim.ServiceError{Service: s, Trouble: tr} && errors.Is(err, kind)
}

func TestTrouble_OfOneService_ForAWhile(t *testing.T) {
	const d = 90 * time.Second
	for _, tr := range githubsim.Troubles() {
		t.Run(string(tr), func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				h := newHub(githubsim.Options{SessionTimeout: time.Hour})
				s := connect(t, h, lasting(t, h, "i-1-1", "a"))
				idle := lasting(t, h, "i-2-1", "b")
				submit(t, h, githubsim.Job{ID: "j", Label: "a"})
				next(t, s, 0)
				for _, service := range githubsim.Services() {
					h.SetTrouble(service, tr, d)
				}
				start := time.Now()
				if _, err := h.Runners(t.Context()); err != nil || time.Since(start) != 0 {
					t.Errorf("Runners() error = %v after %s, want an answer at once", err, time.Since(start))
				}
				_, cerr := h.Connect(t.Context(), idle)
				_, perr := s.Next(t.Context(), 0)
				err := s.Complete(t.Context(), "j", githubsim.Success)
				if tr == githubsim.Hang {
					if took := time.Since(start); cerr != nil || perr != nil || err != nil || took != d {
						t.Errorf("calls that hang = %v, %v, %v after %s, want success after %s", cerr, perr, err, took, d)
					}
					return
				}
				if !troubled(cerr, githubsim.OAuth, tr) || !troubled(perr, githubsim.Broker, tr) || !troubled(err, githubsim.Run, tr) {
					t.Errorf("Connect(), Next(), Complete() = %v, %v, %v, want the trouble of each service", cerr, perr, err)
				}
				time.Sleep(d)
				connect(t, h, idle)
				expect(t, "Complete() after the trouble", s.Complete(t.Context(), "j", githubsim.Success), nil)
			})
		})
	}
}

func TestTrouble_MeetsThePollInProgress(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{PollWait: time.Hour})
		s := connect(t, h, lasting(t, h, "i-1-1", "a"))
		poll := func() chan error {
			failed := make(chan error, 1)
			go func() { _, err := s.Next(t.Context(), 0); failed <- err }()
			synctest.Wait()
			return failed
		}
		polled := poll()
		h.SetTrouble(githubsim.Broker, githubsim.Answer500, 0)
		if err := <-polled; !troubled(err, githubsim.Broker, githubsim.Answer500) {
			t.Errorf("poll in progress = %v, want the trouble", err)
		}
		h.SetTrouble(githubsim.Broker, githubsim.NoTrouble, 0)

		polled = poll()
		h.SetTrouble(githubsim.Broker, githubsim.Hang, 2*time.Minute)
		time.Sleep(90 * time.Second) // the runner is silent meanwhile, so that its session ends
		if r := h.Registrations()[0]; r.Online {
			t.Error("runner is online though its poll hangs")
		}
		start := time.Now()
		if err := <-polled; !errors.Is(err, githubsim.ErrSessionGone) || time.Since(start) != 30*time.Second {
			t.Errorf("poll that hung = %v, %s later, want ErrSessionGone at the end of the trouble", err, time.Since(start))
		}

		s = connect(t, h, lasting(t, h, "i-2-1", "a"))
		polled = poll()
		h.SetDeprecated(true)
		expect(t, "poll in progress of a deprecated runner", <-polled, githubsim.ErrDeprecated)
	})
}

func TestTrouble_OfTokens_CountsOnceTheirTimeIsOver(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{AccessFor: time.Minute, PollWait: 40 * time.Second})
		s := connect(t, h, lasting(t, h, "i-1-1", "a"))
		h.SetTrouble(githubsim.OAuth, githubsim.Answer403, 0)
		next(t, s, 0)
		next(t, s, 0)
		if _, err := s.Next(t.Context(), 0); !troubled(err, githubsim.OAuth, githubsim.Answer403) {
			t.Errorf("Next() with a token that is over = %v, want the trouble", err)
		}
		h.SetTrouble(githubsim.OAuth, githubsim.NoTrouble, 0)
		next(t, s, 0)
		h.SetTrouble(githubsim.OAuth, githubsim.Answer403, 0)
		next(t, s, 0) // its new token
	})
}

// The troubles are the same over HTTP, and set through the control API.
func TestTrouble_OverHTTP(t *testing.T) {
	w := newSite(t, githubsim.Options{})
	cred := lasting(t, w.Hub, "i-1-1", "a")
	remote, err := githubsim.NewRemote(w.Hub.URL(), w.Client())
	check(t, err)
	control := githubsim.ControlClient{Root: w.Server.URL, Token: credential}
	for _, tr := range githubsim.Troubles() {
		if tr == githubsim.Hang {
			continue // nothing to see without waiting
		}
		check(t, control.SetTrouble(t.Context(), githubsim.Broker, tr, time.Hour))
		_, err := remote.Connect(t.Context(), cred)
		if tr == githubsim.Drop && errors.Is(err, githubsim.ErrNoAnswer) || troubled(err, githubsim.Broker, tr) {
			continue
		}
		t.Errorf("Connect() in trouble %s error = %v", tr, err)
	}
	check(t, control.SetTrouble(t.Context(), githubsim.Broker, githubsim.NoTrouble, 0))
	expect(t, "Connect() after all trouble", errorOf(remote.Connect(t.Context(), cred)), nil)
	for path, body := range map[string]any{
		"/_sim/services/web":    map[string]any{"trouble": "500"},
		"/_sim/services/broker": map[string]any{"trouble": "gone"},
		"/_sim/services/run":    map[string]any{"trouble": "500", "seconds": -1},
	} {
		w.answers(t, http.MethodPut, path, body, http.StatusUnprocessableEntity)
	}
}
