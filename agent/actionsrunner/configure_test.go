//go:build unix

package actionsrunner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/actionsrunner"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/store"
)

// S14: a token registers one runner under exactly the run's label, without default labels, never in
// place of another. The token is in no command line.
func TestConfigure_ExactlyOneLabel_S14(t *testing.T) {
	w := newWorld(t)
	w.options.Group = "linux"
	l := w.start(store.Token)
	want := "--unattended --url https://github.example/octo/repo --name i-1-3 --labels run-1 --no-default-labels --disableupdate --runnergroup linux\n"
	if got := w.read("configured"); got != want {
		t.Errorf("config.sh arguments = %q, want %q", got, want)
	}
	if env := w.read("configenv"); !strings.Contains(env, "ACTIONS_RUNNER_INPUT_TOKEN=hush-hush\n") {
		t.Errorf("config.sh has no token: %s", env)
	}
	if id := l.Status().RunnerID; id != 4711 {
		t.Errorf("runner id = %d, want 4711 as configured", id)
	}
	w.tell("say Listening for Jobs")
	w.want(l, agent.Listening)
	if strings.Contains(w.read("env"), "hush-hush") {
		t.Error("the listener, and so every job, sees the registration token")
	}
}

// H71: after a crash the same registration is not configured again; its name is taken by itself.
func TestConfigure_SameRunner_OnlyStarted_H71(t *testing.T) {
	w := newWorld(t)
	first := w.start(store.Token)
	w.tell("exit 1")
	w.want(first, agent.Exited)
	first.Detach()
	second := w.start(store.Token)
	if n := strings.Count(w.read("configured"), "\n"); n != 1 || second.Status().RunnerID != 4711 {
		t.Errorf("configured %d times, runner id %d; want once, 4711", n, second.Status().RunnerID)
	}
}

// What another registration or a job left in the folder is removed first: the program would read it.
func TestStart_LeftoversRemoved_H42(t *testing.T) {
	for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
		t.Run(string(mode), func(t *testing.T) {
			w := newWorld(t)
			left := []string{".credentials", ".credentials_rsaparams", ".env", ".path", ".setup_info", ".service"}
			for _, name := range left {
				w.write(name, "LD_PRELOAD=/tmp/evil.so\n")
			}
			w.write(".runner", `{"agentId": 1, "agentName": "i-1-2"}`)
			w.listening(mode)
			for _, name := range left {
				if w.has(name) {
					t.Errorf("%s was left", name)
				}
			}
			if mode == store.JIT && w.has(".runner") {
				t.Error(".runner was left")
			}
		})
	}
}

// A listener that is started again under its registration reads no environment, and so no other hook, that a
// job of its run left for it; it has its registration still.
func TestStart_SameRegistration_LeftoversRemoved_H42(t *testing.T) {
	w := newWorld(t)
	first := w.start(store.Token)
	w.tell("exit 1")
	w.want(first, agent.Exited)
	first.Detach()
	left := []string{".env", ".path", ".runner_migrated", ".credentials_migrated", ".setup_info", ".service"}
	for _, name := range append(left, ".credentials") {
		w.write(name, agent.HookEnv+"=\n")
	}
	w.listening(store.Token)
	for _, name := range left {
		if w.has(name) {
			t.Errorf("%s was left", name)
		}
	}
	if !w.has(".runner") || !w.has(".credentials") {
		t.Error("the registration is gone")
	}
}

