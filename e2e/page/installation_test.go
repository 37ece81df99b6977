package page

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/sqlitestore"
)

// installation is a `remuda dev`, and its store as any other process may open it.
type installation struct {
	program.T
	folder string // of everything
	env    []string
	dev    *program.Daemon
	table  store.Table
	store  *store.Store
}

func develop(t testing.TB) *installation {
	t.Helper()
	s := &installation{T: program.T{TB: t}, folder: t.TempDir()}
	settings, err := filepath.Abs(filepath.Join("testdata", "dev.yaml"))
	s.Check(err)
	s.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.folder, "REMUDA_CONFIG=" + filepath.Join(s.folder, "remuda.yaml")}
	s.dev = s.start("dev", "--config", settings, "dev", "--dir", s.folder, "--github-silence", "30s")
	s.dev.Says("this controller leads")
	s.table, err = sqlitestore.Open(t.Context(), &url.URL{Scheme: "sqlite", Path: filepath.Join(s.folder, "remuda.db")}, clock.RealClock{})
	s.Check(err)
	t.Cleanup(func() { s.Check(s.table.Close()) })
	s.store = store.New(s.table)
	return s
}

// start runs a command line in the background, in a folder that the installation does not use.
func (s *installation) start(name string, args ...string) *program.Daemon {
	s.Helper()
	return program.Start(s, program.Command{Name: name, Args: args, Dir: s.TempDir(), Env: s.env, Patience: patience})
}

// console serves the page from the store.
func (s *installation) console(listen string) *program.Daemon {
	s.Helper()
	return s.start("console", "console", "--no-browser", "--listen", listen)
}

// remuda runs a command line that must succeed.
func (s *installation) remuda(args ...string) {
	s.Helper()
	_, err := program.Run(s.Context(), s.folder, s.env, args...)
	s.Check(err)
}

// request asks for machines, in the background.
func (s *installation) request(id string, count int) *program.Daemon {
	s.Helper()
	return s.start("request-"+id, "request", "--id", id, "--count", strconv.Itoa(count), "--resource-class", "small")
}

// await waits until a request's status has a phase and, unless it is "", a reason.
func (s *installation) await(id store.RequestID, phase statemachine.Phase, reason string) (st store.RunStatus) {
	s.Helper()
	s.until(fmt.Sprintf("request %s is %s %s", id, phase, reason), func() bool {
		var err error
		st, err = s.store.Status(s.Context(), store.Consistent, id)
		return err == nil && st.Phase == phase && (reason == "" || st.Reason == reason)
	})
	return st
}

// ended waits until a machine is on record as terminated.
func (s *installation) ended(id store.InstanceID) {
	s.Helper()
	s.until("machine "+string(id)+" is terminated", func() bool {
		in, err := s.store.Instance(s.Context(), store.Consistent, store.Principal(id))
		return err == nil && in.State == statemachine.Terminated
	})
}

func (s *installation) until(what string, holds func() bool) {
	s.Helper()
	s.Check(program.Until(patience, what, holds))
}

// forgeRequest puts a request into the table that no client would write.
func (s *installation) forgeRequest(id store.RequestID) {
	s.Helper()
	s.Check(s.table.Put(s.Context(), store.Item{
		Key: store.RequestKey(id, store.KindRunRequest), Version: 1, Attributes: []byte(`{"attempt":1,"count":1,"resourceClass":"small"}`),
	}, 0))
}

// forgeMachine puts the record of a machine there that was never launched, owned by run. The controller of these tests
// does not read the table again before they end.
func (s *installation) forgeMachine(id store.InstanceID, run store.RequestID) {
	s.Helper()
	_, err := s.store.Register(s.Context(), store.Instance{
		Principal: store.Principal(id), ID: id, RunID: run, Attempt: 1, ResourceClass: "small",
	}, time.Now(), time.Hour)
	s.Check(err)
}

// fleet is the folder of the machines.
func (s *installation) fleet() program.Fleet {
	return program.Fleet(filepath.Join(s.folder, "instances"))
}
