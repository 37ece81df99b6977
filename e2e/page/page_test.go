package page

import (
	"strings"
	"syscall"
	"testing"

	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/statemachine"
)

// A request appears at the controller's page, waits and says for what, becomes Ready, and one of its machines is killed. Nobody
// reloads the page, and nothing is asked of another server.
func TestPage(t *testing.T) {
	t.Parallel()
	b := browse(t)
	s := develop(t)
	server := s.dev.Says(`(http://\S+)\n`) + "/"
	b.open(server)
	b.shows("#verdict", "Works")
	b.shows("#live", "live")
	eval[int](b, "window.loaded = 1")

	first := s.request("100", 2)
	s.await("100", statemachine.Pending, "")
	b.shows("#w-100", "0 of 2 ready")
	s.await("100", statemachine.Ready, "")
	b.shows("#k-100", "ready")
	b.lacks("#w-100")
	first.Exit()

	second := s.request("200", 2)
	st := s.await("200", statemachine.Pending, "cap")
	b.shows("#w-200 .why", st.Message)
	b.shows("#verdict", "1 request waits.")
	b.shoot("waiting")
	s.remuda("release", "--id", "100", "--attempt", "1")
	st = s.await("200", statemachine.Ready, "")
	b.shows("#k-200", "ready")
	b.lacks("#w-200")
	second.Exit()

	victim := st.Instances[0].InstanceID
	b.shows("#m-"+string(victim), "200")
	leader, _, err := s.fleet().Leader(string(victim))
	s.Check(err)
	s.Check(process.KillAll(leader))
	s.ended(victim)
	b.lacks("#m-" + string(victim))
	b.shows("#e-"+string(victim), "the fleet says it is gone")
	b.shoot("fleet")
	if eval[int](b, "window.loaded") != 1 {
		t.Error("the page was loaded again, want it changed in place")
	}

	b.open(server + "instance/" + string(victim))
	b.shows("h1", string(victim))
	b.shoot("instance")
	b.open(server + "run/200")
	b.shows("h1", "ready")
	b.shoot("run")
	b.onlyFrom(server)
}

// What stands in the table is text, also what somebody put there by hand; and a page whose server hung or went away says so, and goes on with the next one.
func TestConsole(t *testing.T) {
	t.Parallel()
	b := browse(t)
	s := develop(t)
	console := s.console("127.0.0.1:0")
	server := console.Says(`(http://\S+/)\n`)
	b.open(server)
	b.shows("#live", "live")
	eval[int](b, "window.loaded = 1")

	const evil = `<script>alert(1)</script>`
	s.forgeRequest(evil)
	b.shows("#verdict", evil)
	s.forgeMachine("i-forged", evil)
	b.shows("#m-i-forged", evil)
	if got := eval[int](b, "document.scripts.length"); got != 1 {
		t.Errorf("%d scripts in the page, want its own", got)
	}
	b.onlyFrom(server)

	for _, freeze := range []struct {
		signal syscall.Signal
		shows  string
	}{{syscall.SIGSTOP, "no word from the server"}, {syscall.SIGCONT, "live"}} {
		if err := console.Signal(freeze.signal); err != nil {
			t.Fatal(err)
		}
		b.shows("#live", freeze.shows)
	}

	// A page that nobody sees keeps no connection, and is up to date once it is seen.
	see := func(hidden string) int {
		return eval[int](b, `Object.defineProperty(document, "hidden", {value: `+hidden+`, configurable: true}); document.dispatchEvent(new Event("visibilitychange")); 0`)
	}
	see("true")
	s.forgeMachine("i-unseen", "100")
	see("false")
	b.shows("#m-i-unseen", "100")

	console.End(syscall.SIGTERM)
	b.shows("#live", "connection lost")
	s.console(strings.Trim(strings.TrimPrefix(server, "http://"), "/"))
	b.shows("#live", "live")
	s.forgeMachine("i-later", "100")
	b.shows("#m-i-later", "100")
	if eval[int](b, "window.loaded") != 1 {
		t.Error("the page was loaded again, want it changed in place")
	}
}
