package userdata_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet/ec2fleet/userdata"
)

// The first script and Docker reach the network by the proxy of the image and of the configuration, which wins. Nothing
// of either is read as shell.
func TestRender_Network_Review_R5(t *testing.T) {
	c := newComputer(t)
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		_, _ = w.Write([]byte(program))
	}))
	defer proxy.Close()
	c.write(filepath.Join(c.root, "etc/environment"), "# http_proxy=http://no\nexport HTTP_PROXY=\"http://image.invalid:1\"\r\nSSL_CERT_FILE='/image $(touch \"$REMUDA_ROOT/evil\").pem' # x\nno_proxy=image.invalid\nOTHER=x")
	c.write(filepath.Join(c.bin, "bash-env"), "")
	text, err := userdata.Render(userdata.Data{
		Name: "ci", Region: "eu-west-1", Limit: 10 * time.Minute, Config: []byte("x"),
		Program: userdata.Program{URL: "http://program.invalid/remuda", SHA256: sum(program)},
		Network: map[string]string{"http_proxy": proxy.URL, "HTTPS_PROXY": `http://it's 100%:$(touch "$REMUDA_ROOT/evil")"`},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.standIn("systemctl", standIns["systemctl"]+"if [[ $* == enable* ]]; then env >\"$REMUDA_ROOT/env\"; fi\n")
	if status := c.boot(text); status != 0 {
		t.Fatalf("status %d: %s", status, c.out)
	}
	if len(asked) != 1 || asked[0] != "http://program.invalid/remuda" {
		t.Errorf("the proxy was asked for %q, want the program", asked)
	}
	env := "\n" + c.read("env")
	for _, want := range []string{"HTTPS_PROXY=http://it's 100%:$(touch", "https_proxy=http://it's 100%", "no_proxy=image.invalid\n", "NO_PROXY=image.invalid\n", "SSL_CERT_FILE=/image $(touch"} {
		if !strings.Contains(env, "\n"+want) {
			t.Errorf("the script does not run with %q:\n%s", want, env)
		}
	}
	if _, err := os.Stat(filepath.Join(c.root, "evil")); err == nil {
		t.Error("a value was read as shell")
	}
	docker := c.read("/etc/systemd/system/docker.service.d/00-remuda-network.conf")
	for _, want := range []string{
		"HTTPS_PROXY=http://it's 100%%:$(touch \\\"$REMUDA_ROOT/evil\\\")\\\"", "http_proxy=" + proxy.URL, "NO_PROXY=image.invalid", "SSL_CERT_FILE=/image $(touch\"",
	} {
		if !strings.HasPrefix(docker, "[Service]\n") || !strings.Contains(docker, "\nEnvironment=\""+want) {
			t.Errorf("Docker gets %q, want %q in it", docker, want)
		}
	}
	if calls := c.read("calls"); !strings.Contains(calls, "systemctl try-restart docker.service") {
		t.Errorf("Docker is not started again: %s", calls)
	}
}

func (c *computer) read(name string) string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.root, name))
	if err != nil {
		c.t.Error(err)
	}
	return string(text)
}

// A variable that no environment can hold is refused.
func TestRender_NetworkRefused_Review_R5(t *testing.T) {
	for name, value := range map[string]string{"A B": "x", "A": "x\ny", "1": "x", "": "x"} {
		_, err := userdata.Render(userdata.Data{Name: "ci", Region: "eu-west-1", Limit: time.Minute, Config: []byte("x"), Network: map[string]string{name: value}})
		if err == nil || !strings.Contains(err.Error(), "network variable") {
			t.Errorf("%q=%q: %v", name, value, err)
		}
	}
}
