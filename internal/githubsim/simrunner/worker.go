//go:build unix

package simrunner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
)

// WorkerCommand is the first word of a worker's command line (src/Runner.Worker/Program.cs). The second is the
// descriptor from which it reads its orders.
const WorkerCommand = "spawnclient"

// workerProgram is the name of the worker, by which the processes of a job know it. Here it is this program
// under that name.
const workerProgram = "Runner.Worker"

// Exit codes of a worker: 100 and a result (src/Runner.Common/Util/TaskResultUtil.cs,
// TranslateToReturnCode; src/Sdk/DTWebApi/WebApi/TaskResult.cs). Any other is a crash.
const (
	workerSucceeded = 100
	workerFailed    = 102
	workerCanceled  = 103
)

const (
	// orderTimeout bounds the writing of an order (src/Runner.Listener/JobDispatcher.cs, _channelTimeout).
	orderTimeout = 30 * time.Second
	// outputDelay is how long the listener waits for the end of its ended worker's output, which others may
	// hold (src/Runner.Sdk/ProcessInvoker.cs, ExecuteAsync).
	outputDelay = 5 * time.Second
	// maxOutput bounds what is kept of a worker's output: it has something to say when it crashes only.
	maxOutput = 64 << 10
)

// order is one message of the listener to its worker (src/Runner.Common/ProcessChannel.cs). A job comes
// first, and once.
type order struct {
	Job      *assignment `json:"job,omitempty"`
	Cancel   bool        `json:"cancel,omitempty"`   // the job: steps with always() still run
	Shutdown bool        `json:"shutdown,omitempty"` // of the runner: no step runs any more
}

// assignment is all that a worker must know.
type assignment struct {
	Job      githubsim.Job `json:"job"`
	Listener int           `json:"listener"` // process; the worker's parent while it lives
	Runner   string        `json:"runner"`
	Work     string        `json:"work"`
	URL      string        `json:"url"`
	Session  string        `json:"session"`
	Timing   Timing        `json:"timing"`
}

// dispatcher is the listener's part of a job: a process of its own carries the job out, in the listener's
// process group (src/Runner.Listener/JobDispatcher.cs).
type dispatcher struct {
	program  *Program
	cred     githubsim.Credentials
	work     string
	session  func() *githubsim.RemoteSession
	stopping func() bool // the runner is shut down
}

// run implements githubsim.RunFunc (JobDispatcher.cs, RunAsync). The real worker reports the job's result
// itself. Here the listener does while it lives, because the service removes a runner of one job with
// that result, and a poll in progress would learn it before the worker's end.
func (d *dispatcher) run(ctx context.Context, j githubsim.Job) githubsim.Conclusion {
	p := d.program
	p.say(fmt.Sprintf("%s: Running job: %s", p.stamp(), j.Name))
	if ctx.Err() != nil {
		return githubsim.Cancelled // before there is a worker: without a word more
	}
	c, word, crash := d.job(ctx, j)
	if crash != "" {
		if err := d.session().Annotate(context.WithoutCancel(ctx), j.ID, crash); err != nil {
			p.fail(fmt.Sprintf("annotate job %s: %v", j.ID, err))
		}
	}
	p.say(fmt.Sprintf("%s: Job %s completed with result: %s", p.stamp(), j.Name, word))
	return c
}

// job starts a worker and waits for its end. A job that was cut is Canceled in the listener's words, whatever
// the worker says. Of a worker that crashed crash is the output.
func (d *dispatcher) job(ctx context.Context, j githubsim.Job) (c githubsim.Conclusion, word, crash string) {
	w, err := d.program.spawn(d.program)
	if err != nil {
		return githubsim.Failure, "Failed", fmt.Sprintf("start worker: %v", err)
	}
	defer w.orders.Close()
	w.send(order{Job: &assignment{
		Job: j, Listener: os.Getpid(), Runner: d.cred.Name, Work: d.work,
		URL: d.cred.URL, Session: d.session().ID(), Timing: d.program.Timing,
	}})
	select {
	case <-w.ended:
		if c, word, ok := result(w.code()); ok {
			return c, word, ""
		}
		return githubsim.Failure, "Failed", w.output()
	case <-ctx.Done():
	}
	w.send(order{Cancel: true, Shutdown: d.stopping()})
	t := d.program.Clock.NewTimer(d.program.Timing.Post)
	defer t.Stop()
	select {
	case <-w.ended:
	case <-t.C():
		w.kill()
		<-w.ended
	}
	if c, _, ok := result(w.code()); ok {
		return c, "Canceled", ""
	}
	return githubsim.Cancelled, "Canceled", ""
}

// result reads the exit code of a worker.
func result(code int) (c githubsim.Conclusion, word string, ok bool) {
	switch code {
	case workerSucceeded:
		return githubsim.Success, "Succeeded", true
	case workerFailed:
		return githubsim.Failure, "Failed", true
	case workerCanceled:
		return githubsim.Cancelled, "Canceled", true
	}
	return "", "", false
}

// workerProcess is a worker as its listener sees it.
type workerProcess struct {
	orders io.WriteCloser
	ended  <-chan struct{}
	code   func() int    // once it has ended
	output func() string // the same
	kill   func()
}

// spawn starts a worker.
func spawn(p *Program) (*workerProcess, error) {
	in, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close() // the worker has its own
	out, ended := &output{}, make(chan struct{})
	cmd := exec.Command(p.Exe, Subcommand, p.Dir, WorkerCommand, "3") // 3: the first of ExtraFiles
	cmd.Args[0] = filepath.Join(p.Dir, "bin", workerProgram)
	cmd.Dir, cmd.Env = p.Dir, append([]string{}, p.Env...) // nil would be this process's
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = out, out, []*os.File{in}
	cmd.WaitDelay = outputDelay
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, orders.Close())
	}
	go func() {
		defer close(ended)
		_ = cmd.Wait() // its code is read from its state
	}()
	return &workerProcess{
		orders: orders, ended: ended, code: func() int { return cmd.ProcessState.ExitCode() }, output: out.String,
		kill: func() { _ = cmd.Process.Kill() }, // it may have ended
	}, nil
}

// send writes an order. One that a worker does not take shows in its end.
func (w *workerProcess) send(o order) {
	if file, ok := w.orders.(*os.File); ok {
		_ = file.SetWriteDeadline(time.Now().Add(orderTimeout)) //nolint:forbidigo // deadlines of files are real time
	}
	_ = json.NewEncoder(w.orders).Encode(o)
}

// output keeps the beginning of what a worker prints.
type output struct{ bytes.Buffer }

func (o *output) Write(b []byte) (int, error) {
	if left := maxOutput - o.Len(); left > 0 {
		o.Buffer.Write(b[:min(left, len(b))])
	}
	return len(b), nil
}
