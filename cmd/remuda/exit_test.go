package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/aws/smithy-go"
	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/store"
)

func TestExitCode(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want int
	}{
		{"Done", nil, exitDone},
		{"Failure", errors.New("disk full"), exitFailure},
		{"Unavailable", fmt.Errorf("scan: %w", store.ErrUnavailable), exitFailure},
		{"Usage", usagef("--count: must be 1"), exitUsage},
		{"UsageOfAService", asUsage(awserr.Explain(errors.New("unexpected EOF"), "ssm:GetParameter", "parameter /remuda/config")), exitFailure},
		{"UsageThrottled", asUsage(fmt.Errorf("read configuration: %w", awserr.Explain(&smithy.GenericAPIError{Code: "ThrottlingException"}, "ssm:GetParameter", "parameter /x"))), exitFailure},
		{"UsageDenied", asUsage(awserr.Explain(&smithy.GenericAPIError{Code: "AccessDeniedException"}, "ssm:GetParameter", "parameter /x")), exitFailure},
		{"UsageOfWhatIsNotThere", asUsage(awserr.Explain(&smithy.GenericAPIError{Code: "ParameterNotFound"}, "ssm:GetParameter", "parameter /x")), exitUsage},
		{"UsageGitHubAway", asUsage(fmt.Errorf("group: %w", githubapi.ErrUnavailable)), exitFailure},
		{"UsageLate", asUsage(fmt.Errorf("open: %w", context.DeadlineExceeded)), exitTimedOut},
		{"NotFound", fmt.Errorf("read RUN#1: %w", store.ErrNotFound), exitNotFound},
		{"Conflict", &store.ConflictError{}, exitConflict},
		{"OtherSpec", fmt.Errorf("submit: %w", store.ErrOtherSpec), exitConflict},
		{"OldAttempt", fmt.Errorf("submit: %w", store.ErrOldAttempt), exitConflict},
		{"Released", mark(errReleased, errors.New("request 1")), exitConflict},
		{"TimedOut", mark(errTimedOut, errors.New("release 1")), exitTimedOut},
		{"Deadline", fmt.Errorf("read: %w", context.DeadlineExceeded), exitTimedOut},
		{"Failed", mark(errFailed, errors.New("request 1")), exitFailed},
		{"Violated", mark(errViolated, errors.New("audit: 1 violation")), exitViolated},
		{"PartlyRead", mark(errPartlyRead, fmt.Errorf("audit: %w", context.DeadlineExceeded)), exitPartlyRead},
		{"NoLeader", mark(errNoLeader, errors.New("no controller leads")), exitNoLeader},
		{"Interrupted", errInterrupted, exitInterrupted},
		{"Canceled", fmt.Errorf("read: %w", context.Canceled), exitInterrupted},
		{"InterruptedWins", errors.Join(store.ErrNotFound, errTimedOut, errInterrupted), exitInterrupted},
		{"TimedOutBeforeNotFound", fmt.Errorf("%w (last call: %w)", errTimedOut, store.ErrNotFound), exitTimedOut},
	} {
		if got := exitCode(tt.err); got != tt.want {
			t.Errorf("%s: exitCode(%v) = %d, want %d", tt.name, tt.err, got, tt.want)
		}
	}
}

func TestExitTable_EachCodeOnce(t *testing.T) {
	var codes []int
	for _, row := range byCode() {
		codes = append(codes, row.code)
		if row.meaning == "" {
			t.Errorf("code %d has no meaning", row.code)
		}
	}
	if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 130}; !slices.Equal(codes, want) {
		t.Errorf("codes = %v, want %v", codes, want)
	}
}

func TestMark_KeepsText(t *testing.T) {
	if mark(errUsage, nil) != nil {
		t.Error("mark(kind, nil) is an error")
	}
	err := usagef("--id: %w", store.ErrInvalid)
	if err.Error() != "--id: "+store.ErrInvalid.Error() || !errors.Is(err, errUsage) || !errors.Is(err, store.ErrInvalid) {
		t.Errorf("usagef lost its text or a kind: %v", err)
	}
}

// Every verb that runs lists its exit codes, among them the three that any may end with.
func TestExits_InEveryHelp(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Runnable() {
			contains(t, cmd.Long, "Exit codes:\n", "    0  done\n", "    1  failure\n", "    2  usage: ")
		}
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	walk(newRootCmd(newCLI(nil).app))
}
