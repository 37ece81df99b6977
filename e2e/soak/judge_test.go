package soak

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/witness"
	"github.com/remuda-run/remuda/fleet/procfleet"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// judge lets the work end, and holds what is left, and what happened, to what must never happen.
func (s *soak) judge() {
	s.Helper()
	s.rest()
	s.until("a controller leads", func() bool { return s.leader() != nil })
	s.audit("after the work")
	s.drain()
	if _, err := s.gitHub.Unregistered(s.Context(), patience); err != nil {
		s.Error(err)
	}
	s.audit("after the drain")
	s.stopAll()
	s.judgeProcesses()
	s.judgeJobs()
	s.judgeRequests()
	s.Check(s.witness.Look(s.Context()))
	for _, v := range s.witness.Violations() {
		s.Errorf("violated %s", v)
	}
}

// audit runs `remuda audit`, which must find nothing and miss no part. The short soak, which must hold on a
// machine that is much too busy, asks again: a controller that does not get to run is late with what is due.
func (s *soak) audit(when string) {
	s.Helper()
	s.ledger.count("audits")
	for deadline := time.Now().Add(patience); ; {
		out, code := s.run("audit", "--settle", "3s")
		if code == 0 {
			return
		}
		if *kills > 0 || time.Now().After(deadline) {
			s.Errorf("remuda audit %s: exit code %d, want 0:\n%s", when, code, out)
			return
		}
		s.Logf("remuda audit %s: exit code %d; once more:\n%s", when, code, out)
	}
}

// drain ends the fleet and waits until every machine is known to be gone.
func (s *soak) drain() {
	s.Helper()
	if out, code := s.run("drain", "--all", "--timeout", commandTimeout); code != 0 {
		s.Errorf("remuda drain --all: exit code %d: %s", code, out)
	}
	if !s.until("every machine is gone", func() bool {
		return s.witness.Look(s.Context()) == nil && s.witness.Count(witness.Gone) == len(s.witness.Instances())
	}) {
		s.Errorf("still there: %+v", slices.DeleteFunc(s.witness.Instances(), witness.Gone))
	}
}

// stopAll ends the controllers in good order, once they are up.
func (s *soak) stopAll() {
	s.Helper()
	for _, u := range s.controllers {
		s.until(u.Name+" leads or waits", func() bool {
			for _, l := range u.says(true) {
				if l.Msg == "this controller leads" || l.Msg == "waiting for the lease" {
					return true
				}
			}
			return false
		})
	}
	for _, u := range s.controllers {
		if code := u.stop(s); code != 0 {
			s.Errorf("%s: exit code %d, want 0", u.Name, code)
		}
	}
}

