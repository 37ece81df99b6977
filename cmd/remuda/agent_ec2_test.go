package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent/ec2machine"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// instance is what surrounds the agent of an EC2 instance: metadata service, STS, commands.
type instance struct {
	t        *testing.T
	dir      string
	mu       sync.Mutex
	metadata map[string]string // by path below meta-data
	sts      bool              // answers
	cfg      config.Config
	table    *store.Store // the controller's
}

// newInstance prepares one that is switched off.
func newInstance(t *testing.T) *instance {
	t.Helper()
	i := &instance{t: t, dir: t.TempDir(), metadata: map[string]string{
		"instance-id": "i-0abc", "placement/region": "eu-west-1", "tags/instance/remuda-name": "main",
	}}
	for env, handler := range map[string]http.HandlerFunc{
		"AWS_EC2_METADATA_SERVICE_ENDPOINT": i.serveMetadata, "AWS_ENDPOINT_URL_STS": i.serveSTS,
	} {
		s := httptest.NewServer(handler)
		t.Cleanup(s.Close)
		t.Setenv(env, s.URL)
	}
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	bin := filepath.Join(i.dir, "bin") // the only commands: nothing ends the computer of this test
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"systemctl", "shutdown", "poweroff"} {
		text := "#!/bin/sh\necho \"" + name + " $*\" >>'" + filepath.Join(i.dir, "calls") + "'\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	i.cfg = config.Default()
	i.cfg.Name, i.cfg.Fleet, i.cfg.Store = "prod", "ec2://main", "sqlite://"+filepath.Join(i.dir, "remuda.db")
	i.cfg.Log.Level = "error"
	table, err := openTable(t.Context(), i.cfg, clock.RealClock{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
	i.table = store.New(table)
	return i
}

func (i *instance) serveMetadata(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	value, known := i.metadata[strings.TrimPrefix(r.URL.Path, "/latest/meta-data/")]
	switch {
	case r.Method == http.MethodPut && r.URL.Path == "/latest/api/token":
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
		_, _ = fmt.Fprint(w, "token")
	case r.Header.Get("X-Aws-Ec2-Metadata-Token") != "token":
		w.WriteHeader(http.StatusUnauthorized)
	case known:
		_, _ = fmt.Fprint(w, value)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (i *instance) serveSTS(w http.ResponseWriter, _ *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.sts {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/xml")
	_, _ = fmt.Fprint(w, `<GetCallerIdentityResponse><GetCallerIdentityResult><UserId>AROAEXAMPLE:i-0abc</UserId></GetCallerIdentityResult></GetCallerIdentityResponse>`)
}

// answer makes STS answer from now on.
func (i *instance) answer() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.sts = true
}

// announce sets a value of the metadata service.
func (i *instance) announce(path, value string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.metadata[path] = value
}

// boot starts the agent. The channel has its result when it ends; the test ends it at last.
func (i *instance) boot() <-chan error {
	c := newCLI(nil)
	ctx, cancel := context.WithCancel(context.Background())
	done, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		done <- (&agentOptions{dir: filepath.Join(i.dir, "state")}).run(ctx, c.app, i.cfg)
	}()
	i.t.Cleanup(func() { cancel(); <-ended })
	return done
}

// calls returns the commands that were run.
func (i *instance) calls() []string {
	b, err := os.ReadFile(filepath.Join(i.dir, "calls"))
	if err != nil && !os.IsNotExist(err) {
		i.t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// beat returns the heartbeat under the instance's principal; a zero one if there is none.
func (i *instance) beat() store.Heartbeat {
	i.t.Helper()
	const principal = store.Principal("AROAEXAMPLE:i-0abc")
	got, err := i.table.Vitals(i.t.Context(), func(k store.Key, err error) { i.t.Errorf("vitals %v: %v", k, err) }, principal)
	if err != nil {
		i.t.Fatal(err)
	}
	return got[principal].Heartbeat
}

// await waits until ok, and fails once the agent has ended or a minute is over.
func await(t *testing.T, done <-chan error, what string, ok func() bool) {
	t.Helper()
	late := time.After(time.Minute)
	for !ok() {
		select {
		case err := <-done:
			t.Fatalf("agent ended (%v) before %s", err, what)
		case <-late:
			t.Fatalf("no %s within a minute", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// wantOff waits for the end of the agent and fails unless it powered its machine off.
func wantOff(t *testing.T, i *instance, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		if err != nil || !slices.Contains(i.calls(), "systemctl poweroff") {
			t.Errorf("agent = %v, calls = %q, want a power-off", err, i.calls())
		}
	case <-time.After(time.Minute):
		t.Fatal("the machine lives on")
	}
}

// S18 H01 H03: an instance takes over its own end before it knows what STS calls it; from then on it works under
// that name, tells of a notice of EC2, and ends by a power-off.
func TestAgentEC2_FromBootToPowerOff_H01_H03(t *testing.T) {
	i := newInstance(t)
	done := i.boot()
	await(t, done, "take-over", func() bool { return slices.Contains(i.calls(), "shutdown -c") })
	if beat := i.beat(); !beat.UpdatedAt.IsZero() {
		t.Errorf("heartbeat = %+v before STS answered", beat)
	}
	in, err := i.table.Register(t.Context(), store.Instance{Principal: "AROAEXAMPLE:i-0abc", ID: "i-0abc", RunID: "77", Attempt: 1, LaunchToken: "l-1"},
		time.Now(), 10*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	i.answer()
	await(t, done, "heartbeat", func() bool { return !i.beat().UpdatedAt.IsZero() })
	if i.beat().Beat.Interrupted {
		t.Error("interrupted without notice")
	}
	i.announce("spot/instance-action", `{"action": "terminate", "time": "2026-05-05T08:22:00Z"}`)
	await(t, done, "notice in the heartbeat", func() bool { return i.beat().Beat.Interrupted })
	move(t, i.table, in, store.Transition{Event: statemachine.Dismissed, Now: time.Now()})
	wantOff(t, i, done)
}

// S20 H01: without a name in the store the machine ends at the created limit.
func TestAgentEC2_NoPrincipal_PowersOff_S20_H01(t *testing.T) {
	i := newInstance(t)
	i.cfg.Limits.Created = 4 * time.Second
	done := i.boot()
	wantOff(t, i, done)
}

// An instance of another installation does nothing, and keeps the end that its boot scheduled.
func TestAgentEC2_Foreign_Refused(t *testing.T) {
	i := newInstance(t)
	i.announce("tags/instance/remuda-name", "other")
	err := <-i.boot()
	if err == nil || !strings.Contains(err.Error(), `tag remuda-name is "other", want "main"`) {
		t.Errorf("agent = %v", err)
	}
	if calls := i.calls(); calls[0] != "" {
		t.Errorf("calls = %q, want none", calls)
	}
}

// H52: each answer of the store tells its clock.
func TestAgentEC2_StoreTellsTheTime_H52(t *testing.T) {
	i := newInstance(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.Header().Set("X-Amz-Crc32", "2745614147") // of what follows
		_, _ = fmt.Fprint(w, "{}")
	}))
	t.Cleanup(s.Close)
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", s.URL)
	i.cfg.Store = "dynamodb://remuda"
	c, log := newCLI(nil), slog.New(slog.DiscardHandler)
	host, err := ec2machine.Open(t.Context(), ec2machine.Options{Dir: i.dir, Name: "main", Limit: time.Minute, Clock: c.clock, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	table, err := c.openObserved(t.Context(), i.cfg, host.ServiceClock, host.Region, log)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if _, err := store.New(table).Instance(t.Context(), store.Consistent, "AROAEXAMPLE:i-0abc"); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("Instance = %v, want store.ErrNotFound", err)
	}
	if off := host.Offset() - time.Hour; off.Abs() > 10*time.Second {
		t.Errorf("Offset = %s, want an hour", host.Offset())
	}
}

// What user data carries is a configuration with everything an agent goes by, and names no secret.
func TestAgentSettings_Complete(t *testing.T) {
	c := newCLI(nil)
	newRootCmd(c.app)
	cfg := config.Default()
	cfg.Name, cfg.GitHub.URL, cfg.GitHub.Repository, cfg.GitHub.RunnerGroup = "main", "https://github.com/octo", "octo/repo", "linux"
	cfg.Store, cfg.Pool, cfg.Fleet = "dynamodb://main?region=eu-west-1", "sqs://main?region=eu-west-1", "ec2://main?region=eu-west-1"
	cfg.GitHub.TokenFile, cfg.GitHub.TokenEnv = "/etc/remuda/token", "MY_TOKEN"
	cfg.Limits.Created, cfg.Agent.Script, cfg.Agent.IdlePoll = 9*time.Minute, "/etc/remuda/prepare", time.Second
	cfg.Agent.RunnerUser, cfg.Classes = "ci", map[string]config.Class{"small": {CPU: 2, Mem: 4096, Scrub: "full"}, "large": {CPU: 4, Mem: 8192}}
	text, err := config.AgentSettings(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c.files["agent.yaml"], c.global.config = string(text), "agent.yaml"
	got, err := c.loadConfig() // valid without what only the controller knows
	if err != nil {
		t.Fatalf("loadConfig = %v:\n%s", err, text)
	}
	want := cfg
	want.GitHub.TokenFile, want.GitHub.TokenEnv = "", config.Default().GitHub.TokenEnv
	want.Classes = map[string]config.Class{"small": cfg.Classes["small"]} // another size of large makes no machine outdated
	if diff := gocmp.Diff(want, got.Config); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if strings.Contains(strings.ToLower(string(text)), "token") {
		t.Errorf("settings name a token:\n%s", text)
	}
	var keys map[string]any
	if err := yaml.Unmarshal(text, &keys); err != nil || keys["process"] != nil {
		t.Errorf("settings = %v, %v, want nothing of other fleets", keys, err)
	}
}
