package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/githubsim/simrunner"
)

// archive packs the simulated runner as GitHub packs the real one, and serves it after one refusal.
func archive(t *testing.T) (url, sum string, served *atomic.Int64) {
	t.Helper()
	dir := t.TempDir()
	if err := simrunner.Install(dir, program.Binary); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	if err := errors.Join(w.AddFS(os.DirFS(dir)), w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	served = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		served.Add(1)
		_, _ = w.Write(packed.Bytes())
	}))
	t.Cleanup(s.Close)
	digest := sha256.Sum256(packed.Bytes())
	return s.URL + "/actions-runner-linux-x64.tar.gz", hex.EncodeToString(digest[:]), served
}

// H50: agents fetch the runner, those of one computer once, though the server fails at first.
func TestFetch_H50_OncePerComputer(t *testing.T) {
	t.Parallel()
	url, sum, served := archive(t)
	s := serving(t, "REMUDA_AGENT_RUNNER_URL="+url, "REMUDA_AGENT_RUNNER_SHA256="+sum)
	s.request("100", 3)
	s.serve("100", 3)
	s.end(3)
	if n := served.Load(); n != 1 {
		t.Errorf("the archive was served %d times to three agents of one computer, want once", n)
	}
}

// H50: a wrong checksum fails the request, which says so, and nothing of the archive is on a machine.
func TestFetch_H50_WrongChecksum_FailsTheRequest(t *testing.T) {
	program.Long(t, "waits for the timeout of a request")
	t.Parallel()
	url, _, _ := archive(t)
	wrong := strings.Repeat("0", 64)
	s := serving(t, "REMUDA_AGENT_RUNNER_URL="+url, "REMUDA_AGENT_RUNNER_SHA256="+wrong)
	_, err := s.requestWithin(patience, "100", 1, "--timeout", "1m") // in which a busy machine boots and tries
	if err == nil || !strings.Contains(err.Error(), "wrong checksum") || !strings.Contains(err.Error(), wrong) {
		t.Errorf("request = %v, want it failed for a wrong checksum", err)
	}
	unpacked, err := filepath.Glob(filepath.Join(s.Machine("*"), "runner*/bin"))
	if err != nil || len(unpacked) > 0 {
		t.Errorf("unpacked: %v, %v, want nothing", unpacked, err)
	}
	s.Check(s.release("100"))
	s.Check(s.drain())
	s.Check(s.close())
}
