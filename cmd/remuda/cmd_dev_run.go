package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/githubsim"
)

const devRunLong = `Starts workflow runs at the simulated GitHub and does to them what people do at their pages.
A run is a file:

  id: 4711            # and the label of its jobs, unless they name one
  jobs:
    - key: plan
      hosted: true    # GitHub's own runner takes it at once
    - key: test
      needs: [plan]
      matrix: [a, b]  # the legs come once plan is over
      script: make ${{ matrix.leg }}

A job may also have: name, label, always (if: always()), approval, seconds or, if it is hosted, held
(until "remuda dev run finish") and conclusion. Scripts have $GITHUB_RUN_ATTEMPT.`

func newDevRunCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Start, show and change workflow runs of the simulated GitHub",
		Long:  devRunLong,
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newDevRunStartCmd(a), newDevRunListCmd(a), newDevRunShowCmd(a), newDevRunRerunCmd(a), newDevRunFinishCmd(a),
		newDevRunActCmd(a, "cancel", "Cancel a run"), newDevRunActCmd(a, "approve", "Let the jobs of a run that wait for an approval go on"),
	)
	return exits(cmd)
}

// runOptions are what the verbs about one run have in common.
type runOptions struct {
	*app
	id     int64
	output string
}

// command makes cmd one of those verbs. act may be nil; what it did to is shown then.
func (o *runOptions) command(cmd *cobra.Command, check func() error, act func(context.Context, githubsim.ControlClient) error) *cobra.Command {
	cmd.Args = noArgs
	cmd.RunE = o.configured(func(config.Config) error {
		errs := []error{checkFormat(o.output, formatTable, formatJSON)}
		if o.id < 1 {
			errs = append(errs, fmt.Errorf("--id: must be at least 1, got %d", o.id))
		}
		if check != nil {
			errs = append(errs, check())
		}
		return errors.Join(errs...)
	}, func(ctx context.Context, cfg config.Config) error {
		c, err := controlOf(cfg)
		if err == nil && act != nil {
			err = act(ctx, c)
		}
		if err != nil {
			return err
		}
		var r githubsim.RunRecord
		if err := c.Call(ctx, http.MethodGet, o.path(""), nil, &r); err != nil {
			return err
		}
		return printRun(o.out, o.output, r)
	})
	cmd.Flags().Int64Var(&o.id, "id", 0, "`id` of the run")
	cmd.Flags().StringVarP(&o.output, "output", "o", formatTable, "table or json")
	return exits(cmd, exitInterrupted)
}

func (o *runOptions) path(rest string) string { return "/runs/" + strconv.FormatInt(o.id, 10) + rest }

func newDevRunStartCmd(a *app) *cobra.Command {
	var file, output string
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Start a run",
		Args:  noArgs,
		RunE: a.configured(func(config.Config) error {
			errs := []error{checkFormat(output, formatTable, formatJSON)}
			if file == "" {
				errs = append(errs, errors.New("--file: is required"))
			}
			return errors.Join(errs...)
		}, func(ctx context.Context, cfg config.Config) error {
			spec, err := a.readRun(file)
			if err != nil {
				return asUsage(fmt.Errorf("--file: %s: %w", file, err))
			}
			spec.Repository = cmp.Or(spec.Repository, cfg.GitHub.Serves())
			c, err := controlOf(cfg)
			if err != nil {
				return err
			}
			var r githubsim.RunRecord
			if err := c.Call(ctx, http.MethodPost, "/runs", spec, &r); err != nil {
				return err
			}
			return printRun(a.out, output, r)
		}),
	}
	cmd.Flags().StringVar(&file, "file", "", "`path` of the run, as \"remuda dev run\" describes it")
	cmd.Flags().StringVarP(&output, "output", "o", formatTable, "table or json")
	return exits(cmd, exitInterrupted)
}

// readRun reads a run from a file.
func (a *app) readRun(path string) (githubsim.RunSpec, error) {
	var s githubsim.RunSpec
	raw, err := a.readFile(path)
	if err != nil {
		return s, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	if err := dec.Decode(&s); err != nil && !errors.Is(err, io.EOF) {
		return s, err
	}
	return s, s.Valid()
}

func newDevRunListCmd(a *app) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List every run, each with its latest attempt",
		Args:  noArgs,
		RunE: a.configured(func(config.Config) error { return checkFormat(output, formatTable, formatJSON) }, func(ctx context.Context, cfg config.Config) error {
			c, err := controlOf(cfg)
			if err != nil {
				return err
			}
			var runs []githubsim.RunRecord
			if err := c.Call(ctx, http.MethodGet, "/runs", nil, &runs); err != nil {
				return err
			}
			t := &table{header: []string{"RUN", "REPOSITORY", "ATTEMPT", "STATE", "RESULT", "JOBS"}, shrink: []int{1}}
			for _, r := range runs {
				t.add(strconv.FormatInt(r.ID, 10), r.Repository, strconv.Itoa(r.Attempt), r.Status, cmp.Or(r.Conclusion, "-"), strconv.Itoa(len(r.Jobs)))
			}
			return printAs(a.out, output, runs, t.String(0))
		}),
	}
	cmd.Flags().StringVarP(&output, "output", "o", formatTable, "table or json")
	return exits(cmd, exitInterrupted)
}

