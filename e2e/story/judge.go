package story

import (
	"context"
	"fmt"
	"slices"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// Judge prints who was served how fast and who ran which job where, and fails on anything that must
// never happen.
func (s *Story) Judge(ctx context.Context) error {
	if err := s.Witness.Look(ctx); err != nil {
		return err
	}
	jobs, err := program.JSON[[]githubsim.JobRecord](s.Site.Remuda(ctx, "dev", "jobs", "-o", "json"))
	if err != nil {
		return err
	}
	s.Witness.Jobs(jobs)
	launched := len(s.Witness.Instances())
	s.expect(s.Launches == 0 || launched <= s.Launches, "%d machines were launched, %d were needed", launched, s.Launches)
	s.summary(launched)
	s.audit(jobs)
	violations := s.Witness.Violations()
	for _, v := range violations {
		fmt.Fprintf(s.Out, "  VIOLATED  %s\n", v)
	}
	if len(violations) > 0 {
		return fmt.Errorf("%d violations: %q", len(violations), violations)
	}
	fmt.Fprintf(s.Out, "\n%d runs, %d jobs, %d machines launched, no invariant was violated.\n", len(s.runs), len(jobs), launched)
	return nil
}

func (s *Story) summary(launched int) {
	fmt.Fprintf(s.Out, "\n%-10s %5s %5s %8s %8s\n", "RUN", "WARM", "COLD", "WARM s", "COLD s")
	seats := 0
	for _, r := range s.runs {
		seats += len(r.Instances)
		slowest := map[bool]float64{}
		for _, seat := range r.Instances {
			slowest[seat.Warm] = max(slowest[seat.Warm], seat.Seconds)
		}
		column := func(warm bool, n int) string {
			if n == 0 {
				return "-"
			}
			return fmt.Sprintf("%.1f", slowest[warm])
		}
		cold := len(r.Instances) - r.WarmCount
		fmt.Fprintf(s.Out, "%-10s %5d %5d %8s %8s\n", r.Label, r.WarmCount, cold, column(true, r.WarmCount), column(false, cold))
	}
	fmt.Fprintf(s.Out, "%d machines launched for %d seats\n", launched, seats)
}

func (s *Story) audit(jobs []githubsim.JobRecord) {
	fmt.Fprintf(s.Out, "\nWho ran which job where:\n")
	for _, j := range jobs {
		mark := "of its run"
		if !slices.Contains(s.held[j.Label], j.InstanceID) {
			mark = "of ANOTHER run"
			s.Witness.Say("2: job %s ran on %s, which %s was never given", j.Name, j.InstanceID, j.Label)
		}
		fmt.Fprintf(s.Out, "  %-22s %-10s %-20s %s\n", j.Name, j.Label, j.InstanceID, mark)
	}
}
