//go:build unix

package writable

import "github.com/remuda-run/remuda/internal/process"

// User is whose doings are looked for.
type User struct {
	process.User
	Groups []int // all that it is in
	Group  int   // the group that is this user's alone; 0: none
}
