package store

// Causes of RemoveFailed, by which refused cleanups are counted. Once says that machines of the class serve one run.
const (
	UncleanAccount   = "account"
	UncleanContainer = "container"
	UncleanDisk      = "disk"
	UncleanFiles     = "files"
	UncleanMount     = "mount"
	UncleanOnce      = "once"
	UncleanOther     = "other"
	UncleanPort      = "port"
	UncleanProcess   = "process"
	UncleanScript    = "script"
	UncleanTimeout   = "timeout"
)

// UncleanCauses lists the causes that cost an instance which could have served another run.
func UncleanCauses() []string {
	return []string{
		UncleanAccount, UncleanContainer, UncleanDisk, UncleanFiles, UncleanMount, UncleanOther, UncleanPort, UncleanProcess, UncleanScript, UncleanTimeout,
	}
}