func newDevRunShowCmd(a *app) *cobra.Command {
	o := &runOptions{app: a}
	var wait bool
	cmd := o.command(&cobra.Command{Use: "show", Short: "Show a run with the jobs of its latest attempt"}, nil,
		func(ctx context.Context, c githubsim.ControlClient) error {
			if !wait {
				return nil
			}
			var r githubsim.RunRecord
			return c.Call(ctx, http.MethodGet, o.path("?wait=1"), nil, &r)
		})
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until it is completed")
	return cmd
}

func newDevRunActCmd(a *app, name, short string) *cobra.Command {
	o := &runOptions{app: a}
	return o.command(&cobra.Command{Use: name, Short: short}, nil, func(ctx context.Context, c githubsim.ControlClient) error {
		return c.Call(ctx, http.MethodPost, o.path("/"+name), nil, nil)
	})
}

func newDevRunRerunCmd(a *app) *cobra.Command {
	o := &runOptions{app: a}
	var failed bool
	var job string
	cmd := o.command(&cobra.Command{Use: "rerun", Short: "Run a completed run again"}, func() error {
		if failed && job != "" {
			return errors.New("--failed, --job: must be at most one of both")
		}
		return nil
	}, func(ctx context.Context, c githubsim.ControlClient) error {
		which := githubsim.Again{Failed: failed}
		if job != "" {
			j, err := o.job(ctx, c, job)
			if err != nil {
				return err
			}
			which.Job = j.ID
		}
		return c.Call(ctx, http.MethodPost, o.path("/rerun"), which, nil)
	})
	cmd.Flags().BoolVar(&failed, "failed", false, "only the jobs that failed or were cancelled, and those that need them")
	cmd.Flags().StringVar(&job, "job", "", "only the job of this `name`, and those that need it")
	return cmd
}

func newDevRunFinishCmd(a *app) *cobra.Command {
	o := &runOptions{app: a}
	var job string
	var conclusion githubsim.Conclusion
	cmd := o.command(&cobra.Command{Use: "finish", Short: "End a hosted job that runs"}, func() error {
		var errs []error
		if job == "" {
			errs = append(errs, errors.New("--job: is required"))
		}
		if all := []githubsim.Conclusion{githubsim.Success, githubsim.Failure, githubsim.Cancelled}; !slices.Contains(all, conclusion) {
			errs = append(errs, fmt.Errorf("--conclusion: must be one of %v, got %q", all, conclusion))
		}
		return errors.Join(errs...)
	}, func(ctx context.Context, c githubsim.ControlClient) error {
		j, err := o.job(ctx, c, job)
		if err != nil {
			return err
		}
		in := map[string]githubsim.Conclusion{"conclusion": conclusion}
		return c.Call(ctx, http.MethodPost, "/runs/jobs/"+strconv.FormatInt(j.ID, 10)+"/finish", in, nil)
	})
	cmd.Flags().StringVar(&job, "job", "", "`name` of the job")
	cmd.Flags().StringVar((*string)(&conclusion), "conclusion", string(githubsim.Success), "how: success, failure or cancelled")
	return cmd
}

// job finds a job of the run's latest attempt by its name.
func (o *runOptions) job(ctx context.Context, c githubsim.ControlClient, name string) (githubsim.RunJob, error) {
	var r githubsim.RunRecord
	if err := c.Call(ctx, http.MethodGet, o.path(""), nil, &r); err != nil {
		return githubsim.RunJob{}, err
	}
	i := slices.IndexFunc(r.Jobs, func(j githubsim.RunJob) bool { return j.Name == name })
	if i < 0 {
		var names []string
		for _, j := range r.Jobs {
			names = append(names, j.Name)
		}
		return githubsim.RunJob{}, usagef("--job: must be one of %s, got %q", strings.Join(names, ", "), name)
	}
	return r.Jobs[i], nil
}

// printRun prints a run as two tables or as the simulated GitHub's JSON.
func printRun(w io.Writer, format string, r githubsim.RunRecord) error {
	jobs := &table{header: []string{"JOB", "LABEL", "STATE", "RESULT", "INSTANCE"}, shrink: []int{0, 1}}
	for _, j := range r.Jobs {
		jobs.add(j.Name, j.Label, j.Status, cmp.Or(j.Conclusion, "-"), cmp.Or(j.InstanceID, "-"))
	}
	text := fmt.Sprintf("run %d attempt %d %s\n%s", r.ID, r.Attempt, cmp.Or(r.Conclusion, r.Status), jobs.String(0))
	return printAs(w, format, r, text)
}
