package store

// These causes of RemoveFailed count refused cleanups. Once means that machines of the class serve one run.
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

// UncleanCauses lists the causes that cost a reusable instance.
func UncleanCauses() []string {
	return []string{
		UncleanAccount, UncleanContainer, UncleanDisk, UncleanFiles, UncleanMount, UncleanOther, UncleanPort, UncleanProcess, UncleanScript, UncleanTimeout,
	}
}
