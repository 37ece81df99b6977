package host

import "testing"

// An instance has its computer to itself, unless a folder stands for its disk.
func TestEC2Site_Whole(t *testing.T) {
	for root, want := range map[string]bool{"": true, "/disk": false} {
		if got := (Place{Env: map[string]string{RootEnv: root}}).ownsComputer(); got != want {
			t.Errorf("whole with %s=%q is %t, want %t", RootEnv, root, got, want)
		}
	}
}
