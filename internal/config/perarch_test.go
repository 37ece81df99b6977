package config

import "testing"

// A text stands for every architecture, a mapping for those it names, in a file as in a variable and a flag.
func TestPerArch(t *testing.T) {
	for text, want := range map[string][2]string{
		"": {}, "ami-1": {"ami-1", "ami-1"}, "1234": {"1234", "1234"}, "resolve:ssm:/a": {"resolve:ssm:/a", "resolve:ssm:/a"},
		"{x86_64: ami-1}": {"ami-1", ""}, "{x86_64: ami-1, arm64: ami-2}": {"ami-1", "ami-2"}, "{}": {},
	} {
		sources := map[string]Source{"flag": {Flags: []Flag{{"--set", "ec2.ami", text}}}, "variable": {Env: map[string]string{"REMUDA_EC2_AMI": text}}}
		if text != "" {
			sources["file"] = inFile("ec2: {ami: " + text + "}")
		}
		for name, from := range sources {
			l, err := Read(from)
			if got := [2]string{l.EC2.AMI.For(ArchX86), l.EC2.AMI.For(ArchARM)}; got != want || err != nil || (len(l.EC2.AMI) == 0) != (l.EC2.AMI == nil) {
				t.Errorf("%s %q: %q, %v, want %q", name, text, got, err, want)
			}
		}
	}
}

// The runner's version is the lowest of those that machines have: GitHub stops serving that first.
func TestAgent_VersionOfSeveral(t *testing.T) {
	of := func(v string) string { return "https://example.org/actions-runner-linux-x64-" + v + ".tar.gz" }
	for want, a := range map[string]Agent{
		"": {RunnerURL: EveryArch("https://example.org/runner.tar.gz")}, "2.337.0": {RunnerURL: EveryArch(of("2.337.0"))},
		"2.99.10": {RunnerURL: PerArch{ArchX86: of("2.337.0"), ArchARM: of("2.99.10")}}, "2.1.0": {RunnerURL: EveryArch(of("2.337.0")), RunnerVersion: "2.1.0"},
	} {
		if got := a.Version(); got != want {
			t.Errorf("Version() of %v = %q, want %q", a, got, want)
		}
	}
}

// An agent reads what is meant for its architecture, as one text.
func TestAgentSettings_OfOneArchitecture(t *testing.T) {
	c := Default()
	c.Agent.RunnerURL, c.Agent.RunnerSHA256 = PerArch{ArchX86: "https://x", ArchARM: "https://a"}, PerArch{ArchX86: "1", ArchARM: "2"}
	for arch, want := range map[string][2]string{ArchX86: {"https://x", "1"}, ArchARM: {"https://a", "2"}} {
		text, err := AgentSettings(c, arch)
		if err != nil {
			t.Fatal(err)
		}
		l, err := Read(inFile(string(text)))
		if got := [2]string{l.Agent.RunnerURL[""], l.Agent.RunnerSHA256[""]}; err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", arch, got, err, want)
		}
	}
}
