package sim_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/remuda-run/remuda/e2e/sim"
)

var mostFlag = flag.Int("sim.most", 3000, "stories told to shrink one, at most")

// TestShrink shrinks the random story of a seed that breaks a law, and writes what is left into testdata:
//
//	go test ./e2e/sim -run 'TestShrink$' -timeout 0 -sim.seed=N
func TestShrink(t *testing.T) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "sim.seed" })
	if !given {
		t.Skip("no story to shrink: give the seed of one that breaks a law with -sim.seed=N")
	}
	o := sim.Random(*seedFlag)
	r := sim.Run(t, o)
	if len(r.Violations) == 0 {
		t.Fatalf("seed %d: its story breaks no law", o.Seed)
	}
	v := r.Violations[0]
	sh := sim.Shrinker{Law: v.Law, Run: func(s sim.Script) sim.Report { return sim.Run(t, s) }, Most: *mostFlag, Log: t.Logf}
	small, err := sh.Shrink(o)
	check(t, err)
	out, _ := sim.Scenario{About: []string{fmt.Sprintf("Seed %d breaks %q:", o.Seed, v.Law), v.Text}, Script: small}.
		Run(func(s sim.Script) sim.Report { return sim.Run(t, s) })
	name := fmt.Sprintf("seed_%d.txt", o.Seed)
	check(t, os.WriteFile(filepath.Join("testdata", name), []byte(out.String()), 0o600))
	t.Errorf("seed %d: %s\nwritten to e2e/sim/testdata/%s; again with: go test ./e2e/sim -run TestScripts/%s\n%s", o.Seed, v, name, name, out)
}
