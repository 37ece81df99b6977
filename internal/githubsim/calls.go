package githubsim

// Call names one kind of call, for counting and for outages.
type Call string

// The calls: the client's, and from CallRegister on the runner's.
const (
	CallToken  Call = "registration-token"
	CallJIT    Call = "generate-jitconfig"
	CallList   Call = "list-runners"
	CallGet    Call = "get-runner"
	CallDelete Call = "delete-runner"
	CallLabel  Call = "add-labels"

	CallInstallation Call = "find-installation"
	CallAppToken     Call = "create-installation-token"
	CallConvert      Call = "convert-manifest"
	CallGroups       Call = "list-runner-groups"
	CallDeprecation  Call = "get-deprecation"

	CallRuns          Call = "list-runs"
	CallRun           Call = "get-run"
	CallRunJobs       Call = "list-run-jobs"
	CallCancelRun     Call = "cancel-run"
	CallRerun         Call = "rerun-run"
	CallRerunFailed   Call = "rerun-failed-jobs"
	CallRerunJob      Call = "rerun-job"
	CallCheckRuns     Call = "list-check-runs"
	CallLeaveCheckRun Call = "create-check-run"

	CallRegister Call = "register"
	CallRemove   Call = "remove"
	CallConnect  Call = "connect"
	CallPoll     Call = "poll"
	CallAcquire  Call = "acquire"
	CallComplete Call = "complete"
	CallLogs     Call = "logs"
)

func (c Call) client() bool {
	switch c {
	case CallToken, CallJIT, CallList, CallGet, CallDelete, CallLabel, CallInstallation, CallAppToken, CallConvert, CallGroups, CallDeprecation,
		CallRuns, CallRun, CallRunJobs, CallCancelRun, CallRerun, CallRerunFailed, CallRerunJob, CallCheckRuns, CallLeaveCheckRun:
		return true
	case CallRegister, CallRemove, CallConnect, CallPoll, CallAcquire, CallComplete, CallLogs:
	}
	return false
}

// reads reports whether a call changes nothing, so that what waits for a change may make it.
func (c Call) reads() bool {
	switch c {
	case CallList, CallGet, CallInstallation, CallGroups, CallDeprecation, CallRuns, CallRun, CallRunJobs, CallCheckRuns:
		return true
	case CallToken, CallJIT, CallDelete, CallLabel, CallAppToken, CallConvert, CallCancelRun, CallRerun, CallRerunFailed, CallRerunJob, CallLeaveCheckRun,
		CallRegister, CallRemove, CallConnect, CallPoll, CallAcquire, CallComplete, CallLogs:
	}
	return false
}
