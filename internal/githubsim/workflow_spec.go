package githubsim

import (
	"cmp"
	"crypto/sha1"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// RunSpec is a workflow run to be started.
type RunSpec struct {
	ID         int64     `json:"id,omitempty"`                     // new, at least 1; 0: the next free one
	Repository string    `json:"repository,omitempty"`             // owner/name; "": that of the hub's URL
	Name       string    `json:"name,omitempty"`                   // of the workflow; "": CI
	HeadSHA    string    `json:"headSha,omitempty" yaml:"headSha"` // "": one made of the id
	Jobs       []JobSpec `json:"jobs"`
}

// JobSpec is one job of a workflow.
type JobSpec struct {
	Key    string   `json:"key"`              // what others name it by in their needs; unique
	Name   string   `json:"name,omitempty"`   // "": Key
	Label  string   `json:"label,omitempty"`  // runs-on; several with commas; "": the run's id, or GitHub's own of a hosted job
	Needs  []string `json:"needs,omitempty"`  // keys of jobs before it in the list
	Always bool     `json:"always,omitempty"` // if: always(): runs whatever became of its needs, and of the run
	// Matrix are the names of the legs that the job becomes once its needs are over, as one whose matrix is an
	// output of theirs does; empty: it is one job.
	Matrix   []string `json:"matrix,omitempty"`
	Approval bool     `json:"approval,omitempty"` // waits until it is approved: see Workflows.Approve

	Seconds float64 `json:"seconds,omitempty"` // as in Job
	Script  string  `json:"script,omitempty"`  // as in Job; has ${{ matrix.leg }}

	// Hosted jobs are taken by GitHub's own runners at once, which run no scripts.
	Hosted     bool       `json:"hosted,omitempty"`
	Held       bool       `json:"held,omitempty"`       // of a hosted one: it ends by Workflows.Finish or a cancellation only
	Conclusion Conclusion `json:"conclusion,omitempty"` // of a hosted one that is not held, after Seconds; "": success
}

// Bounds of a run. GitHub's is that of a matrix (GitHub Docs, "Limits in GitHub Actions"); the other keeps runs quick here.
const (
	mostLegs = 256
	mostJobs = 1000
)

// hostedLabel is the runs-on of a hosted job that names none.
const hostedLabel = "ubuntu-latest"

// Valid returns ErrInvalid with field, value and what is allowed unless a run can be started by the spec.
func (s RunSpec) Valid() error {
	owner, name, ok := strings.Cut(s.Repository, "/")
	switch {
	case s.ID < 0:
		return fmt.Errorf("id: must be at least 1, or 0 for the next free one, got %d: %w", s.ID, ErrInvalid)
	case s.Repository != "" && (!ok || owner == "" || name == "" || strings.Contains(name, "/")):
		return fmt.Errorf("repository: must be owner/name, got %q: %w", s.Repository, ErrInvalid)
	case s.size() < 1 || s.size() > mostJobs:
		return fmt.Errorf("jobs: must be 1 to %d with the legs of their matrices, got %d: %w", mostJobs, s.size(), ErrInvalid)
	}
	var before []string
	for _, j := range s.Jobs {
		if err := j.valid(before); err != nil {
			return fmt.Errorf("job %q: %w", j.Key, err)
		}
		before = append(before, j.Key)
	}
	return nil
}

// size is how many jobs a run has, every leg counted.
func (s RunSpec) size() int {
	var n int
	for _, j := range s.Jobs {
		n += max(1, len(j.Matrix))
	}
	return n
}

func (j JobSpec) valid(before []string) error {
	for _, need := range j.Needs {
		if !slices.Contains(before, need) {
			return fmt.Errorf("needs: must be keys of jobs before it, got %q: %w", need, ErrInvalid)
		}
	}
	switch {
	case j.Key == "" || slices.Contains(before, j.Key):
		return fmt.Errorf("key: must be one that no other job has: %w", ErrInvalid)
	case !(j.Seconds >= 0 && j.Seconds <= longest.Seconds()):
		return fmt.Errorf("seconds: must be 0 to %.0f, got %v: %w", longest.Seconds(), j.Seconds, ErrInvalid)
	case len(j.Matrix) > mostLegs:
		return fmt.Errorf("matrix: must have at most %d legs, got %d: %w", mostLegs, len(j.Matrix), ErrInvalid)
	case slices.Contains(j.Matrix, ""):
		return fmt.Errorf("matrix: names of legs must not be empty: %w", ErrInvalid)
	case !j.Hosted && (j.Held || j.Conclusion != ""):
		return fmt.Errorf("held, conclusion: are for hosted jobs only: %w", ErrInvalid)
	case j.Hosted && j.Script != "":
		return fmt.Errorf("script: hosted jobs run none: %w", ErrInvalid)
	case j.Conclusion != "" && !j.Conclusion.reported():
		return fmt.Errorf("conclusion: must be %s, %s or %s, got %q: %w", Success, Failure, Cancelled, j.Conclusion, ErrInvalid)
	}
	return nil
}

// reported tells whether it is how a job that ran can end.
func (c Conclusion) reported() bool { return c == Success || c == Failure || c == Cancelled }

// filled returns the spec with what is left out. The caller has seen to id and repository. Commits have names as git
// makes them.
func (s RunSpec) filled() RunSpec {
	s.Name = cmp.Or(s.Name, "CI")
	if s.HeadSHA == "" {
		s.HeadSHA = fmt.Sprintf("%x", sha1.Sum(fmt.Append(nil, s.ID)))
	}
	s.Jobs = slices.Clone(s.Jobs)
	for i := range s.Jobs {
		j := &s.Jobs[i]
		j.Name = cmp.Or(j.Name, j.Key)
		if j.Hosted {
			j.Label = cmp.Or(j.Label, hostedLabel)
		}
		j.Label = cmp.Or(j.Label, strconv.FormatInt(s.ID, 10))
	}
	return s
}
