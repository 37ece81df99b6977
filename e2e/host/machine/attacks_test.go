//go:build linux

package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/attack"
	"github.com/remuda-run/remuda/e2e/host/hosttest"
	"github.com/remuda-run/remuda/e2e/program"
)

// allowSubordinateIDs lets the agent serve a user that has subordinate uids at level full.
const allowSubordinateIDs = "REMUDA_AGENT_ALLOW_SUBORDINATE_IDS=true"

// hostile is where a machine has program hostile, and firstSubordinate the first subordinate uid of the jobs' user.
const (
	hostile          = "/usr/local/bin/hostile"
	firstSubordinate = 100_000
)

// arms begins each job that attacks. $chain leaves a chain of short processes that no signal of the jobs' user reaches: its argument
// /NAME is the name of the attack. $stays leaves a process of the same uids. haze leaves zombies, which make each search of /proc slow,
// so that it misses short processes. appears waits for a process of hostile. {{line}} is the address of the test, and {{run}} the id of
// the run.
const arms = `
common="-line {{line}} -sub 100000 -file $HOME/hostile -as half -life 1ms"
hostile arm $common
chain="/usr/local/bin/hostile leave $common -kind chain -name {{run}}"
stays="/usr/local/bin/hostile leave $common -kind stay -name {{run}}"
export XDG_RUNTIME_DIR=/run/user/$(id -u)
lingers() {
  docker run --rm --volume /:/host tools:1 chroot /host loginctl enable-linger runner
  until test -S "$XDG_RUNTIME_DIR/systemd/private"; do sleep 0.1; done
}
haze() { hostile leave $common -as user -kind bomb -life 0s -wide 2 -count 4000 -name {{run}}-haze; }
appears() { until grep -qsx hostile /proc/[0-9]*/comm; do sleep 0.1; done; }
leftover="--property=KillMode=process --property=RemainAfterExit=yes"
run="docker run --detach --network host --volume /usr/local/bin/hostile:/usr/local/bin/hostile:ro"
root="--pid host --cap-add SYS_ADMIN --cap-add SYS_PTRACE --security-opt apparmor=unconfined --security-opt seccomp=unconfined"
inside="/usr/local/bin/hostile leave -line {{line}} -kind chain -life 1ms -name {{run}}"
`

// siege is one job with its attacks, which must stand before the run is released. Most are one chain: two at a time are found sooner.
type siege struct {
	name, script string
	attacks      []string
}

var sieges = []siege{
	{"job", "$chain/chain", []string{"chain"}},
	{"job-slow", "$chain/chain -life 2ms", []string{"chain"}},
	{"job-quick", "$chain/chain -life 50us", []string{"chain"}},
	{"job-in-namespace", "$chain/own -as sub -ns own", []string{"own"}},
	{"job-held", `
$stays/stopped -kind stopped
$stays/traced -kind traced
$stays/vfork -kind vfork
$stays/ghost -kind ghost
$stays/namespace -kind stopped -as sub -ns own
$stays/wide -kind chain -life 2ms -wide 8
`, []string{"stopped", "traced", "vfork", "ghost", "namespace", "wide"}},
	{"service", "lingers; systemd-run --user $leftover $chain/service", []string{"service"}},
	{"scope", "lingers; systemd-run --user --scope $chain/scope; haze", []string{"scope"}},
	{"timer", "lingers; systemd-run --user --on-active=1s $leftover $chain/timer", []string{"timer"}},
	{"unit", `
lingers
units=/srv/runner/.config/systemd/user
mkdir -p $units
printf '[Service]\nType=oneshot\nRemainAfterExit=yes\nKillMode=process\nExecStart=%s\n[Install]\nWantedBy=default.target\n' "$chain/unit" > $units/left.service
systemctl --user daemon-reload
systemctl --user enable --now left.service
`, []string{"unit"}},
	{"units-held", `
lingers
systemd-run --user --unit=frozen --property=Type=oneshot $leftover $stays/frozen
systemctl --user freeze frozen.service
systemd-run --user --unit=cold --property=Type=oneshot $leftover $chain/frozen-chain
systemctl --user freeze cold.service
systemd-run --user --scope $stays/stopped -kind stopped
systemd-run --user --scope $stays/own -as sub -ns own
`, []string{"frozen", "frozen-chain", "stopped", "own"}},
	{"cron", `echo "* * * * * $chain/cron" | crontab -; appears; haze`, []string{"cron"}},
	{"at", `echo "$chain/at" | at now; appears; haze`, []string{"at"}},
	{"at-slow", `echo "$chain/at -life 2ms" | at now; appears; haze`, []string{"at"}},
	{"at-held", `echo "$stays/at && $stays/stopped -kind stopped" | at now`, []string{"at", "stopped"}},
	{"docker", `$run tools:1 sh -c "$inside/root && sleep 1000000"; haze`, []string{"root"}},
	{"docker-restart", `$run --user 100000:1500 --restart always tools:1 sh -c "$inside/subordinate && sleep 1000000"`, []string{"subordinate"}},
	{"docker-host", `
$run $root tools:1 sh -c "$inside/host && sleep 1000000"
$run --user 1500:1500 --pid host tools:1 sh -c "$inside/user && sleep 1000000"
`, []string{"host", "user"}},
	{"nsenter", `
$run --name plain tools:1 sleep 1000000
$run $root tools:1 sh -c "nsenter -t 1 -m -n -i -u $inside/out && sleep 1000000"
$run $root tools:1 sh -c "nsenter -t $(docker inspect --format '{{.State.Pid}}' plain) -m -p $inside/in && sleep 1000000"
`, []string{"out", "in"}},
}

