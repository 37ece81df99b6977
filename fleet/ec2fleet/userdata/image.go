package userdata

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/remuda-run/remuda/internal/ec2form"
)

// Where images have the unpacked runner unless they are told otherwise, and the file in it that holds the SHA-256 of
// its archive.
const (
	RunnerDir  = "/opt/actions-runner"
	RunnerMark = ".remuda-sha256"
)

// ImageData is what differs between images. It must hold no secret.
type ImageData struct {
	Arch    string // x86_64 or arm64
	Region  string // of the machine that becomes the image
	User    string // of jobs; "": none is made
	Program Program
	Runner  Runner
}

// Runner is the archive of the runner program that an image holds unpacked.
type Runner struct {
	URL    string // as Program.URL; "": the image has none, or has it in Dir already
	SHA256 string // 64 hexadecimal digits; required with URL
	Dir    string // absolute path
}

// image is the part of the script for images that is always the same.
//
//go:embed image.sh
var image string

// Image returns the script that makes a machine an image from which others boot in seconds: with all that user data would
// install. Run again it changes only what has changed. Its error names everything that is wrong with d.
func Image(d ImageData) (string, error) {
	var p problems
	p.text(slices.Contains([]string{"x86_64", "arm64"}, d.Arch), "architecture", "x86_64 or arm64", d.Arch)
	p.machine(d.Region, d.User, d.Program)
	p.download("runner", d.Runner.URL, d.Runner.SHA256)
	p.text(ec2form.Path.Match(d.Runner.Dir), "runner directory", ec2form.Path.String(), d.Runner.Dir)
	if err := errors.Join(p...); err != nil {
		return "", fmt.Errorf("render script for images: %w", err)
	}
	baked := d.Program.Baked
	if baked == "" {
		baked = ProgramPath
	}
	var head strings.Builder
	head.WriteString("#!/bin/bash\n# Makes this machine an image for remuda.\n")
	for _, v := range [][2]string{
		{"arch", d.Arch}, {"region", d.Region}, {"user", d.User},
		{"url", d.Program.URL}, {"sum", strings.ToLower(d.Program.SHA256)}, {"baked", baked},
		{"runner", d.Runner.URL}, {"runner_sum", strings.ToLower(d.Runner.SHA256)}, {"dir", d.Runner.Dir}, {"mark", RunnerMark},
	} {
		fmt.Fprintf(&head, "%s=%s\n", v[0], quote(v[1]))
	}
	return head.String() + "\n" + commented + "\n" + image, nil
}
