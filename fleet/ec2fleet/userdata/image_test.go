package userdata_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/remuda-run/remuda/fleet/ec2fleet/userdata"
)

// imageProgram answers what the check of an image asks.
const imageProgram = "#!/bin/bash\n[[ $* == version ]] && echo 'remuda 1.2.3'\n"

// archive is a runner whose listener is the given script, as GitHub packs it.
func archive(t *testing.T, listener string) string {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, f := range []struct{ name, content string }{{"./bin/Runner.Listener", listener}, {"./run.sh", "#!/bin/bash\n"}} {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o755, Size: int64(len(f.content)), Uid: 1001, Gid: 1001}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.content)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []io.Closer{w, z} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

const listener = "#!/bin/bash\nmkdir \"$REMUDA_ROOT/opt/actions-runner/_diag\"\n[[ $* == --version ]] && echo 2.337.0\n"

// release is where an image's parts are fetched from, and how often.
type release struct {
	*httptest.Server
	fetched atomic.Int64
}

func newRelease(t *testing.T, parts map[string]string) *release {
	t.Helper()
	r := &release{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.fetched.Add(1)
		content, ok := parts[req.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte(content))
	}))
	t.Cleanup(r.Close)
	return r
}

// arch is the architecture of this computer in EC2's words.
func arch() string { return map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH] }

func imageData(url, runner string) userdata.ImageData {
	return userdata.ImageData{
		Arch: arch(), Region: "eu-west-1", User: "runner",
		Program: userdata.Program{URL: url + "/remuda", SHA256: sum(imageProgram)},
		Runner:  userdata.Runner{URL: url + "/runner.tar.gz", SHA256: sum(runner), Dir: userdata.RunnerDir},
	}
}

// build runs the script for an image.
func (c *computer) build(d userdata.ImageData) int {
	c.t.Helper()
	script, err := userdata.Image(d)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.boot(script)
}

// A stock machine becomes an image by one run; another one changes nothing, and fetches nothing.
func TestImage_StockMachine(t *testing.T) {
	c := newComputer(t)
	c.stock("apt-get", installs+`; printf '#!/bin/sh\n' >"`+c.bin+`/nft"; chmod +x "`+c.bin+`/nft"`)
	for _, name := range []string{"tar", "uname"} {
		c.link(name)
	}
	runner := archive(t, listener)
	web := newRelease(t, map[string]string{"/remuda": imageProgram, "/runner.tar.gz": runner})
	if status := c.build(imageData(web.URL, runner)); status != 0 {
		t.Fatalf("status = %d", status)
	}
	if want := "useradd --create-home --shell /bin/bash -K SUB_UID_COUNT=0 -K SUB_GID_COUNT=0 runner\n" + strings.TrimSpace(aptCalls); c.calls() != want {
		t.Errorf("calls:\n%s\nwant:\n%s", c.calls(), want)
	}
	for path, want := range map[string]string{
		userdata.ProgramPath: imageProgram, userdata.RunnerDir + "/run.sh": "#!/bin/bash\n", userdata.RunnerDir + "/bin/Runner.Listener": listener,
		userdata.RunnerDir + "/" + userdata.RunnerMark: sum(runner) + "\n",
	} {
		if got := c.has(path); got != want {
			t.Errorf("%s = %q, want %q", path, got, want)
		}
	}
	for _, gone := range []string{userdata.RunnerDir + ".new", userdata.RunnerDir + "/_diag", userdata.RunnerDir + "/archive", userdata.ProgramPath + ".new"} {
		if _, err := os.Stat(filepath.Join(c.root, gone)); !os.IsNotExist(err) {
			t.Errorf("%s: %v, want nothing left", gone, err)
		}
	}
	const ready = "remuda: image is ready: remuda 1.2.3, runner 2.337.0\n"
	if !strings.Contains(c.out, "remuda: the program fetched in ") || !strings.HasSuffix(c.out, ready) {
		t.Errorf("output %q, want %q at its end", c.out, ready)
	}
	c.write(filepath.Join(c.root, "calls"), "")
	if status := c.build(imageData(web.URL, runner)); status != 0 || c.out != ready || c.calls() != "" || web.fetched.Load() != 2 {
		t.Errorf("again: status = %d, output %q, calls %q, %d fetched, want nothing done", status, c.out, c.calls(), web.fetched.Load()-2)
	}
}

// A newer runner replaces the older one as a whole; one that cannot be had leaves it.
func TestImage_AnotherRunner(t *testing.T) {
	c := newComputer(t)
	older := archive(t, listener)
	newer := archive(t, strings.Replace(listener, "2.337.0", "2.338.0", 1))
	web := newRelease(t, map[string]string{"/remuda": imageProgram, "/runner.tar.gz": older, "/newer": newer, "/wrong": "x"})
	d := imageData(web.URL, older)
	d.User = ""
	if c.build(d) != 0 {
		t.Fatal("no image")
	}
	c.write(filepath.Join(c.root, userdata.RunnerDir, "older"), "")
	for _, path := range []string{"/wrong", "/missing"} {
		d.Runner.URL, d.Runner.SHA256 = web.URL+path, sum(newer)
		if status := c.build(d); status == 0 || !strings.Contains(c.out, "the runner from "+web.URL+path) || c.has(userdata.RunnerDir+"/run.sh") == "" {
			t.Errorf("%s: status = %d, output %q, want a failure that leaves the older runner", path, status, c.out)
		}
		if _, err := os.Stat(filepath.Join(c.root, userdata.RunnerDir+".new")); !os.IsNotExist(err) {
			t.Errorf("%s: the half runner stays: %v", path, err)
		}
	}
	d.Runner.URL = web.URL + "/newer"
	if status := c.build(d); status != 0 || !strings.HasSuffix(c.out, "runner 2.338.0\n") {
		t.Errorf("status = %d, output %q, want the newer runner", status, c.out)
	}
	if _, err := os.Stat(filepath.Join(c.root, userdata.RunnerDir, "older")); !os.IsNotExist(err) {
		t.Errorf("a file of the older runner: %v", err)
	}
}