// No process that a job starts on a real machine is alive when the next run begins on that machine: not in the job, a user service of
// systemd, cron, at or a container. An attack that the agent cannot end ends the machine instead (H42).
func TestAttacks_H42_Review_S0(t *testing.T) {
	t.Parallel()
	hosttest.Require(t)
	binary, err := os.ReadFile(program.Binary)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script, file := filepath.Join(dir, "prepare"), filepath.Join(dir, "hostile")
	if err := os.WriteFile(script, []byte(strings.ReplaceAll(prepare, "for program in ", "for program in nsenter ")), 0o700); err != nil {
		t.Fatal(err)
	}
	attack.Build(t, file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := attack.Listen(t)
	w := newWorld(t, binary, "REMUDA_AGENT_SCRIPT="+script, allowSubordinateIDs)
	o := w.computers.options // no machine is there yet
	o.Files[hostile] = hosttest.File{Text: string(text), Mode: 0o755}
	for _, name := range []string{"/etc/subuid", "/etc/subgid"} {
		o.Files[name] = hosttest.File{Text: fmt.Sprintf("%s:%d:65536\n", jobs, firstSubordinate), Mode: 0o644}
	}
	o.Reach[lines.Address()] = lines.Address()
	for _, s := range sieges {
		t.Run(s.name, func(t *testing.T) {
			own := *w
			own.T = program.T{TB: t}
			own.withstands(lines, s)
		})
	}
}

// withstands plays a job with its attacks, and then a run that has a secret.
func (w *world) withstands(lines *attack.Lines, s siege) {
	w.Helper()
	run, next := s.name, s.name+"-next"
	first := w.request(run)
	// The job waits until its attacks stand, because the agent ends all processes that it finds after each job.
	script := strings.NewReplacer("{{line}}", lines.Address(), "{{run}}", run).Replace(arms + s.script + "\nhostile hold $common -name {{run}}-job\n")
	w.remuda("dev", "submit", "--run", run, "--script", "set -e\n"+script)
	for _, name := range s.attacks {
		w.stands(lines, run+"/"+name)
	}
	w.stands(lines, run+"-job").End()
	w.released(run, first)
	second := w.request(next)
	w.remuda("dev", "submit", "--run", next, "--script", "exec env GITHUB_TOKEN=ghs_of_the_next_run hostile hold -line "+lines.Address()+" -name "+next)
	job := w.stands(lines, next)
	if second != first {
		w.Logf("machine %s ended, and machine %s serves the next run", first, second)
	} else {
		for _, l := range lines.Alive(run + "/") {
			l.Steal()
			if err := program.Until(5*time.Second, "it steals", l.Answered); err != nil {
				w.Log(err) // it is no chain
			}
			l.End()
			w.Errorf("attack %s is alive in the next run on machine %s: %s", l.Name, second, l.Said())
		}
	}
	job.End()
	w.released(next, second)
}

// stands waits until an attack is alive. If it is not, the test's log shows what the attacks reported.
func (w *world) stands(lines *attack.Lines, name string) *attack.Line {
	w.Helper()
	var alive []*attack.Line
	err := program.Until(2*time.Minute, "attack "+name+" stands", func() bool {
		alive = lines.Alive(name)
		return len(alive) > 0
	})
	if err != nil {
		for _, l := range lines.Stood("") {
			w.Logf("%s: %s", l.Name, l.Said())
		}
	}
	w.Check(err)
	return alive[0]
}