// machines returns the ids of all machines that have a folder or a record.
func (s *soak) machines() (ids []string) {
	ids, _ = s.Machines() // the pattern is right
	for _, in := range s.witness.Instances() {
		ids = append(ids, string(in.ID))
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// left returns the processes of the installation's machines, by their mark or by the folder they work in.
func (s *soak) left() ([]process.Ref, error) {
	marked, err := process.Marked(procfleet.EnvInstance)
	if err != nil {
		return nil, err
	}
	var left []process.Ref
	for _, id := range s.machines() {
		left = append(left, marked[id]...)
	}
	dirs, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		at, err := os.Readlink(dir)
		if err != nil || !strings.HasPrefix(at, string(s.Fleet)+"/") {
			continue // it has ended, or is none of ours
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
		if err != nil {
			return nil, err
		}
		if ref, err := process.Lookup(pid); err == nil {
			left = append(left, ref)
		}
	}
	return left, nil
}

func (s *soak) judgeProcesses() {
	s.Helper()
	left, err := s.left()
	if err != nil || len(left) > 0 {
		s.Errorf("processes of machines that are left = %v, %v, want none", left, err)
	}
	s.witness.Known(s.machines())
}

// endMachines ends what a failed test left.
func (s *soak) endMachines() {
	if err := program.KillLeft(patience, s.left); err != nil {
		s.Error(err)
	}
}

// judgeJobs wants every job to have run once, on a machine of its own run, to its end; those whose machine
// or listener was struck may have been cut short.
func (s *soak) judgeJobs() {
	s.Helper()
	var jobs []githubsim.JobRecord
	s.Check(s.call(http.MethodGet, "/jobs", nil, &jobs))
	if len(jobs) != len(s.work.jobs) {
		s.Errorf("GitHub knows %d jobs, want the %d that were submitted", len(jobs), len(s.work.jobs))
	}
	for _, in := range s.witness.Instances() {
		if s.ledger.meets(fullDisk+"fleet", in.CreatedAt.Time, in.CreatedAt.Time) { // it came into being meanwhile
			s.ledger.faulted(string(in.ID))
		}
	}
	var cut []string
	for _, j := range jobs {
		ran, err := s.ran(j.ID)
		s.Check(err)
		// GitHub hands a job out again if its runner was killed before it could acknowledge it.
		ran = slices.DeleteFunc(ran, func(id string) bool { return id != j.InstanceID && s.ledger.wasFaulted(id) })
		struck := s.ledger.wasFaulted(j.InstanceID)
		switch {
		case j.Conclusion == githubsim.Success && len(ran) == 1 && ran[0] == j.InstanceID:
			s.ledger.count("jobs that succeeded")
		case struck && j.Conclusion != githubsim.Success && len(ran) <= 1:
			s.ledger.count("jobs cut short with their machine or listener")
			cut = append(cut, j.Label)
		default:
			s.Errorf("job %s on %s (struck: %t) is %s %s %s; it ran on %q, want once on that machine",
				j.ID, j.InstanceID, struck, j.State, j.Conclusion, j.Detail, ran)
		}
	}
	s.Check(s.witness.Look(s.Context()))
	s.witness.Jobs(jobs, cut...)
	var all []githubsim.Registration
	s.Check(s.call(http.MethodGet, "/registrations", nil, &all))
	takers := map[string][]string{}
	for _, r := range all {
		for _, id := range r.Jobs {
			takers[id] = append(takers[id], r.Name)
		}
	}
	for id, names := range takers {
		if len(names) != 1 {
			s.Errorf("job %s was taken by %v, want one runner", id, names)
		}
	}
}

// judgeRequests wants every request to be answered, and closed.
func (s *soak) judgeRequests() {
	s.Helper()
	requests, statuses := map[store.RequestID]store.RunRequest{}, map[store.RequestID]store.RunStatus{}
	s.Check(s.store.Scan(s.Context(), store.Visitor{
		Request: func(r store.RunRequest) { requests[r.ID] = r },
		Status:  func(st store.RunStatus) { statuses[st.ID] = st },
	}))
	for _, asked := range s.work.requests {
		id := store.RequestID(asked)
		r, ok := requests[id]
		if !ok {
			s.ledger.count("requests whose client died before it wrote")
			continue
		}
		st := statuses[id]
		if st.Attempt != r.Attempt || st.Phase != statemachine.PhaseReleased && st.Phase != statemachine.Failed {
			s.Errorf("request %s: attempt %d is %q, want attempt %d Released or Failed", id, st.Attempt, st.Phase, r.Attempt)
		}
		s.ledger.count("requests " + strings.ToLower(string(st.Phase)))
	}
}

// tails shows the ends of the logs of a failed soak; REMUDA_E2E_KEEP names a folder for all of it.
func (s *soak) tails() {
	if !s.Failed() || s.witness == nil {
		return
	}
	for _, u := range s.controllers {
		s.Log(program.Tail(u.Name, u.log()))
	}
	if keep := os.Getenv("REMUDA_E2E_KEEP"); keep != "" {
		to := filepath.Join(keep, fmt.Sprintf("soak-%d", s.seed))
		if err := os.CopyFS(to, os.DirFS(s.dir)); err != nil {
			s.Logf("keep everything in %s: %v", to, err)
		}
		var records []any
		for _, in := range s.witness.Instances() {
			records = append(records, in)
		}
		out, err := json.MarshalIndent(records, "", " ")
		if err == nil {
			err = os.WriteFile(filepath.Join(to, "instances.json"), out, 0o600)
		}
		if err != nil {
			s.Logf("keep the records: %v", err)
		}
	}
}
