package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

func TestGenerated_CLI(t *testing.T) {
	golden(t, filepath.Join("..", "..", "docs", "cli.md"), cliDoc(t))
}

func TestGenerated_Config(t *testing.T) {
	golden(t, filepath.Join("..", "..", "docs", "config.md"), configDoc())
}

const notice = "<!-- Generated from package main by go generate. Do not edit. -->\n\n"

// cliDoc renders the command tree, the exit codes and the shapes of JSON answers.
func cliDoc(t *testing.T) string {
	t.Helper()
	root := newRootCmd(newCLI(nil).app)
	var b strings.Builder
	b.WriteString("# Command line\n\n" + notice + withoutExits(root.Long) + "\n\n## Exit codes\n\n| code | meaning |\n|---|---|\n")
	for _, row := range byCode() {
		fmt.Fprintf(&b, "| %d | %s |\n", row.code, row.meaning)
	}
	b.WriteString("\nEach help text lists those of its own command.\n\n## Flags of every command\n\n```text\n" + root.PersistentFlags().FlagUsages() + "```\n")
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() && cmd.Name() != "completion" && cmd.Name() != "help" {
			cmdDoc(&b, cmd)
		}
	}
	b.WriteString("\n## remuda completion\n\nPrints a completion script for bash, zsh, fish or powershell; `remuda completion bash --help` says how to load it.\n")
	b.WriteString("\n## JSON\n\nWhat `-o json` prints. Keys are only ever added. Instants are RFC 3339 in UTC with milliseconds, or `\"\"`; those of `controller` are absent then.\n")
	for _, shape := range jsonShapes() {
		var text bytes.Buffer
		if err := printJSON(&text, shape.value); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n### %s\n\n```json\n%s```\n", shape.command, &text)
	}
	return b.String()
}

func cmdDoc(b *strings.Builder, cmd *cobra.Command) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n```text\n%s\n", cmd.CommandPath(), withoutExits(cmd.Long), cmd.UseLine())
	if flags := cmd.NonInheritedFlags().FlagUsages(); flags != "" {
		b.WriteString("\n" + flags)
	}
	b.WriteString("```\n")
	if cmd.Example != "" {
		b.WriteString("\n```sh\n" + strings.TrimSpace(strings.ReplaceAll("\n"+cmd.Example, "\n  ", "\n")) + "\n```\n")
	}
	_, codes, _ := strings.Cut(cmd.Long, exitsHeading)
	var list []string
	for line := range strings.Lines(codes) {
		list = append(list, strings.Fields(line)[0])
	}
	fmt.Fprintf(b, "\nExit codes: %s.\n", strings.Join(list, ", "))
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() {
			cmdDoc(b, child)
		}
	}
}

// withoutExits returns a help text without its list of exit codes.
func withoutExits(long string) string {
	text, _, _ := strings.Cut(long, exitsHeading)
	return text
}

type jsonShape struct {
	command string
	value   any
}

