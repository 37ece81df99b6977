//go:build unix

// Package simrunner is a simulated runner program: it takes the command lines of the real one
// (github.com/actions/runner), prints its lines, keeps its files and ends with its exit codes, but
// talks to a simulated GitHub (package githubsim), whose address it has from --url or from the
// just-in-time configuration.
//
// Install writes a runner folder whose scripts call a program that calls RunnerMain. What the real
// runner does is cited by its source file, as of version 2.336.0. As there, a worker of its own (worker.go, job.go)
// carries out each job. Not simulated: prompts, self-update, services and containers.
package simrunner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/githubsim"
)

// Version is what the program says of itself (src/runnerversion).
const Version = "2.336.0"

// Exit codes (src/Runner.Common/Constants.cs, ReturnCode). 3, 4 and 6 tell of updates and are never
// returned here.
const (
	exitSuccess         = 0
	exitTerminated      = 1
	exitRetryable       = 2
	exitSessionConflict = 5
	exitDeprecated      = 7
)

// deprecatedEnv asks for exitDeprecated instead of exitTerminated (Constants.cs,
// ReturnVersionDeprecatedExitCode; src/Runner.Listener/Program.cs).
const deprecatedEnv = "ACTIONS_RUNNER_RETURN_VERSION_DEPRECATED_EXIT_CODE"

// exitTerm is how the program ends by SIGTERM, as every .NET program does (dotnet/runtime, src/native/libs/
// System.Native/pal_signal.c).
const exitTerm = 128 + int(syscall.SIGTERM)

// callTimeout bounds one request, polls included (src/Sdk/Common/Common/VssHttpRequestSettings.cs,
// DefaultTimeout).
const callTimeout = 100 * time.Second

// Program is one start of the runner program. All fields but Signals are required.
type Program struct {
	Dir    string   // the runner's folder
	Exe    string   // this program, for workers; see Subcommand
	Env    []string // name=value
	Stdout io.Writer
	Stderr io.Writer
	Client *http.Client
	Clock  clock.WithTicker
	Timing Timing
	// Signals that the program gets, SIGINT or SIGTERM. The end of Main's context stands for SIGINT.
	Signals <-chan os.Signal

	// What reaches the operating system, for tests in virtual time. Main sets the first, RunnerMain a worker's.
	spawn    func(*Program) (*workerProcess, error)
	start    func(*exec.Cmd) (*stepProcess, error)
	orphaned func(listener int) bool // of a worker

	out   sync.Mutex // one line at a time, whichever goroutine prints it
	ended bool       // and none after the program's end
}

// RunnerMain is the program: args as Runner.Listener gets them ("run", "--jitconfig", …), the
// process's environment, the runner's folder. It takes the process's signals itself: the end of ctx is none.
// It returns the exit code. With WorkerCommand it is a worker.
func RunnerMain(ctx context.Context, args, env []string, dir string, stdout, stderr io.Writer) int {
	transport := http.DefaultTransport.(*http.Transport).Clone() // documented to be one
	defer transport.CloseIdleConnections()
	exe, err := os.Executable()
	if err != nil {
		fmt.Fprintf(stderr, "An error occurred: %v\n", err)
		return exitTerminated
	}
	p := &Program{
		Dir: dir, Exe: exe, Env: env, Stdout: stdout, Stderr: stderr,
		Client: &http.Client{Transport: transport, Timeout: callTimeout}, Clock: clock.RealClock{}, Timing: RealTiming().brisk(),
	}
	if len(args) == 2 && args[0] == WorkerCommand {
		fd, err := strconv.Atoi(args[1])
		if err != nil || fd <= 2 {
			p.fail(fmt.Sprintf("%s: descriptor %q: must be a number above 2", WorkerCommand, args[1]))
			return exitTerminated
		}
		syscall.CloseOnExec(fd)
		// A signal to the whole group is not for the worker. It is caught, not ignored: steps would inherit that.
		caught := make(chan os.Signal, 1)
		signal.Notify(caught, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
		defer signal.Stop(caught)
		p.start, p.orphaned = start, func(listener int) bool { return os.Getppid() != listener }
		return p.serve(os.NewFile(uintptr(fd), "orders"))
	}
	signals := make(chan os.Signal, 4) // as many as anybody sends in a moment
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)
	p.Signals = signals
	return p.Main(context.WithoutCancel(ctx), args)
}

// fatal is an error with an exit code of its own. Others end with exitRetryable, as every unforeseen
// exception of the real program does (src/Runner.Listener/Program.cs, MainAsync).
type fatal struct {
	code int
	msg  string
}

func (e *fatal) Error() string { return e.msg }

