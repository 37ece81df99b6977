package userdata_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/fleet/ec2fleet/userdata"
)

// basics are the programs that every stock image has, and curl.
var basics = strings.Fields("base64 bash cat chmod curl date grep gzip head ln mkdir mv od rm sed sha256sum sort tail touch tr")

// stock makes c a stock image without libicu, nft and a user for jobs. Its package manager does what it is told here; what
// it has installed is there once the file "installed" is.
func (c *computer) stock(manager, does string) {
	c.t.Helper()
	c.path = c.t.TempDir()
	for _, name := range basics {
		c.link(name)
	}
	if err := os.Remove(filepath.Join(c.bin, "nft")); err != nil {
		c.t.Fatal(err)
	}
	for name, does := range map[string]string{
		"ldconfig":  `if [[ -e $REMUDA_ROOT/installed ]]; then echo 'libicuuc.so.74'; fi`,
		"id":        `[[ -e $REMUDA_ROOT/user ]]`,
		"apt-cache": `printf '%s\n' libicu-dev libicu72 libicu4j-java libicu74 libicu9 icu-devtools`,
	} {
		c.write(filepath.Join(c.bin, name), "#!/bin/bash\n"+does+"\n")
	}
	c.standIn("useradd", `touch "$REMUDA_ROOT/user"`)
	c.standIn(manager, does)
}

