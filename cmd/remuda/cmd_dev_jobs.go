package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/store"
)

// controlOf returns the client for the simulated GitHub that cfg names.
func controlOf(cfg config.Config) (githubsim.ControlClient, error) {
	u, err := url.Parse(cfg.GitHub.URL)
	if err != nil || cfg.GitHub.TokenEnv != simTokenEnv {
		return githubsim.ControlClient{}, usagef("github.url: must be a simulated GitHub's; set REMUDA_CONFIG to the file that `remuda dev` named")
	}
	return githubsim.ControlClient{Root: u.Scheme + "://" + u.Host, Token: simToken}, nil
}

// submitOptions are the flags of `remuda dev submit`.
type submitOptions struct {
	*app
	run     string
	runID   string // of the jobs themselves; "": run
	count   int
	seconds float64
	script  string
	wait    bool
	output  string
}

func newDevSubmitCmd(a *app) *cobra.Command {
	o := &submitOptions{app: a}
	cmd := &cobra.Command{
		Use:   "submit",
		Short: "Queue jobs at the simulated GitHub",
		Long:  "Queues jobs at the simulated GitHub, labelled with a request's id as runs-on would be.",
		Args:  noArgs,
		RunE:  a.configured(o.validate, o.submit),
	}
	cmd.Flags().StringVar(&o.run, "run", "", "request `id` that the jobs name as their label")
	cmd.Flags().StringVar(&o.runID, "run-id", "", "run `id` that the jobs belong to, if other than their label says")
	if err := cmd.Flags().MarkHidden("run-id"); err != nil { // for tests of what a foreign label may not do
		panic("dev submit: " + err.Error()) // the flag does not exist; every test builds the tree
	}
	cmd.Flags().IntVar(&o.count, "count", 1, "number of jobs")
	cmd.Flags().Float64Var(&o.seconds, "seconds", 1, "how long each takes")
	cmd.Flags().StringVar(&o.script, "script", "", "shell script that each runs instead")
	cmd.Flags().BoolVar(&o.wait, "wait", false, "wait until they are completed")
	cmd.Flags().StringVarP(&o.output, "output", "o", formatTable, "table or json")
	return exits(cmd, exitFailed, exitInterrupted)
}

func (o *submitOptions) validate(config.Config) error {
	if err := store.RequestID(o.run).Valid(); err != nil {
		return fmt.Errorf("--run: %w", err)
	}
	if o.count < 1 || o.count > 1000 {
		return fmt.Errorf("--count: must be 1 to 1000, got %d", o.count)
	}
	if o.seconds < 0 {
		return fmt.Errorf("--seconds: must not be negative, got %g", o.seconds)
	}
	return checkFormat(o.output, formatTable, formatJSON)
}

func (o *submitOptions) submit(ctx context.Context, cfg config.Config) error {
	c, err := controlOf(cfg)
	if err != nil {
		return err
	}
	jobs := make([]githubsim.JobRecord, o.count)
	for i := range jobs {
		name := fmt.Sprintf("%s-%d-%s", o.run, i+1, uuid.NewString()[:8])
		job := githubsim.Job{ID: name, RunID: cmp.Or(o.runID, o.run), Repository: cfg.GitHub.Serves(), Label: o.run, Name: name, Seconds: o.seconds, Script: o.script}
		if err := c.Call(ctx, http.MethodPost, "/jobs", job, &jobs[i]); err != nil {
			return err
		}
	}
	if o.wait {
		for i := range jobs {
			if err := c.Call(ctx, http.MethodGet, "/jobs/"+url.PathEscape(jobs[i].ID)+"?wait=1", nil, &jobs[i]); err != nil {
				return err
			}
		}
	}
	if err := printJobs(o.out, o.output, jobs); err != nil {
		return err
	}
	for _, j := range jobs {
		if o.wait && j.Conclusion != githubsim.Success {
			return mark(errFailed, fmt.Errorf("job %s: %s: %s", j.ID, j.Conclusion, cmp.Or(strings.TrimSpace(j.Annotation), j.Detail)))
		}
	}
	return nil
}

func newDevJobsCmd(a *app) *cobra.Command {
	var run, output string
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "List the jobs of the simulated GitHub and who ran them",
		Args:  noArgs,
		RunE: a.configured(func(config.Config) error { return checkFormat(output, formatTable, formatJSON) }, func(ctx context.Context, cfg config.Config) error {
			c, err := controlOf(cfg)
			if err != nil {
				return err
			}
			var jobs []githubsim.JobRecord
			if err := c.Call(ctx, http.MethodGet, "/jobs", nil, &jobs); err != nil {
				return err
			}
			jobs = slices.DeleteFunc(jobs, func(j githubsim.JobRecord) bool { return run != "" && j.Label != run })
			return printJobs(a.out, output, jobs)
		}),
	}
	cmd.Flags().StringVar(&run, "run", "", "only those of this request `id`")
	cmd.Flags().StringVarP(&output, "output", "o", formatTable, "table or json")
	return exits(cmd, exitInterrupted)
}

// printJobs prints jobs as a table or as the simulated GitHub's JSON.
func printJobs(w io.Writer, format string, jobs []githubsim.JobRecord) error {
	t := &table{header: []string{"JOB", "LABEL", "STATE", "RESULT", "INSTANCE", "SECONDS"}, shrink: []int{0, 1}}
	for _, j := range jobs {
		took := "-"
		if !j.FinishedAt.IsZero() {
			took = fmt.Sprintf("%.1f", j.FinishedAt.Sub(j.StartedAt).Seconds())
		}
		t.add(j.Name, j.Label, string(j.State), cmp.Or(string(j.Conclusion), "-"), cmp.Or(j.InstanceID, "-"), took)
	}
	return printAs(w, format, jobs, t.String(0))
}
