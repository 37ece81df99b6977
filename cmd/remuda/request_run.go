package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/store"
)

// namesRun checks the flags that name the run at GitHub, and puts it into the request. It comes after id and attempt.
func (o *requestOptions) namesRun(github config.GitHub) error {
	if o.repository == "" {
		return errors.Join(needsRepository("--run-id", o.runID), needsRepository("--run-attempt", o.runAttempt))
	}
	digits := o.id[:len(o.id)-len(strings.TrimLeft(o.id, "0123456789"))]
	text := cmp.Or(o.runID, digits)
	run, err := strconv.ParseInt(text, 10, 64)
	errs := []error{checkRepository(o.repository, github)}
	switch {
	case err != nil && o.runID == "":
		errs = append(errs, fmt.Errorf("--run-id: must be given unless --id begins with it, got --id %.200q", o.id))
	case err != nil || run < 1:
		errs = append(errs, fmt.Errorf("--run-id: must be a whole number from 1 to %d, got %.200q", math.MaxInt64, text))
	default:
		if id := strconv.FormatInt(run, 10); o.id != id && !strings.HasPrefix(o.id, id+"-") {
			errs = append(errs, fmt.Errorf("--id: must be the run id %s, or begin with %[1]s-, got %.200q", id, o.id))
		}
	}
	attempt, err := parseWhole("--run-attempt", cmp.Or(o.runAttempt, o.attempt, "1"), 1, math.MaxInt32)
	switch {
	case err != nil && o.runAttempt != "":
		errs = append(errs, err)
	case err == nil && o.attempt == "":
		o.want.Attempt = attempt
	case err == nil && o.want.Attempt > 0 && attempt != o.want.Attempt:
		errs = append(errs, fmt.Errorf("--run-attempt: must be the same as --attempt where both are given, got %d and %d", attempt, o.want.Attempt))
	}
	o.want.Repository, o.want.WorkflowRun, o.want.WorkflowAttempt = o.repository, run, attempt
	return errors.Join(errs...)
}

func needsRepository(flag, value string) error {
	if value == "" {
		return nil
	}
	return fmt.Errorf("%s: must be left out, or --repository be given with it, got %.200q", flag, value)
}

// checkRepository holds a repository to what the controller may watch.
func checkRepository(repository string, github config.GitHub) error {
	serves := github.Serves()
	switch owner, _, _ := strings.Cut(repository, "/"); {
	case !store.ValidRepository(repository):
		return fmt.Errorf("--repository: must be owner/name, got %.200q", repository)
	case serves == "" || strings.EqualFold(serves, repository) || strings.EqualFold(serves, owner):
		return nil
	case strings.Contains(serves, "/"):
		return fmt.Errorf("--repository: must be %s, which is what github.url and github.repository allow, got %q", serves, repository)
	default:
		return fmt.Errorf("--repository: must be one of %s, which is the owner in github.url, got %q", serves, repository)
	}
}

// renderAsked writes for people that a request is stored, for which nobody waits.
func renderAsked(r store.RunRequest) string {
	return fmt.Sprintf("label %s: asked for %d; its jobs queue until their runner listens\n", r.ID, r.Count)
}

// unwatched says what to do about a run that the controller does not watch; "" if it does, or has yet to look.
func unwatched(want store.RunRequest, st store.RunStatus) string {
	if st.Watch.State == "" || st.Watch.State == store.Watched {
		return ""
	}
	advice := "add a release job, if it has none"
	if st.Watch.State == store.WatchUnnamed && want.Repository == "" {
		advice = "name it with --repository, or " + advice
	}
	return fmt.Sprintf("request %s: its run is not watched (%s): %s", st.ID, watchText(st.Watch.State), advice)
}

// watchText says whether a run is watched, or why not.
func watchText(state store.WatchState) string {
	why := map[store.WatchState]string{
		store.WatchUnnamed: "the request names no run",
		store.WatchOutside: "its repository is not within github.url",
		store.WatchDenied:  "GitHub does not show its runs",
		store.WatchOff:     "runs.share is 0",
	}[state]
	if why == "" {
		return string(state)
	}
	return string(state) + ": " + why
}
