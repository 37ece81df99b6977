//go:build unix

package actionsrunner_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/actionsrunner"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// program stands for bin/Runner.Listener: it does what it reads from a pipe, one command a line.
const program = `#!/bin/sh
dir=$(dirname "$0")/..
trap 'echo Exiting...; exit 0' INT TERM
env > "$dir/env"
echo "$@" > "$dir/args"
exec 3<> "$dir/pipe"
while true; do
	if ! IFS= read -r line <&3; then continue; fi
	case $line in
	"say "*) echo "2026-01-02 03:04:05Z: ${line#say }" ;;
	"cry "*) echo "${line#cry }" >&2 ;;
	"exit "*) exit "${line#exit }" ;;
	die) kill -SEGV $$ ;;
	child) sleep 600 & echo $! > "$dir/child" ;;
	worker)
		ln -sf "$(command -v sleep)" "$dir/bin/Runner.Worker"
		"$dir/bin/Runner.Worker" 600 & echo $! > "$dir/child" ;;
	daemon) setsid sleep 600 & echo $! > "$dir/child" ;;
	orphan) env -i sleep 600 & echo $! > "$dir/child" ;;
	stubborn) trap '' INT TERM; echo "2026-01-02 03:04:05Z: Runner reconnected." ;;
	flood) head -c 8000000 /dev/zero | tr '\0' x | fold -w 70 ;;
	esac
done
`

// configProgram stands for config.sh.
const configProgram = `#!/bin/sh
cd "$(dirname "$0")"
echo "$@" >> configured
env > configenv
[ -f answer ] && . ./answer
while [ $# -gt 0 ]; do
	[ "$1" = --name ] && name=$2
	shift
done
printf '\357\273\277{"agentId": 4711, "agentName": "%s"}' "$name" > .runner
`

// patience is how long a listener is asked to end before it is killed, which is 25 s after SIGINT and 5 s after
// SIGTERM. One that obeys does so as soon as it gets to run, however late that is; a stubborn one never does.
type patience struct {
	clock.RealClock
	factor float64
}

var (
	patient   = patience{factor: 10}
	impatient = patience{factor: 0.01}
)

func (p patience) After(d time.Duration) <-chan time.Time {
	if d == 25*time.Second || d == 5*time.Second {
		d = time.Duration(float64(d) * p.factor)
	}
	return p.RealClock.After(d)
}

// deaf is a clock after which no look at a listener that only waits is ever due.
type deaf struct{ clock.RealClock }

func (deaf) After(d time.Duration) <-chan time.Time {
	if d == 50*time.Millisecond || d == 200*time.Millisecond || d == time.Second {
		return nil
	}
	return clock.RealClock{}.After(d)
}

// world is a runner folder with programs that do what the test says.
type world struct {
	t       *testing.T
	dir     string
	options actionsrunner.Options
	user    *syscall.Credential // nil: this process's
	pipe    *os.File
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, dir: dir, options: actionsrunner.Options{
		Dir: dir, Log: filepath.Join(dir, "log"), Hook: filepath.Join(dir, "hook.sh"), Clock: patient,
		InstanceID: fmt.Sprintf("i-%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), os.Getpid()),
	}}
	w.options.World = func(context.Context) (actionsrunner.World, error) {
		return actionsrunner.World{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, Credential: w.user}, nil
	}
	w.write("bin/Runner.Listener", program)
	w.write("config.sh", configProgram)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(filepath.Join(dir, "pipe"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.pipe = pipe
	t.Cleanup(func() {
		pipe.Close()
		if _, err := w.runner().Adopt(context.Background(), process.Ref{}, ""); err != nil {
			t.Errorf("end what is left: %v", err)
		}
	})
	return w
}

func (w *world) runner() *actionsrunner.Runner {
	w.t.Helper()
	r, err := actionsrunner.New(w.options)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

func (w *world) has(name string) bool {
	_, err := os.Stat(filepath.Join(w.dir, name))
	return err == nil
}

// tell gives the program a command.
func (w *world) tell(command string) {
	w.t.Helper()
	if _, err := w.pipe.WriteString(command + "\n"); err != nil {
		w.t.Fatal(err)
	}
}

// start starts a listener for jobs of one kind.
func (w *world) start(mode store.RegistrationMode) agent.Listener {
	w.t.Helper()
	l, err := w.runner().Start(context.Background(), registration(mode), "run-1")
	if err != nil {
		w.t.Fatalf("Start = %v", err)
	}
	w.t.Cleanup(func() { l.Kill(); l.Detach() })
	return l
}

// listening is start up to where the listener waits for jobs.
func (w *world) listening(mode store.RegistrationMode) agent.Listener {
	w.t.Helper()
	l := w.start(mode)
	w.tell("say Listening for Jobs")
	w.want(l, agent.Listening)
	return l
}

func registration(mode store.RegistrationMode) store.Registration {
	return store.Registration{
		Serial: 3, Assignment: 5, Mode: mode, Name: "i-1-3", RunnerID: 33, URL: "https://github.example/octo/repo", Secret: "hush-hush",
	}
}

// want waits until the listener is in a state.
func (w *world) want(l agent.Listener, state agent.ListenerState) agent.Status {
	w.t.Helper()
	var st agent.Status
	eventually(w.t, func() bool { st = l.Status(); return st.State == state }, func() string {
		return fmt.Sprintf("status = %+v, want %s", l.Status(), state)
	})
	return st
}

// eventually waits until ok.
func eventually(t *testing.T, ok func() bool, what func() string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what())
		}
	}
}

// gone waits until the process whose pid is in a file has ended.
func (w *world) gone(ref process.Ref) {
	w.t.Helper()
	eventually(w.t, func() bool { return !ref.Alive() }, func() string { return fmt.Sprintf("process %d lives on", ref.PID) })
}

// child waits for the program's child.
func (w *world) child() process.Ref {
	w.t.Helper()
	var ref process.Ref
	eventually(w.t, func() bool {
		var pid int
		if !w.has("child") {
			return false
		}
		if _, err := fmt.Sscan(w.read("child"), &pid); err != nil {
			return false
		}
		var err error
		ref, err = process.Lookup(pid)
		return err == nil
	}, func() string { return "the program has no child" })
	return ref
}