// What would be no image is said at the end, not found out by the first machine.
func TestImage_CheckFails(t *testing.T) {
	good := archive(t, listener)
	broken := archive(t, "#!/bin/bash\necho 'libicu is missing' >&2; exit 1\n")
	web := newRelease(t, map[string]string{"/remuda": imageProgram, "/dead": "#!/bin/bash\nexit 3\n", "/runner.tar.gz": good, "/broken": broken})
	other := map[string]string{"x86_64": "arm64", "arm64": "x86_64"}[arch()]
	for _, tt := range []struct {
		name string
		does func(*computer, *userdata.ImageData)
		want string
	}{
		{"OtherArchitecture", func(_ *computer, d *userdata.ImageData) { d.Arch = other }, "cannot begin: this script is for " + other + ", and this machine is "},
		{"NoUser", func(c *computer, d *userdata.ImageData) { d.User = "jobs"; c.standIn("useradd", "exit 9\n") }, "cannot make user jobs"},
		{"StillLacking", func(c *computer, _ *userdata.ImageData) {
			c.write(filepath.Join(c.bin, "ldconfig"), "#!/bin/sh\n")
			c.standIn("apt-get", "")
		}, "a machine needs at its boot is missing: libicu"},
		{"NoPackages", func(c *computer, _ *userdata.ImageData) {
			c.write(filepath.Join(c.bin, "ldconfig"), "#!/bin/sh\n")
			c.standIn("apt-get", "exit 1\n")
		}, "cannot install what runners need"},
		{"NoProgram", func(_ *computer, d *userdata.ImageData) { d.Program.URL = "" }, "cannot install the program: there is none at " + userdata.ProgramPath + " with SHA-256"},
		{"NoRunnerThere", func(c *computer, d *userdata.ImageData) {
			c.write(filepath.Join(c.root, "etc/file"), "")
			d.Runner.Dir = "/etc"
		}, "cannot make /etc: it is there and holds something else than a runner"},
		{"DeadProgram", func(_ *computer, d *userdata.ImageData) {
			d.Program.URL, d.Program.SHA256 = web.URL+"/dead", sum("#!/bin/bash\nexit 3\n")
		}, userdata.ProgramPath + " does not run (status 3)"},
		{"DeadRunner", func(_ *computer, d *userdata.ImageData) {
			d.Runner.URL, d.Runner.SHA256 = web.URL+"/broken", sum(broken)
		}, "the runner in /opt/actions-runner does not run (status 1)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newComputer(t)
			d := imageData(web.URL, good)
			d.User = ""
			tt.does(c, &d)
			if status := c.build(d); status == 0 || !strings.Contains(c.out, tt.want) || !strings.Contains(c.out, "this machine is not an image for remuda") {
				t.Errorf("status = %d, output %q, want %q", status, c.out, tt.want)
			}
			if tt.name == "OtherArchitecture" && c.calls()+c.has(userdata.ProgramPath) != "" {
				t.Errorf("calls %q, before the machine is known to be the right one", c.calls())
			}
		})
	}
}

// An image may come without a runner, which agents fetch then, and with a program that was put there before.
func TestImage_NothingToFetch(t *testing.T) {
	c := newComputer(t)
	c.write(filepath.Join(c.root, "/opt/remuda"), imageProgram)
	d := userdata.ImageData{Arch: arch(), Region: "eu-west-1", Program: userdata.Program{Baked: "/opt/remuda"}, Runner: userdata.Runner{Dir: userdata.RunnerDir}}
	if status := c.build(d); status != 0 || c.out != "remuda: image is ready: remuda 1.2.3, without a runner (agent.runnerUrl)\n" {
		t.Errorf("status = %d, output %q", status, c.out)
	}
}

// What is wrong is said all at once, and nothing of it reaches a shell.
func TestImage_Invalid(t *testing.T) {
	_, err := userdata.Image(userdata.ImageData{
		Arch: "amd64", Region: "eu", User: "a b", Program: userdata.Program{URL: "s3://x", Baked: "opt"},
		Runner: userdata.Runner{URL: "https://me:hush@example.org/", SHA256: "1", Dir: "/"},
	})
	if err == nil || strings.Contains(err.Error(), "hush") {
		t.Fatalf("Image = %v", err)
	}
	for _, want := range []string{
		`architecture: must be x86_64 or arm64, got "amd64"`, `region: must be`, `user: must be`, `program URL: must be`, `program SHA-256: must be set`,
		`baked program: must be`, `runner URL: must be`, `runner SHA-256: must be 64`, `runner directory: must be a clean absolute path without control characters, got "/"`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Image lacks %q:\n%v", want, err)
		}
	}
}
