//go:build linux

package hosttest_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/e2e/host/hosttest"
	"github.com/remuda-run/remuda/e2e/program"
)

// A machine boots, runs its user data, reaches what it was given, and switches itself off.
func TestBoot(t *testing.T) {
	hosttest.Require(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("from outside")) }))
	defer server.Close()
	address := server.Listener.Addr().(*net.TCPAddr).String() //nolint:forcetypeassert // of a server of net/http
	m := hosttest.Boot(t, hosttest.Options{
		Metadata: agenttest.MetadataOf(map[string]string{"user-data": "#!/bin/bash\nexec >/dev/console\necho my user is $(id -un)\ncurl -sS " + server.URL + "\necho\ncat /etc/of-the-test\n"}),
		Files:    map[string]hosttest.File{"/etc/of-the-test": {Text: "a file\n", Mode: 0o640}},
		Reach:    map[string]string{address: address},
	})
	tt := program.T{TB: t}
	for _, want := range []string{"my user is root", "from outside", "a file"} {
		tt.Check(program.Until(3*time.Minute, "the console says "+want, func() bool { return strings.Contains(m.Console(), want) }))
	}
	out, err := m.Run(t.Context(), "stat", "-c", "%a %U", "/etc/of-the-test")
	tt.Check(err)
	if out != "640 root\n" {
		t.Errorf("stat = %q", out)
	}
	if _, err := m.Run(t.Context(), "systemctl", "poweroff"); err != nil {
		t.Error(err)
	}
	select {
	case <-m.Off():
	case <-time.After(3 * time.Minute):
		t.Fatal("the machine does not power off")
	}
	if journal := m.Journal("user-data.service"); !strings.Contains(journal, "Finished user-data.service") {
		t.Errorf("journal of the user data: %s", journal)
	}
}