// Failures are sorted by cause and carry the last lines, without the token.
func TestConfigure_Fails_Sorted(t *testing.T) {
	for _, tt := range []struct {
		line string
		want error
	}{
		{"Http response code: NotFound from 'POST https://api.github.com/actions/runner-registration' (Request Id: X)", githubapi.ErrRefused},
		{"Http response code: Unauthorized from 'POST https://…'", githubapi.ErrRefused},
		{"Http response code: TooManyRequests from 'POST https://…'", githubapi.ErrThrottled},
		{"API rate limit exceeded for installation ID 7.", githubapi.ErrThrottled},
		{"Http response code: BadGateway from 'POST https://…'", githubapi.ErrUnavailable},
		{"Http response code: Forbidden from 'POST https://…'", githubapi.ErrRefused},
		{"Connection refused (api.github.com:443)", githubapi.ErrUnavailable},
		{"Name or service not known (api.github.com:443)", githubapi.ErrUnavailable},
		{"An error occurred while sending the request.", githubapi.ErrUnavailable},
		{"A runner exists with the same name i-1-3.", githubapi.ErrNameTaken},
		{"An error occured: Runner version v2.100.0 is deprecated and cannot receive messages.", agent.ErrDeprecated},
		{"Libicu's dependencies is missing for Dotnet Core 6.0", nil},
	} {
		t.Run(tt.line, func(t *testing.T) {
			w := newWorld(t)
			w.write("answer", fmt.Sprintf("echo \"%s\"; echo token hush-hush >&2; exit 1\n", tt.line))
			_, err := w.runner().Start(context.Background(), registration(store.Token), "run-1")
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Fatalf("Start = %v, want %v", err, tt.want)
			}
			if tt.want == nil && (errors.Is(err, githubapi.ErrRefused) || errors.Is(err, githubapi.ErrUnavailable)) {
				t.Errorf("Start = %v, want no fault of GitHub", err)
			}
			if text := err.Error(); strings.Contains(text, "hush-hush") || !strings.Contains(text, tt.line) || !strings.Contains(text, "exit status 1") {
				t.Errorf("error = %q, want status and output without the token", text)
			}
		})
	}
}

// GitHub says more than a status: the last word counts, since each try prints its own.
func TestConfigure_Fails_LastWordCounts(t *testing.T) {
	w := newWorld(t)
	w.write("answer", `echo "Http response code: Forbidden from 'POST https://…'"; echo '{"message":"You have exceeded a secondary rate limit"}'; exit 1`+"\n")
	if _, err := w.runner().Start(context.Background(), registration(store.Token), "run-1"); !errors.Is(err, githubapi.ErrThrottled) {
		t.Errorf("Start = %v, want ErrThrottled", err)
	}
}

// A configuration that hangs ends with its context, processes included.
func TestConfigure_Hangs_EndedWithContext(t *testing.T) {
	w := newWorld(t)
	w.write("answer", "sleep 600 & echo $! > child; wait\n")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := w.runner().Start(ctx, registration(store.Token), "run-1")
		done <- err
	}()
	child := w.child()
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Start = %v, want context.Canceled", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("Start hangs")
	}
	w.gone(child)
}

// A runner program that is not there, or a mode no one knows, is an error that starts nothing.
func TestStart_Impossible(t *testing.T) {
	w := newWorld(t)
	if _, err := w.runner().Start(context.Background(), registration("card"), "run-1"); err == nil || !strings.Contains(err.Error(), `"card": must be jit or token`) {
		t.Errorf("Start with an unknown mode = %v", err)
	}
	w.options.Dir = t.TempDir()
	if _, err := w.runner().Start(context.Background(), registration(store.JIT), "run-1"); err == nil {
		t.Error("Start without a program succeeded")
	}
}

// New names what is wrong.
func TestNew_Invalid(t *testing.T) {
	w := newWorld(t)
	for name, change := range map[string]func(*actionsrunner.Options){
		"Dir":   func(o *actionsrunner.Options) { o.Dir = "runner" },
		"Log":   func(o *actionsrunner.Options) { o.Log = "" },
		"ID":    func(o *actionsrunner.Options) { o.InstanceID = "" },
		"Clock": func(o *actionsrunner.Options) { o.Clock = nil },
	} {
		o := w.options
		change(&o)
		if _, err := actionsrunner.New(o); err == nil {
			t.Errorf("New with a bad %s succeeded", name)
		}
	}
}
