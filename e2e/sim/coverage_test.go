package sim_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// G10: the stories make every call of every contract and go along every edge of the tables. What is added
// to either needs a story, or this fails; with one, it meets every fault.
func TestStories_LeaveNothingOut(t *testing.T) {
	made := map[string]bool{} // methods and, of writes, the change
	for _, s := range sim.Stories() {
		r := sim.Run(t, s.Script)
		sound(t, s.Name, r)
		for c := range r.Made {
			made[c.Method] = true
			change, _, _ := strings.Cut(c.Detail, "@")
			made[change] = true
		}
	}
	for name, contract := range map[string]reflect.Type{
		"store": reflect.TypeFor[store.Table](), "pool": reflect.TypeFor[pool.Pool](), "fleet": reflect.TypeFor[fleet.Fleet](),
		"github": reflect.TypeFor[reconciler.GitHub](), "runner": reflect.TypeFor[agent.Runner](), "machine": reflect.TypeFor[agent.Machine](),
		"github of runs": reflect.TypeFor[reconciler.Runs](),
	} {
		name, _, _ = strings.Cut(name, " ")       // one service, two contracts
		made["store.Notify"] = made["store.Ring"] // the name that draws its latency stayed
		for i := range contract.NumMethod() {
			method := contract.Method(i)
			first := method.Type.NumIn() > 0 && method.Type.In(0).String() == "context.Context" // what takes none goes nowhere
			if call := name + "." + method.Name; first && !made[call] {
				t.Errorf("no story calls %s", call)
			}
		}
	}
	for _, e := range sim.Edges() {
		if e.From != e.To && !made[e.Table+":"+e.From+">"+e.To] {
			t.Errorf("no story goes %s", e)
		}
	}
}