// Main runs the program and returns its exit code. SIGINT ends it gently, however often it comes, and so does
// SIGTERM; but once it is ending SIGTERM ends it at once, whatever it is about
// (src/Runner.Listener/Runner.cs, CtrlCHandler; src/Runner.Common/HostContext.cs, LoadContext_Unloading).
func (p *Program) Main(ctx context.Context, args []string) int {
	if p.spawn == nil {
		p.spawn = spawn
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	code := make(chan int, 1)
	go func() { code <- p.main(running, args) }()
	ending, terminated := ctx.Done(), false
	for {
		select {
		case c := <-code:
			if terminated {
				return exitTerm
			}
			return c
		case <-ending:
			ending = nil
			p.say("Exiting...")
		case s := <-p.Signals:
			if s == syscall.SIGINT {
				p.say("Exiting...")
				break
			}
			if running.Err() != nil {
				p.end()
				return exitTerm
			}
			terminated = true
		}
		stop()
	}
}

func (p *Program) main(ctx context.Context, args []string) int {
	if err := p.loadEnv(); err != nil {
		p.fail(fmt.Sprintf("An error occurred: %v", err))
		return exitTerminated
	}
	if err := listable(p.Dir); err != nil {
		p.fail(fmt.Sprintf("An error occurred: %v", err))
		return exitTerminated
	}
	c := parse(args, p.Env)
	p.Env = withoutInputs(p.Env)
	// Reported, but no reason to stop (src/Runner.Listener/Program.cs).
	if unknown := c.unknown(); len(unknown) > 0 {
		list := strings.Join(unknown, ", ")
		if c.command() == "" {
			p.fail(fmt.Sprintf("This command does not recognize the command-line input arguments: '%s'. For usage refer to: ./config.sh --help", list))
		} else {
			p.fail(fmt.Sprintf("Unrecognized command-line input arguments for command %s: '%s'. For usage refer to: ./config.sh --help", c.command(), list))
		}
	}
	err := p.execute(ctx, c)
	var ended *fatal
	switch {
	case err == nil:
		return exitSuccess
	case errors.As(err, &ended):
		if ended.msg != "" {
			p.fail(ended.msg)
		}
		return ended.code
	case errors.Is(err, githubsim.ErrDeprecated):
		p.fail(fmt.Sprintf("An error occurred: Runner version v%s is deprecated and cannot receive messages.", Version))
		if isTrue(lookup(p.Env, deprecatedEnv)) {
			return exitDeprecated
		}
		return exitTerminated
	default:
		p.fail(fmt.Sprintf("An error occurred: %v", err))
		return exitRetryable
	}
}

// listable is an error unless the folder and every one above it can be listed
// (src/Runner.Sdk/Util/IOUtil.cs, ValidateExecutePermission).
func listable(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		f, err := os.Open(at)
		if err == nil {
			_, err = f.ReadDir(1)
			_ = f.Close() // it was only read
		}
		if errors.Is(err, os.ErrPermission) {
			return fmt.Errorf("Permission to read the directory contents is required for '%s' and each directory up the hierarchy. %w", dir, err) //nolint:staticcheck // the real program's words
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// execute carries the command out in the order of src/Runner.Listener/Runner.cs, ExecuteCommand.
func (p *Program) execute(ctx context.Context, c *commandLine) error {
	switch {
	case c.flag("help"):
		p.usage()
		return nil
	case c.flag("version"):
		p.say(Version)
		return nil
	case c.is("configure"):
		return terminated(p.configure(ctx, c))
	case c.is("remove"):
		return terminated(p.remove(ctx, c))
	case c.is("warmup"):
		return nil
	}
	if encoded := c.arg("jitconfig"); encoded != "" {
		if err := p.saveJIT(encoded); err != nil {
			return terminated(err)
		}
	}
	if !c.is("run") {
		p.usage()
		return nil
	}
	return p.run(ctx, c)
}

// terminated gives an error the code and the bare message that configure and remove end with.
func terminated(err error) error {
	if err == nil {
		return nil
	}
	return &fatal{exitTerminated, err.Error()}
}

// loadEnv adds the variables of the .env file in the runner's folder, which win (Program.cs,
// LoadAndSetEnv).
func (p *Program) loadEnv() error {
	raw, err := os.ReadFile(filepath.Join(p.Dir, ".env"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\r\n")
		if i := strings.IndexByte(line, '='); i > 0 {
			p.Env = append(p.Env, line)
		}
	}
	return nil
}

func (p *Program) say(line string)  { p.print(p.Stdout, line) }
func (p *Program) fail(line string) { p.print(p.Stderr, line) }

// success prints as Terminal.WriteSuccessMessage does (src/Runner.Common/Terminal.cs).
func (p *Program) success(line string) { p.say("√ " + line) }

// section prints as Terminal.WriteSection does.
func (p *Program) section(line string) { p.say("\n# " + line + "\n") }

func (p *Program) print(w io.Writer, line string) {
	p.out.Lock()
	defer p.out.Unlock()
	if !p.ended {
		fmt.Fprintln(w, line)
	}
}

// end is the program's end while something of it still runs, as nothing of a process does.
func (p *Program) end() {
	p.out.Lock()
	defer p.out.Unlock()
	p.ended = true
}

// stamp is the present in the real program's format ({DateTime.UtcNow:u}).
func (p *Program) stamp() string { return p.Clock.Now().UTC().Format("2006-01-02 15:04:05Z") }

func (p *Program) usage() {
	p.say(`Commands:
 ./config.sh         Configures the runner
 ./config.sh remove  Unconfigures the runner
 ./run.sh            Runs the runner interactively. Does not require any options.`)
}

// lookup returns the last value of name, as programs see it.
func lookup(env []string, name string) string {
	value := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

// isTrue reads a flag as the real program does (src/Runner.Sdk/Util/StringUtil.cs, ConvertToBoolean).
func isTrue(s string) bool {
	return slices.Contains([]string{"1", "true", "$true"}, strings.ToLower(s))
}
