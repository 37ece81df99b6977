package contain

import "testing"

// H42: a process whose main thread has ended, which the kernel shows as a zombie, does not outlive its run, and
// steals nothing from the next.
func TestGhost_H42(t *testing.T) {
	w := newWorld(t)
	machine := w.run("100", w.does("plain", "stay:ghost"))
	if n := threads(t, w.of("ghost")); n != 0 {
		t.Errorf("%d threads of the first run's ghost live on", n)
	}
	w.clean(machine)
	w.run("200", "env GITHUB_TOKEN=ghs_of_the_second_run sleep 1")
	if got := w.of("stolen"); got != "" {
		t.Errorf("the ghost of run 100 read of run 200: %s", got)
	}
}
