package main

import (
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/store"
)

// FuzzConfigURL: wherever a URL stands with a password, however broken, neither the problems
// nor the list of settings repeats the password.
func FuzzConfigURL(f *testing.F) {
	for _, key := range urlSettings {
		f.Add(key, "https", "octo", "github.com:bad port/o")
	}
	f.Add("store", "dynamodb", "", "remuda?region=eu-west-1")
	f.Add("github.url", "http", "%zz", "\x00\x7f")
	f.Add("fleet", "", "u@v", "")
	f.Fuzz(func(t *testing.T, key, scheme, user, rest string) {
		if strings.ContainsAny(user, "/?#") { // no user of a URL, but a path
			return
		}
		const password = "hunter2-hunter2"
		if user != "" { // else an access token alone, as people clone with
			user += ":"
		}
		c := freshCLI()
		c.global.set = append(c.global.set, key+"="+scheme+"://"+user+password+"@"+rest)
		got, err := c.readConfig(c.readFile)
		text := fmt.Sprintln(err, got.Validate())
		if err := (&configOptions{output: formatTable}).run(c.app.streams, got); err != nil {
			t.Fatal(err)
		}
		if err := (&configOptions{output: formatJSON}).run(c.app.streams, got); err != nil {
			t.Fatal(err)
		}
		if text += c.out.String(); strings.Contains(text, password) {
			at := strings.Index(text, password)
			t.Errorf("the password is shown: %q", text[max(0, at-100):at+len(password)])
		}
	})
}

var urlSettings = []string{"store", "pool", "fleet", "github.url", "github.apiUrl", "agent.runnerUrl", "ec2.binaryUrl"}

// FuzzAgentSettings: what a controller takes and writes for its agents, they read as the same.
func FuzzAgentSettings(f *testing.F) {
	f.Add("main", "/usr/bin/prepare", "linux", "1h30m", "small", "none")
	f.Add("0x10", "/a: b # c", "~", "90061001ms", "1e3", "")
	f.Add("true", "/'\"\n\t\u2028", "&a *a !!b", "0.5ms", "no", "full")
	f.Add("2026-01-02", "/\xff\x00", "null", "1ns", "0o17", "processes")
	f.Fuzz(func(t *testing.T, name, script, group, idle, class, scrub string) {
		c := freshCLI()
		c.files["r.yaml"], c.global.config = "classes: {}\n", "r.yaml"
		c.global.set = []string{"name=" + name, "agent.script=" + script, "github.url=https://github.com/octo", "github.runnerGroup=" + group, "limits.idle=" + idle}
		first, err := c.readConfig(c.readFile)
		if err != nil {
			return
		}
		first.Classes = map[string]config.Class{class: {CPU: 1, Mem: 512, Scrub: scrub}}
		if first.Validate() != nil {
			return
		}
		text, err := config.AgentSettings(first.Config, config.ArchX86)
		if err != nil {
			t.Fatalf("AgentSettings = %v", err)
		}
		agent := freshCLI()
		agent.files["agent.yaml"], agent.global.config = string(text), "agent.yaml"
		second, err := agent.readConfig(agent.readFile)
		if err != nil {
			t.Fatalf("the agent reads %q: %v", text, err)
		}
		want := first.Config
		want.Classes = want.Scrubbed()
		if len(want.Classes) == 0 {
			want.Classes = config.Default().Classes // of which it makes no use
		}
		if diff := gocmp.Diff(want, second.Config); diff != "" {
			t.Errorf("the agent reads %q (-want +got):\n%s", text, diff)
		}
	})
}

// FuzzRequestFlags: what is taken of a request's flags is what was written, within its bounds.
func FuzzRequestFlags(f *testing.F) {
	for _, text := range []string{"", "1", "-0", "9223372036854775808", "1e3", "30m", "1s1ns", "2562047h47m16.854775807s", "spot,on-demand", "spot spot", "c*\nm6i.large", "12-a", "\x00", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := parseWhole("--count", text, 0, 100); err == nil && (n < 0 || n > 100) {
			t.Errorf("parseWhole(%q) = %d", text, n)
		}
		if d, err := parseDuration("--timeout", text, maxWait); err == nil && (d < minDuration || d > maxWait || d%1e6 != 0) {
			t.Errorf("parseDuration(%q) = %s", text, d)
		}
		if list, err := parseUsage("--usage", text); err == nil && (len(list) < 1 || len(list) > 2 || len(list) == 2 && list[0] == list[1]) {
			t.Errorf("parseUsage(%q) = %q", text, list)
		}
		if list, err := parsePatterns("--types", text); err == nil && (len(list) < 1 || len(list) > store.MaxPatterns || strings.ContainsAny(strings.Join(list, ""), " ,\t\r\n")) {
			t.Errorf("parsePatterns(%q) = %q", text, list)
		}
		if id, err := parseID("--id", text); err == nil && (string(id) != text || len(id) > 100 || strings.ContainsAny(text, " ,#/\n\x00") || text != strings.ToLower(text)) {
			t.Errorf("parseID(%q) = %q", text, id)
		}
	})
}

const maxWait = 48 * 3600 * 1e9 // 48 h
