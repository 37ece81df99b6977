package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
)

// A leader and a standby are both ready, and show themselves to nobody but those who may look. A third finds its port taken
// and works all the same: the installation outlives the other two. systemd is told of all of it.
func TestHTTP(t *testing.T) {
	t.Parallel()
	token := strings.Repeat("0123456789abcdef", 2)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := install(t, "REMUDA_HTTP_LISTEN=127.0.0.1:0", "REMUDA_HTTP_TOKEN_FILE="+file)
	socket := filepath.Join(t.TempDir(), "notify")
	systemd, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	s.Check(err)
	defer systemd.Close()
	var mu sync.Mutex
	told := ""
	go func() {
		for text := make([]byte, 200); ; {
			n, err := systemd.Read(text)
			if err != nil {
				return
			}
			mu.Lock()
			told += string(text[:n]) + "\n"
			mu.Unlock()
		}
	}()
	// begin starts a controller, and returns where it serves.
	begin := func(name string, env ...string) (*program.Process, string) {
		before := s.environ
		s.environ = func() []string { return append(before(), env...) }
		defer func() { s.environ = before }()
		d, err := s.start(name, "controller")
		s.Check(err)
		address, err := d.Await(`"msg":"(?:serving HTTP|another process listens[^"]*)","address":"([^"]+)"`)
		s.Check(err)
		return d, address
	}
	leader, leaderAt := begin("leader", "NOTIFY_SOCKET="+socket, "WATCHDOG_USEC=1000000")
	_, err = leader.Await("this controller leads")
	s.Check(err)
	standby, standbyAt := begin("standby")
	_, err = standby.Await("waiting for the lease")
	s.Check(err)

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	get := func(address, path, host, bearer string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, http.NoBody)
		s.Check(err)
		r.Host = host
		if bearer != "" {
			r.Header.Set("Authorization", "Bearer "+bearer)
		}
		resp, err := client.Do(r)
		s.Check(err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		s.Check(err)
		return resp.StatusCode, string(text)
	}
	for _, address := range []string{leaderAt, standbyAt} {
		s.Check(program.Until(patience, address+" is ready", func() bool {
			code, text := get(address, "/readyz", "", "")
			return code == http.StatusOK && text == "ok\n"
		}))
		for _, tt := range []struct {
			path, host, bearer string
			want               int
		}{
			{"/healthz", "10.0.0.7", "", 200},
			{"/", "", "", 401},
			{"/", "evil.example", token, 421},
			{"/", "", token, 200},
			{"/debug/pprof/", "", "", 401},
			{"/debug/pprof/", "", "wrong-" + token, 401},
			{"/debug/pprof/", "evil.example", token, 421},
			{"/debug/pprof/cmdline", "", token, 404}, // off
		} {
			if code, text := get(address, tt.path, tt.host, tt.bearer); code != tt.want || strings.Contains(text, token) {
				t.Errorf("GET %s of %q with %q = %d %q, want %d", tt.path, tt.host, tt.bearer, code, text, tt.want)
			}
		}
	}
	const is = "This controller is a standby"
	if _, text := get(leaderAt, "/", "", token); strings.Contains(text, is) {
		t.Errorf("the page of the leader says that it is a standby:\n%s", text)
	}
	if _, text := get(standbyAt, "/", "", token); !strings.Contains(text, is) {
		t.Errorf("the page of the standby does not say so:\n%s", text)
	}
	health := func(at string) (string, error) {
		out, err := s.remuda(patience, "--set", "http.listen="+at, "health", "--ready")
		return string(out), err
	}
	if out, err := health(leaderAt); err != nil || out != "ok\n" {
		t.Errorf("remuda health --ready = %q, %v, want ok", out, err)
	}
	third, taken := begin("third", "REMUDA_HTTP_LISTEN="+leaderAt)
	if taken != leaderAt {
		t.Errorf("the third names %s, want %s", taken, leaderAt)
	}
	// systemd is told all of a life: its start, its part, that it lives, its end.
	until := func(part string) {
		s.Check(program.Until(patience, "systemd is told "+part, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return strings.Contains(told, part)
		}))
	}
	until("READY=1")
	until("STATUS=leader, term 1")
	until("WATCHDOG=1")
	for _, d := range []*program.Process{leader, standby} {
		if code, err := d.Stop(syscall.SIGTERM); code != 0 || err != nil {
			t.Errorf("%s: exit code %d, %v, want 0", d.Name, code, err)
		}
	}
	until("STOPPING=1")
	if out, err := health(leaderAt); err == nil || !strings.Contains(fmt.Sprint(err), "ask the controller") {
		t.Errorf("remuda health --ready of one that has ended = %q, %v, want that nobody answers", out, err)
	}
	_, err = third.Await("this controller leads")
	s.Check(err)
}