// jsonShapes returns an example of every answer, in which every list has an element and every
// optional part is there.
func jsonShapes() []jsonShape {
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) store.Time { return store.At(now.Add(time.Duration(seconds) * time.Second)) }
	status := store.RunStatus{
		ID: "4711", Attempt: 1, Phase: statemachine.Ready, Deadline: at(590), PendingAt: at(-10), ReadyAt: at(-8),
		Counts:    store.Counts{Wanted: 1, Ready: 1},
		Instances: []store.Seat{{InstanceID: "i-0ab", InstanceType: "c6i.large", UsageClass: store.Spot, Warm: true, Seconds: 2}},
	}
	request := newRequestView("4711", store.RunRecords{
		Request: &store.RunRequest{
			ID: "4711", Attempt: 1, Count: 1, UsageClasses: []string{store.Spot}, AllowedInstanceTypes: []string{"c*"},
			ResourceClass: "small", MaxRuntime: 1800, Timeout: 600, CreatedAt: at(-10),
		},
		Client: &store.RunClient{SeenAt: at(-8)}, Status: &status,
	}, now)
	instance := newInstanceView(store.Instance{
		ID: "i-0ab", Principal: "i-0ab", State: statemachine.Running, RunID: "4711", Attempt: 1, Threshold: at(1792), Assignment: 3,
		Since: at(-8), ResourceClass: "small", UsageClass: store.Spot, InstanceType: "c6i.large", CPU: 2, Mem: 4096, Zone: "local",
		LaunchToken: "l-1", TemplateVersion: "1", CreatedAt: at(-300), ChangedAt: at(-8), Version: 12,
		Registration: store.Registration{Serial: 2, Assignment: 3, Mode: store.JIT, Name: "i-0ab-2", RunnerID: 41, URL: "https://github.com/owner/name", MintedAt: at(-10)},
	}, store.Vitals{
		Heartbeat: store.Heartbeat{UpdatedAt: at(-2), Beat: store.Beat{Assignment: 3, Busy: true, Runner: "online", RunnerID: 41, AgentVersion: "v1.0.0"}},
		Signal:    store.Signal{UpdatedAt: at(-8), Value: store.SignalValue{Signal: store.RegOK, RunID: "4711", Assignment: 3, Serial: 2}},
	}, now, statemachine.DefaultLimits())
	controller := controllerView{Leads: true, Holder: "host-3f", Term: 7, RenewedAt: at(0), Health: store.Health{
		ControllerVersion: "v1.0.0", ScannedAt: at(-12), SweptAt: at(-4), BreakerOpenAt: at(-40), ListingIncompleteAt: at(-40),
		GitHub:       store.GitHubBudget{Remaining: 4812, Limit: 5000, ResetAt: at(1860)},
		GitHubOutage: store.Outage{Reason: "github_throttled", Since: at(-40)}, FleetOutage: store.Outage{Reason: "fleet_down", Since: at(-40)},
		ConfigRefused: "caps.maxInstances: must be at least 1, got 0", ConfigRefusedAt: at(-40),
		Budget: store.Budget{Month: "2026-03", Monthly: 500, Spent: 412.25, Warns: true, Off: "floors"},
	}}
	fleet := fleetView{Now: at(0), Controller: &controller, Instances: []instanceView{instance}, Requests: []requestView{request}, Unread: []string{}}
	idle := config.Settings()[slices.IndexFunc(config.Settings(), func(s config.Setting) bool { return s.Key == "limits.idle" })]
	return []jsonShape{
		{"A command that fails and has nothing else to print", failureView{Error: "request 4711: not found", ExitCode: exitNotFound}},
		{"remuda request", newRunResult(status)},
		{"remuda status", fleet},
		{"remuda status request ID", request},
		{"remuda status instance ID", instance},
		{"remuda audit", auditView{
			Now: at(0), Instances: 3, Requests: 2, Machines: 3, NotCompared: []partView{{"github", "github.url is not configured", false}},
			Violations: []audit.Violation{{
				ID: 3, Invariant: "outlived-threshold", Resource: "machine i-0ab", Problem: "is up 5m0s after its threshold", Advice: "terminate it by hand",
			}},
		}},
		{"remuda config", configView{File: "remuda.yaml", Settings: []settingView{{idle.Key, "5m", "file", "remuda.yaml:9", idle.Env(), idle.Doc}}}},
		{"remuda version", buildVersion{Version: "v1.0.0", Revision: "0123456789abcdef", Go: "go1.26.0", OS: "linux", Arch: "amd64"}},
	}
}

// configDoc renders every setting with its default and what else can set it.
func configDoc() string {
	var b strings.Builder
	b.WriteString("# Configuration\n\n" + notice)
	b.WriteString("A YAML file, named by `--config` or `" + config.EnvFile + "`. An unknown key, a repeated key and a value of the wrong kind are errors.\n" +
		"Every setting is also an environment variable, and `--set key=value` on the command line; flags win over the environment, the\n" +
		"environment over the file, the file over the defaults. An empty variable counts as absent. Maps and lists are given there as YAML\n" +
		"on one line. `remuda config` shows every value with its origin, `remuda config --example` prints the file below.\n\n" +
		"*Changed*: `at once` is taken up by a controller that runs, as [operating.md](operating.md#changing-the-configuration) says; `restart` is named in its\n" +
		"log and waits for one.\n\n")
	b.WriteString("| key | default | environment | changed | meaning |\n|---|---|---|---|---|\n")
	for _, s := range config.Settings() {
		text := s.Text(config.Default())
		if text != "" {
			text = "`" + text + "`"
		}
		changed := "restart"
		if s.Reloaded {
			changed = "at once"
		}
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s | %s |\n", s.Key, text, s.Env(), changed, strings.ReplaceAll(s.Doc, "|", "\\|"))
	}
	b.WriteString("\n## Fields of a class\n\nBut for the first five they are for an EC2 fleet alone; [aws.md](aws.md#classes) shows them at work.\n\n| field | meaning |\n|---|---|\n")
	for _, field := range config.ClassFields() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", field[0], field[1])
	}
	b.WriteString("\n```yaml\n" + config.Example() + "```\n")
	return b.String()
}

// The documented shapes hold no secret-bearing key.
func TestJSONShapes_NoSecretKey(t *testing.T) {
	for _, shape := range jsonShapes() {
		var text bytes.Buffer
		if err := printJSON(&text, shape.value); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc([]string{`"secret"`, `"token":`, `"password"`}, func(key string) bool { return strings.Contains(text.String(), key) }) {
			t.Errorf("%s prints a secret:\n%s", shape.command, &text)
		}
	}
}
