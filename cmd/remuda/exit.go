package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/store"
)

// Exit codes of every verb.
const (
	exitDone        = 0
	exitFailure     = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitTimedOut    = 5
	exitFailed      = 6
	exitViolated    = 7
	exitPartlyRead  = 8
	exitNoLeader    = 9
	exitInterrupted = 130 // 128 + SIGINT, as shells report it
)

// Kinds of error that no package below knows.
var (
	errUsage       = errors.New("usage")
	errReleased    = errors.New("already released")
	errTimedOut    = errors.New("timed out")
	errFailed      = errors.New("request failed")
	errInterrupted = errors.New("interrupted")
	errViolated    = errors.New("violations")
	errPartlyRead  = errors.New("partly read")
	errNoLeader    = errors.New("no leader")
)

type exitRow struct {
	code    int
	meaning string
	when    []error
}

// exitTable gives each code its meaning and the errors that lead to it. The first match wins, so
// that an interruption is one whatever call it broke off; no match is a failure.
var exitTable = []exitRow{
	{exitDone, "done", nil},
	{exitInterrupted, "interrupted", []error{errInterrupted, context.Canceled}},
	{exitUsage, "usage: wrong flags, arguments or configuration; nothing was done", []error{errUsage}},
	{exitViolated, "an invariant is violated, or a check of doctor failed", []error{errViolated}},
	{exitPartlyRead, "part of the installation could not be read; no invariant is violated in the rest", []error{errPartlyRead}},
	{exitNoLeader, "there is work and no controller leads", []error{errNoLeader}},
	{exitTimedOut, "timed out", []error{errTimedOut, context.DeadlineExceeded}},
	{exitFailed, "the request failed", []error{errFailed}},
	{exitConflict, "conflict: released already, or the attempt has another spec", []error{errReleased, store.ErrOtherSpec, store.ErrOldAttempt, store.ErrConflict}},
	{exitNotFound, "not found", []error{store.ErrNotFound}},
	{exitFailure, "failure", nil},
}

// exitCode returns the code that err leads to.
func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	for _, row := range exitTable {
		if slices.ContainsFunc(row.when, func(kind error) bool { return errors.Is(err, kind) }) {
			return row.code
		}
	}
	return exitFailure
}

// exitsHeading begins the list of codes in a help text.
const exitsHeading = "\n\nExit codes:\n"

// exits appends the codes that cmd may end with to its help. Usage and failure are always among
// them.
func exits(cmd *cobra.Command, codes ...int) *cobra.Command {
	codes = append(codes, exitDone, exitUsage, exitFailure)
	var b strings.Builder
	b.WriteString(strings.TrimSpace(cmd.Long) + exitsHeading)
	for _, row := range byCode() {
		if slices.Contains(codes, row.code) {
			fmt.Fprintf(&b, "  %3d  %s\n", row.code, row.meaning)
		}
	}
	cmd.Long = strings.TrimSuffix(b.String(), "\n")
	return cmd
}

// byCode returns the table in the order that people read it in.
func byCode() []exitRow {
	return slices.SortedFunc(slices.Values(exitTable), func(a, b exitRow) int { return a.code - b.code })
}

// usagef returns an error of kind errUsage that reads as its own text only.
func usagef(format string, args ...any) error { return asUsage(fmt.Errorf(format, args...)) }

// asUsage marks err as a usage error, unless a service did not answer or refused the call, because other arguments would not help then. Nil
// stays nil.
func asUsage(err error) error {
	if ofService(err) {
		return err
	}
	return mark(errUsage, err)
}

// ofService reports whether err comes from a service and is not caused by the caller's input.
func ofService(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, githubapi.ErrUnavailable) || errors.Is(err, githubapi.ErrThrottled) {
		return true
	}
	explained, ok := errors.AsType[*awserr.Error](err)
	return ok && slices.Contains([]awserr.Class{awserr.Unavailable, awserr.Throttled, awserr.Denied}, explained.Class)
}

// notFound returns an error of kind store.ErrNotFound that reads as its own text only.
func notFound(format string, args ...any) error {
	return mark(store.ErrNotFound, fmt.Errorf(format, args...))
}

// mark gives err a kind for exitCode without changing its text. Nil stays nil.
func mark(kind, err error) error {
	if err == nil {
		return nil
	}
	return &markedError{kind: kind, cause: err}
}

type markedError struct{ kind, cause error }

func (e *markedError) Error() string   { return e.cause.Error() }
func (e *markedError) Unwrap() []error { return []error{e.kind, e.cause} }
