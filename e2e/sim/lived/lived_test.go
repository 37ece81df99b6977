package lived_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/e2e/sim/lived"
)

// The sites of a made-up story.
var (
	put  = sim.Site{Role: sim.Controller, Method: "store.Put", Detail: "Instance:idle>claimed"}
	scan = sim.Site{Role: sim.Client, Method: "store.Scan"}
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// report is what such a story came to, with these faults.
func report(faults ...sim.Fired) sim.Report {
	a, b := sim.Write{Role: sim.Agent, What: "WS:UD_OK"}, sim.Write{Role: sim.Controller, What: "Instance:created>running"}
	return sim.Report{
		Made:  map[sim.Call]int{{Site: put, About: "x"}: 2, {Site: put, About: "y"}: 1, {Site: scan}: 1},
		Fired: faults, Hours: 2, Ready: 1, Requests: 2, Settled: 96 * time.Second,
		Coverage: sim.Coverage{Edges: map[sim.Edge]int{sim.Edges()[0]: 1}, Orders: map[sim.Order]int{{First: a, Then: b}: 3, {First: b, Then: a}: 1, {First: a, Then: a}: 1}},
	}
}

func fired(s sim.Site, kind sim.Kind) sim.Fired {
	return sim.Fired{Fault: sim.Fault{Call: sim.Call{Site: s}, N: 1, Kind: kind}}
}

// What stories covered adds up in any order, through lines and files.
func TestCoverage_AddsUpOverProcessesAndFiles(t *testing.T) {
	drawn := sim.Script{Steps: []sim.Step{{What: "kill controller"}, {What: "run 100 count=1"}, {What: "kill agent"}}}
	reports := []sim.Report{
		report(fired(put, sim.Late), fired(put, sim.Late), fired(scan, sim.Throttled)),
		report(fired(put, sim.Twice), fired(put, sim.Late)),
		report(),
		report(fired(scan, sim.Throttled), fired(put, sim.Late), fired(scan, sim.LostReply)),
	}
	var parts []lived.Part
	for _, r := range reports {
		var c lived.Collector
		c.Add(drawn, r)
		line, err := lived.Progress{Part: c.Part()}.Line()
		check(t, err)
		var p lived.Progress
		check(t, json.Unmarshal([]byte(strings.TrimPrefix(line, lived.Mark)), &p))
		parts = append(parts, p.Part)
		if rest := c.Part(); len(rest.Sites)+len(rest.Together)+len(rest.Events) > 0 {
			t.Errorf("told twice: %+v", rest)
		}
	}
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}} {
		var c lived.Coverage
		for _, i := range order {
			c.Add(parts[i])
			text, err := json.Marshal(c) // kept after each, and read again
			check(t, err)
			c = lived.Coverage{}
			check(t, json.Unmarshal(text, &c))
		}
		if c.Sites[put.String()] != 12 || c.Sites[scan.String()] != 4 || c.Events["kill"] != 8 || len(c.Events) != 1 {
			t.Errorf("sites %v, events %v", c.Sites, c.Events)
		}
		// late and throttled in two stories, late and twice, throttled and lost, late and lost
		if len(c.Faults) != 4 || c.Pairs() != 4 {
			t.Errorf("%d faults, %d pairs, want 4 and 4", len(c.Faults), c.Pairs())
		}
		if len(c.Orders) != 3 || c.Both() != 1 || len(c.Missed()) != len(sim.Edges())-1 {
			t.Errorf("orders %v, both %d, missed %d", c.Orders, c.Both(), len(c.Missed()))
		}
	}
}

func TestTell_NamesWhatIsMissing(t *testing.T) {
	var c lived.Coverage
	var all lived.Collector
	all.Add(sim.Script{}, report(fired(put, sim.Late)))
	c.Add(all.Part())
	seen := maps.Clone(c.Sites)
	seen["agent/runner.Start/@created"] = 1
	told := c.Tell(seen)
	// put takes six kinds, scan four, the runner two
	for _, want := range []string{"2 of 3 sites, 1 of 16 faults at sites, 0 pairs", "never gone: ", "never fired: agent/runner.Start/@created crash-after"} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in\n%s", want, told)
		}
	}
	table := lived.Table([]lived.Named{{Name: "singles", Coverage: &c}, {Name: "pairs", Coverage: &lived.Coverage{}}})
	if strings.Count(table, "\n") != 4 || !strings.Contains(table, "singles") {
		t.Errorf("table:\n%s", table)
	}
}

// Sums are the same in one go and in parts, through a file.
func TestSum_MergesWhatProcessesSaw(t *testing.T) {
	var whole, parts lived.Sum
	for seed := uint64(3); seed < 7; seed++ {
		o, r := sim.Script{Pace: 48}, report(fired(put, sim.Late))
		r.Settled += time.Duration(seed) * time.Minute
		var one lived.Sum
		one.Add(seed, o, r, time.Second)
		whole.Add(seed, o, r, time.Second)
		text, err := json.Marshal(one)
		check(t, err)
		var read lived.Sum
		check(t, json.Unmarshal(text, &read))
		parts.Merge(read)
	}
	if diff := cmp.Diff(whole, parts, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("in parts (-whole +parts):\n%s", diff)
	}
	if whole.Stories != 4 || whole.First != 3 || whole.Last != 6 || whole.SettledSeed != 6 || whole.Took != 4*time.Second || whole.Injected() != 4 || !whole.Serves() {
		t.Errorf("sum %+v", whole)
	}
	whole.Ready--
	if whole.Serves() {
		t.Error("3 of 8 requests are half")
	}
}

func TestFind_AndStoryRefAreReadAgain(t *testing.T) {
	want := lived.Find{StoryRef: lived.StoryRef{Mode: "singles", Story: "cold, then warm: a/b/c/d #1 late"}, Law: "invariant 1", Text: "x\ny", Expect: true}
	line, err := want.Line()
	if err != nil || strings.Count(line, "\n") != 1 {
		t.Fatalf("Line = %q, %v", line, err)
	}
	got, ok := lived.ParseFind(strings.TrimSuffix(line, "\n"))
	if !ok || got != want {
		t.Errorf("ParseFind = %+v, %v", got, ok)
	}
	if ref, ok := lived.ParseStoryRef(want.StoryRef.String()); !ok || ref != want.StoryRef {
		t.Errorf("ParseStoryRef = %+v, %v", ref, ok)
	}
	for _, text := range []string{"PASS", lived.FoundMark + "{"} {
		if _, ok := lived.ParseFind(text); ok {
			t.Errorf("ParseFind(%q) finds something", text)
		}
	}
	names := slices.Sorted(slices.Values(lived.Possible(map[string]int{scan.String(): 1, "nonsense": 1})))
	if len(names) != len(scan.Kinds()) {
		t.Errorf("possible %v, want the kinds of one site, %v", names, scan.Kinds())
	}
}