// link gives a stock image another program of this computer.
func (c *computer) link(name string) {
	c.t.Helper()
	where, err := exec.LookPath(name)
	if err == nil {
		err = os.Symlink(where, filepath.Join(c.path, name))
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// installs is a package manager that does not look closer.
const installs = `if [[ $* == *install* ]]; then touch "$REMUDA_ROOT/installed"; fi; echo chatter`

// bootStock boots c with a user for jobs and returns the calls but those at the beginning and the end of every boot.
func (c *computer) bootStock() string {
	c.t.Helper()
	d := data(serve(c.t, program, 0).URL)
	d.User = "runner"
	if status := c.boot(render(c.t, d)); status != 0 || c.has("started") == "" {
		c.t.Errorf("status = %d, console %q, want a started agent", status, c.has("dev/console"))
	}
	calls, ok := strings.CutPrefix(c.calls(), "shutdown -P +10\n")
	calls, also := strings.CutSuffix(calls, "systemctl daemon-reload\nsystemctl enable --now remuda-agent.service")
	if !ok || !also {
		c.t.Errorf("calls = %q", c.calls())
	}
	return calls
}

const (
	aptCalls = `apt-get -q -o APT::Update::Error-Mode=any -o Acquire::Retries=0 -o Acquire::http::Timeout=10 update
apt-get -q -y -o DPkg::Lock::Timeout=60 -o Acquire::Retries=0 -o Acquire::http::Timeout=10 --no-install-recommends install ca-certificates curl git nftables tar libicu74
`
	dnfCall = "dnf -q -y --setopt=install_weak_deps=False --setopt=timeout=10 --setopt=retries=1 install git libicu nftables tar\n"
)

// A stock image gets what it lacks, before the agent starts, and the console says what and how long it took.
func TestRun_StockImage(t *testing.T) {
	for manager, want := range map[string]string{"apt-get": "useradd --create-home --shell /bin/bash -K SUB_UID_COUNT=0 -K SUB_GID_COUNT=0 runner\n" + aptCalls, "dnf": "useradd --create-home --shell /bin/bash -K SUB_UID_COUNT=0 -K SUB_GID_COUNT=0 runner\n" + dnfCall} {
		t.Run(manager, func(t *testing.T) {
			c := newComputer(t)
			c.stock(manager, installs)
			if got := c.bootStock(); got != want {
				t.Errorf("calls:\n%s\nwant:\n%s", got, want)
			}
			for _, want := range []string{"remuda: user runner made\n", "remuda: nft libicu and git installed in ", "remuda: agent of main started after "} {
				if got := c.has("dev/console"); !strings.Contains(got, want) {
					t.Errorf("console = %q, want %q", got, want)
				}
			}
			if strings.Contains(c.out, "chatter") {
				t.Error("what the package manager says when all is well is printed")
			}
			c.write(filepath.Join(c.bin, "nft"), "#!/bin/sh\n")
			c.write(filepath.Join(c.root, "calls"), "")
			if got := c.bootStock(); got != "" {
				t.Errorf("the second boot called %q, want nothing", got)
			}
		})
	}
}

// Debian and Ubuntu update packages in the background. Updates hold dpkg's lock and restart services while jobs run. An instance masks the
// installed update units before it installs anything. A failure is logged and does not stop the script.
func TestRun_BackgroundUpdatesAreMasked_Review_B7(t *testing.T) {
	const mask = "systemctl --quiet --no-block --now mask "
	for name, tt := range map[string]struct {
		units    []string
		systemd  string
		want     string
		reported bool
	}{
		"Debian":  {[]string{"apt-daily.timer", "apt-daily-upgrade.timer", "unattended-upgrades.service"}, "", mask + "apt-daily.timer apt-daily-upgrade.timer unattended-upgrades.service\n", false},
		"Timers":  {[]string{"apt-daily.timer", "apt-daily-upgrade.timer"}, "", mask + "apt-daily.timer apt-daily-upgrade.timer\n", false},
		"Refused": {[]string{"apt-daily.timer"}, "if [[ $* == *mask* ]]; then exit 1; fi\n", mask + "apt-daily.timer\n", true},
		"None":    {nil, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newComputer(t)
			c.stock("apt-get", installs)
			c.standIn("systemctl", tt.systemd+standIns["systemctl"])
			for _, unit := range tt.units {
				c.write(filepath.Join(c.root, "lib/systemd/system", unit), "")
			}
			if got := c.bootStock(); !strings.HasPrefix(got, tt.want+"useradd") {
				t.Errorf("calls:\n%s\nwant at the beginning:\n%s", got, tt.want)
			}
			if got := strings.Contains(c.has("dev/console"), "cannot stop background updates (apt-daily.timer)"); got != tt.reported {
				t.Errorf("console = %q, want the failure reported: %t", c.has("dev/console"), tt.reported)
			}
		})
	}
}

// The machine's own lack of curl is mended before the program is fetched, on Amazon Linux by the small one that it has.
func TestRun_NoCurl(t *testing.T) {
	for manager, want := range map[string]string{"apt-get": aptCalls, "dnf": strings.Replace(dnfCall, " tar", " tar curl-minimal", 1)} {
		t.Run(manager, func(t *testing.T) {
			c := newComputer(t)
			c.stock(manager, `if [[ $* == *install* ]]; then mv "$REMUDA_ROOT/curl" "`+c.bin+`/curl"; fi`)
			curl, err := filepath.EvalSymlinks(filepath.Join(c.path, "curl"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(c.path, "curl")); err != nil {
				t.Fatal(err)
			}
			c.write(filepath.Join(c.root, "curl"), "#!/bin/bash\nexec "+curl+" \"$@\"\n")
			if got := c.bootStock(); !strings.HasSuffix(got, want) {
				t.Errorf("calls:\n%s\nwant at the end:\n%s", got, want)
			}
			if got := c.has("dev/console"); !strings.Contains(got, "curl nft libicu and git installed") {
				t.Errorf("console = %q", got)
			}
		})
	}
}

// Package sources that cannot be reached at first cost time only.
func TestRun_PackagesLate_TriedAgain(t *testing.T) {
	c := newComputer(t)
	c.stock("apt-get", `if [[ $(grep -c update "$REMUDA_ROOT/calls") -lt 3 ]]; then echo 'E: no network' >&2; exit 100; fi; `+installs)
	if got := c.bootStock(); strings.Count(got, "update") != 3 || !strings.HasSuffix(got, aptCalls) {
		t.Errorf("calls:\n%s\nwant three updates and one installation", got)
	}
}

// Where nothing can be installed, and nobody made, the machine says what to do; its agent starts, and tells what that means for jobs.
func TestRun_NothingInstalled(t *testing.T) {
	for _, tt := range []struct{ name, manager, why string }{
		{"Refused", "apt-get", "cannot install nft libicu: E: no mirror: use an image that has it, or let machines reach the package sources"},
		{"NoManager", "zypper", "cannot install nft libicu: neither apt-get nor dnf is here: use an image"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newComputer(t)
			c.stock(tt.manager, "echo 'Reading…'; echo 'E: no mirror' >&2; exit 100\n")
			c.standIn("useradd", "exit 9\n")
			c.bootStock()
			for _, want := range []string{tt.why, "cannot make user runner: jobs need it (agent.runnerUser)"} {
				if got := c.has("dev/console"); !strings.Contains(got, want) {
					t.Errorf("console = %q, want %q", got, want)
				}
			}
		})
	}
}

// What takes long is not tried as often, and the last status is told.
func TestAgain(t *testing.T) {
	c := newComputer(t)
	if status := c.boot(render(t, data(serve(t, program, 0).URL))); status != 0 {
		t.Fatal("no machine")
	}
	for seconds, want := range map[string]string{"0": "7 tries, status 5", "50": "3 tries, status 5", "500": "1 tries, status 5"} {
		c.run("bash", "-c", c.lib()+`n=0; try() { ((++n)); ((SECONDS += `+seconds+`)); return 5; }; again try || echo -n "$n tries, status $?"`)
		if c.out != want {
			t.Errorf("of tries of %s s: %q, want %q", seconds, c.out, want)
		}
	}
}

// Names that could be read as an option, or as two words, are no users.
func TestRender_User_Invalid(t *testing.T) {
	for _, user := range []string{"-D", "a b", "a\nb", "0"} {
		d := data("https://example.org/remuda")
		d.User = user
		if _, err := userdata.Render(d); err == nil || !strings.Contains(err.Error(), "user: must be the name of a user") {
			t.Errorf("Render with user %q = %v", user, err)
		}
	}
}
