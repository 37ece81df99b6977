package agent

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/utils/clock"
)

// askPause is between two tries of a hook to have the agent read its record, and askLimit how long an answer may take: the
// agent's own limit of a read, and its pause before.
const (
	askPause = 500 * time.Millisecond
	askLimit = readLimit + confirmPause + time.Second
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 4096

// awaitAgent returns once the state in dir can be judged by. A listener that was started ahead may have a job of a run before
// its agent knows of that: so the agent reads its record first, again and again until that succeeds or the machine ends. Why
// it takes so long is told to people in the job's log.
func awaitAgent(dir string, clk clock.Clock, log io.Writer) {
	told := ""
	for ; ; clk.Sleep(askPause) {
		s, err := readState(filepath.Join(dir, stateFile))
		if err != nil || !s.Work.waits() {
			return // without a state no job may run
		}
		if err = ask(dir, clk); err == nil {
			return
		}
		if why := oneLine(err.Error()); why != told {
			told = why
			_, _ = fmt.Fprintln(log, "remuda cannot say yet whether this job belongs here, and waits for the machine's agent: "+why)
		}
	}
}

// ask has the agent read its record.
func ask(dir string, clk clock.Clock) error {
	folder, err := openPath(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	conn, err := net.DialTimeout("unix", socketIn(folder), askLimit)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(clk.Now().Add(askLimit)); err != nil {
		return err
	}
	line, err := bufio.NewReader(io.LimitReader(conn, maxAnswer)).ReadString('\n')
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	if said := strings.TrimSpace(line); said != "" {
		return fmt.Errorf("%s", said)
	}
	return nil
}

// oneLine makes text one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// openPath opens a folder for its name alone, which who may pass it may do.
func openPath(dir string) (*os.File, error) {
	return os.OpenFile(dir, pathOnly, 0)
}
