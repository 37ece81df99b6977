package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/fleet/ec2fleet/userdata"
	"github.com/remuda-run/remuda/internal/config"
)

const imageLong = `Prints a script that makes a machine of EC2 an image for remuda (docs/aws.md, "Images").`

const imageScriptLong = `Prints a script that makes a machine of Debian, Ubuntu or Amazon Linux an image from which others boot in seconds.

It does ahead what the first script of a machine of a stock image does at each boot: the packages that runners need,
the user of jobs (agent.runnerUser), the program (ec2.binaryUrl, in ec2.binaryPath), and the runner (agent.runnerUrl), unpacked to
agent.runnerDir or /opt/actions-runner. Give it to Packer or EC2 Image Builder; it runs as root, changes only what is missing
when it runs again, and fails unless the machine passes its check at the end. It holds no secret.`

// imageOptions are the flags of `remuda image script`.
type imageOptions struct {
	*app
	arch, runner, runnerSum string
}

func newImageCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "image",
		Short: "Make an image for machines of EC2",
		Long:  imageLong,
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	o := &imageOptions{app: a}
	script := &cobra.Command{
		Use:   "script",
		Short: "Print the script that makes an image",
		Long:  imageScriptLong,
		Args:  noArgs,
		RunE:  a.configured(o.validate, o.run),
	}
	script.Flags().StringVar(&o.arch, "arch", config.ArchX86, "architecture of the image: "+strings.Join(config.Architectures(), " or "))
	script.Flags().StringVar(&o.runner, "runner-url", "", "where the runner's archive is; default: agent.runnerUrl")
	script.Flags().StringVar(&o.runnerSum, "runner-sha256", "", "checksum of what --runner-url delivers")
	completes(script, "arch", config.Architectures()...)
	cmd.AddCommand(exits(script))
	return exits(cmd)
}

func (o *imageOptions) validate(c config.Config) error {
	switch {
	case !slices.Contains(config.Architectures(), o.arch):
		return fmt.Errorf("--arch: must be one of %s, got %q", strings.Join(config.Architectures(), ", "), o.arch)
	case (o.runner == "") != (o.runnerSum == ""):
		return fmt.Errorf("--runner-url and --runner-sha256: must be given together, got %q and %q", config.Redact(o.runner), o.runnerSum)
	case !c.OnEC2():
		return fmt.Errorf("fleet: must be ec2://…, whose machines have images, got %q", config.Redact(c.Fleet))
	}
	return validateJobsUser(c)
}

func (o *imageOptions) run(ctx context.Context, c config.Config) error {
	fleet, err := url.Parse(c.Fleet)
	if err != nil {
		return asUsage(err)
	}
	home := fleet.Query().Get(region)
	if program, runner := fromRelease(c); home == "" || program || runner {
		cfg, err := loadAWS(ctx, fleet, "")
		if err != nil {
			return err
		}
		home = cfg.Region
		if c, _, err = published(ctx, cfg, c); err != nil {
			return err
		}
	}
	runner := userdata.Runner{URL: o.runner, SHA256: o.runnerSum, Dir: cmp.Or(c.Agent.RunnerDir, userdata.RunnerDir)}
	if runner.URL == "" {
		runner.URL, runner.SHA256 = c.Agent.RunnerURL.For(o.arch), c.Agent.RunnerSHA256.For(o.arch)
	}
	script, err := userdata.Image(userdata.ImageData{
		Arch: o.arch, Region: home, User: c.JobsUser(), Program: programOf(c, o.arch), Runner: runner,
	})
	if err != nil {
		return asUsage(err)
	}
	_, err = io.WriteString(o.out, script)
	return err
}
