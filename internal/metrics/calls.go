package metrics

import (
	"cmp"
	"errors"
	"strconv"
	"time"

	"github.com/remuda-run/remuda/internal/awscfg"
	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/githubapi"
)

// GitHubCalled counts a call of GitHub.
func (m *Metrics) GitHubCalled(e githubapi.Exchange) {
	status := "none"
	if e.Status > 0 {
		status = strconv.Itoa(e.Status/100) + "xx"
	}
	m.count("remuda_github_requests_total", e.Route, status).Inc()
	m.observe("remuda_github_request_duration_seconds", e.Route).Observe(seconds(e.Took))
	if e.Budget.Name == "" {
		return
	}
	budget := m.limits.budgets.of(e.Budget.Name, maxBudgets)
	m.set("remuda_github_rate_limit", float64(e.Budget.Limit), budget)
	m.set("remuda_github_rate_limit_remaining", float64(e.Budget.Remaining), budget)
	m.set("remuda_github_rate_limit_reset_timestamp_seconds", float64(e.Budget.Reset.Unix()), budget)
}

// githubStates are what a look at GitHub can find, by its error.
var githubStates = []struct {
	state string
	is    func(error) bool
}{
	{"up", func(err error) bool { return err == nil }},
	{"refused", func(err error) bool { return errors.Is(err, githubapi.ErrRefused) }},
	{"local", func(err error) bool { return errors.Is(err, githubapi.ErrLocal) }},
	{"throttled", func(err error) bool { return errors.Is(err, githubapi.ErrThrottled) }},
	{"unavailable", func(error) bool { return true }},
}

// GitHubChecked notes what became of a look at the credentials.
func (m *Metrics) GitHubChecked(err error) {
	found := false
	for _, s := range githubStates {
		to := 0.0
		if !found && s.is(err) {
			found, to = true, 1
		}
		m.set("remuda_github_state", to, s.state)
	}
}

// RunnerVersionEnds notes when GitHub ends its service for the configured version of the runner.
func (m *Metrics) RunnerVersionEnds(version string, at time.Time) {
	m.set("remuda_runner_version_end_timestamp_seconds", float64(at.Unix()), text(version))
}

// AWSCalled counts a call of AWS.
func (m *Metrics) AWSCalled(c awscfg.Call) {
	operation := m.limits.operations.of(c.Operation, maxQueried)
	m.count("remuda_aws_requests_total", cmp.Or(text(c.Service), other), operation, awserr.ClassOf(c.Err).String()).Inc()
}
