package host

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/agent/ec2machine"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/sqlitestore"
)

// instance is what surrounds the agent of an EC2 instance: metadata service, STS, commands.
type instance struct {
	t        *testing.T
	place    Place
	metadata *agenttest.Metadata
	commands *agenttest.Commands
	sts      atomic.Bool  // answers
	table    *store.Store // the controller's
}

// newInstance prepares one that is switched off.
func newInstance(t *testing.T) *instance {
	t.Helper()
	i := &instance{t: t, metadata: agenttest.NewMetadata(t), commands: agenttest.NewCommands(t)}
	s := httptest.NewServer(http.HandlerFunc(i.serveSTS))
	t.Cleanup(s.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_STS": s.URL, "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "", "AWS_DEFAULT_REGION": "",
		"AWS_PROFILE": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	cfg := config.Default()
	cfg.Name, cfg.Fleet, cfg.Store = "prod", "ec2://main", "sqlite://"+filepath.Join(t.TempDir(), "remuda.db")
	u, err := url.Parse(cfg.Store)
	if err != nil {
		t.Fatal(err)
	}
	i.place = place(cfg, filepath.Join(t.TempDir(), "state"))
	i.place.OpenTable = func(ctx context.Context, _ *ec2machine.ServiceClock, _ string) (store.Table, error) {
		return sqlitestore.Open(ctx, u, clock.RealClock{})
	}
	table, err := i.place.OpenTable(t.Context(), nil, "")
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

func (i *instance) serveSTS(w http.ResponseWriter, _ *http.Request) {
	if !i.sts.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/xml")
	_, _ = fmt.Fprint(w, `<GetCallerIdentityResponse><GetCallerIdentityResult><UserId>AROAEXAMPLE:i-0abc</UserId></GetCallerIdentityResult></GetCallerIdentityResponse>`)
}

// boot starts the agent. The channel has its result when it ends; the test ends it at last.
func (i *instance) boot() <-chan error {
	ctx, cancel := context.WithCancel(context.Background())
	done, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		done <- Run(ctx, i.place)
	}()
	i.t.Cleanup(func() { cancel(); <-ended })
	return done
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
		if err != nil || !strings.Contains(i.commands.Calls(), "systemctl poweroff") {
			t.Errorf("agent = %v, calls = %q, want a power-off", err, i.commands.Calls())
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
	await(t, done, "take-over", func() bool { return strings.Contains(i.commands.Calls(), "shutdown -c") })
	if beat := i.beat(); !beat.UpdatedAt.IsZero() {
		t.Errorf("heartbeat = %+v before STS answered", beat)
	}
	in, err := i.table.Register(t.Context(), store.Instance{Principal: "AROAEXAMPLE:i-0abc", ID: "i-0abc", RunID: "77", Attempt: 1, LaunchToken: "l-1"},
		time.Now(), 10*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	i.sts.Store(true)
	await(t, done, "heartbeat", func() bool { return !i.beat().UpdatedAt.IsZero() })
	if i.beat().Beat.Interrupted {
		t.Error("interrupted without notice")
	}
	i.metadata.Set("spot/instance-action", `{"action": "terminate", "time": "2026-05-05T08:22:00Z"}`)
	await(t, done, "notice in the heartbeat", func() bool { return i.beat().Beat.Interrupted })
	if _, err := i.table.Transition(t.Context(), in, store.Transition{Event: statemachine.Dismissed, Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	wantOff(t, i, done)
}

// S20 H01: without a name in the store the machine ends at the created limit.
func TestAgentEC2_NoPrincipal_PowersOff_S20_H01(t *testing.T) {
	i := newInstance(t)
	i.place.Config.Limits.Created = 4 * time.Second
	done := i.boot()
	wantOff(t, i, done)
}

// An instance has its computer to itself, unless a folder stands for its disk.
func TestEC2Site_Whole(t *testing.T) {
	for root, want := range map[string]bool{"": true, "/disk": false} {
		if got := (Place{Env: map[string]string{RootEnv: root}}).ownsComputer(); got != want {
			t.Errorf("whole with %s=%q is %t, want %t", RootEnv, root, got, want)
		}
	}
}
