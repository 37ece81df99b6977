package store

import (
	"strconv"
	"strings"

	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// Workflow is a run at GitHub, as a request names it.
type Workflow struct {
	Repository string // owner/name, in lower case
	Run        int64
	Attempt    int // from 1
}

// repositoryForm is what GitHub takes as owner and name: letters, digits, - and, in the names of managed users, _ (GitHub
// Docs, "Username considerations for external authentication"); a repository's may have dots as well. The bounds are ours.
var repositoryForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}/[A-Za-z0-9._-]{1,100}$`)

// reasonForm is the form of a ReleaseReason. Later versions may add reasons.
var reasonForm = lazyregexp.New(`^[a-z][a-z_]{0,39}$`)

// ValidRepository reports whether a text has the form owner/name that GitHub accepts.
func ValidRepository(text string) bool {
	if !repositoryForm().MatchString(text) {
		return false
	}
	_, name, _ := strings.Cut(text, "/")
	return name != "." && name != ".."
}

// Workflow returns the run that the request names, if that is well formed and the request's id is the run's, or begins
// with it and a dash. Nothing shows yet that the run is what its client says.
func (r RunRequest) Workflow() (Workflow, bool) {
	if r.WorkflowRun < 1 || r.WorkflowAttempt < 1 || !ValidRepository(r.Repository) {
		return Workflow{}, false
	}
	id, _, _ := strings.Cut(string(r.ID), "-")
	if id != strconv.FormatInt(r.WorkflowRun, 10) {
		return Workflow{}, false
	}
	return Workflow{Repository: strings.ToLower(r.Repository), Run: r.WorkflowRun, Attempt: r.WorkflowAttempt}, true
}

// ByController reports whether the controller asked, without a client.
func (r RunRequest) ByController() bool { return r.OriginalCount > 0 }

// withoutRun returns the request without what a role of an earlier policy may not write.
func (r RunRequest) withoutRun() RunRequest {
	r.Repository, r.WorkflowRun, r.WorkflowAttempt, r.NoWait, r.OriginalCount, r.ReleaseReason = "", 0, 0, false, 0, ""
	return r
}

// hasRun reports whether withoutRun leaves something out.
func (r RunRequest) hasRun() bool {
	return r.Repository != "" || r.WorkflowRun != 0 || r.WorkflowAttempt != 0 || r.NoWait || r.OriginalCount != 0 || r.ReleaseReason != ""
}

// StoredWithoutRun reports whether stored, which Submit returned for r, lacks all that r says of its run and of waiting:
// the client's role has an earlier policy.
func (r RunRequest) StoredWithoutRun(stored RunRequest) bool { return r.hasRun() && !stored.hasRun() }

// sameRun reports whether both name the same run.
func (r RunRequest) sameRun(o RunRequest) bool {
	mine, named := r.Workflow()
	theirs, also := o.Workflow()
	return named && also && mine.Repository == theirs.Repository && mine.Run == theirs.Run
}

// compare orders two requests of one id: by the attempt of the run if both name the same one, else by their own.
func (r RunRequest) compare(o RunRequest) int {
	if r.sameRun(o) {
		return r.WorkflowAttempt - o.WorkflowAttempt
	}
	return r.Attempt - o.Attempt
}
