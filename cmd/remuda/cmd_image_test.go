package main

import (
	"strings"
	"testing"
)

// imageConfig is an installation whose machines of both architectures fetch all they need.
func imageConfig() string {
	sum := strings.Repeat("0", 63)
	return `
fleet: ec2://main?region=eu-west-1
agent:
  runnerUser: runner
  runnerUrl: {x86_64: "https://example.org/actions-runner-linux-x64-2.337.0.tar.gz", arm64: "https://example.org/actions-runner-linux-arm64-2.337.0.tar.gz"}
  runnerSha256: {x86_64: ` + sum + `1, arm64: ` + sum + `2}
ec2:
  subnets: [subnet-00000001]
  securityGroups: [sg-00000001]
  ami: ami-00000001
  instanceProfile: agent
  binaryUrl: {x86_64: https://example.org/amd64/remuda, arm64: https://example.org/arm64/remuda}
  binarySha256: {x86_64: ` + sum + `3, arm64: ` + sum + `4}
`
}

// The script holds what the configuration says for its architecture; flags name another runner, for an installation whose
// machines have it from the image.
func TestImageScript(t *testing.T) {
	sum := strings.Repeat("0", 63)
	for _, tt := range []struct {
		name string
		args []string
		want []string
	}{
		{"Default", nil, []string{
			"arch='x86_64'\nregion='eu-west-1'\nuser='runner'\nurl='https://example.org/amd64/remuda'\nsum='" + sum + "3'\nbaked='/usr/local/bin/remuda'\n",
			"runner='https://example.org/actions-runner-linux-x64-2.337.0.tar.gz'\nrunner_sum='" + sum + "1'\ndir='/opt/actions-runner'\n",
		}},
		{"ARM", []string{"--arch", "arm64"}, []string{"arch='arm64'\n", "url='https://example.org/arm64/remuda'\nsum='" + sum + "4'\n", "linux-arm64-2.337.0.tar.gz'\nrunner_sum='" + sum + "2'\n"}},
		{"RunnerOfTheImage", []string{
			"--set", "agent.runnerUrl=", "--set", "agent.runnerSha256=", "--set", "agent.runnerDir=/opt/runner", "--set", "agent.runnerUser=root",
			"--runner-url", "https://example.org/r.tar.gz", "--runner-sha256", sum + "5",
		}, []string{"user=''\n", "runner='https://example.org/r.tar.gz'\nrunner_sum='" + sum + "5'\ndir='/opt/runner'\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCLI(nil)
			c.files["remuda.yaml"] = imageConfig()
			if code := c.run(t.Context(), append([]string{"image", "script", "--config", "remuda.yaml"}, tt.args...)...); code != exitDone {
				t.Fatalf("exit code %d: %s", code, &c.err)
			}
			for _, want := range append(tt.want, "#!/bin/bash\n", "apt-get ", "log \"image is ready: $version\"\n") {
				if !strings.Contains(c.out.String(), want) {
					t.Errorf("the script lacks %q:\n%.900s", want, c.out.String())
				}
			}
		})
	}
}

func TestImageScript_Refused(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--arch", "amd64"}, `--arch: must be one of x86_64, arm64, got "amd64"`},
		{[]string{"--runner-url", "https://me:hush@example.org/r"}, "--runner-url and --runner-sha256: must be given together"},
		{[]string{"--runner-url", "ftp://example.org/r", "--runner-sha256", "12"}, `runner SHA-256: must be 64 hexadecimal digits, got "12"`},
		{[]string{"--fleet", "process:///tmp"}, `fleet: must be ec2://…, whose machines have images, got "process:///tmp"`},
		{[]string{"--set", "agent.runnerUser="}, "agent.runnerUser: must be a user of the machines"},
		{[]string{"extra"}, `argument "extra"`},
	} {
		c := newCLI(nil)
		c.files["remuda.yaml"] = imageConfig()
		code := c.run(t.Context(), append([]string{"image", "script", "--config", "remuda.yaml"}, tt.args...)...)
		if code != exitUsage || !strings.Contains(c.err.String(), tt.want) || strings.Contains(c.err.String(), "hush") || c.out.Len() > 0 {
			t.Errorf("image script %q = %d, %q, want %q", tt.args, code, &c.err, tt.want)
		}
	}
}
