package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet/procfleet"
	"github.com/remuda-run/remuda/internal/machinelog"
	"github.com/remuda-run/remuda/store"
)

const (
	loggedID = "i-0aaaaaaaaaaaaaaa1" // its output is kept
	livingID = "i-0bbbbbbbbbbbbbbb2" // it has a folder
	silentID = "i-0ccccccccccccccc3" // it has a record alone
)

// logged is a process fleet whose machines printed something.
func logged(t *testing.T) *cli {
	t.Helper()
	st := memory(t, nil)
	for _, id := range []store.InstanceID{loggedID, livingID, silentID} {
		launch(t, st, id, time.Now())
	}
	dir := t.TempDir()
	folder := filepath.Join(dir, "instances", livingID)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, machinelog.ScriptFile), []byte("installing with ghp_0123456789abcdefghij\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := procfleet.Logs(dir).Put(t.Context(), machinelog.Log{
		InstanceID: loggedID, TakenAt: time.Date(2026, 5, 5, 8, 22, 0, 0, time.UTC), Reason: "UD_FAILED",
		Sources: []machinelog.Source{
			{Name: machinelog.Agent, Text: "==> agent.log <==\nhello\n"},
			{Name: machinelog.Script, Text: "\x1b[31mred\x1b]0;title\x07\x1b[0m\tcell\x1bc\u009b2J\r\n\x1b]unended\nnext\n"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := newCLI(st)
	c.env = []string{"REMUDA_FLEET=process://" + dir}
	return c
}

func TestLogs_TextForPeople(t *testing.T) {
	c := logged(t)
	want := loggedID + " at 2026-05-05T08:22:00Z: UD_FAILED\n\nagent\n=====\n==> agent.log <==\nhello\n\nscript\n======\nred        cell2J\n\nnext\n"
	if code := c.run(t.Context(), "logs", loggedID); code != exitDone || c.out.String() != want {
		t.Errorf("code %d\n%q, want\n%q\n%s", code, c.out.String(), want, c.err.String())
	}
	if code := c.run(t.Context(), "logs", loggedID, "--source", "script"); code != exitDone || c.out.String() != "red        cell2J\n\nnext\n" {
		t.Errorf("of one source: code %d, %q\n%s", code, c.out.String(), c.err.String())
	}
	if code := c.run(t.Context(), "logs", livingID, "--source", "script"); code != exitDone || c.out.String() != "==> script.log <==\ninstalling with ***\n" {
		t.Errorf("of one that lives: code %d, %q\n%s", code, c.out.String(), c.err.String())
	}
}

func TestLogs_JSONIsWhatIsKept(t *testing.T) {
	c := logged(t)
	var got machinelog.Log
	code := c.run(t.Context(), "logs", loggedID, "-o", "json", "--source", "script")
	if err := json.Unmarshal(c.out.Bytes(), &got); code != exitDone || err != nil || got.InstanceID != loggedID || len(got.Sources) != 1 || !strings.Contains(got.Sources[0].Text, "\x1b[31m") {
		t.Errorf("code %d, %v, %s", code, err, c.out.String())
	}
}

// Anyone who gets nothing is told why.
func TestLogs_WhyThereIsNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		code int
		want string
	}{
		"Unknown":    {[]string{"i-0ddddddddddddddd4"}, exitNotFound, "instance i-0ddddddddddddddd4: read output of i-0ddddddddddddddd4: no output of it is kept"},
		"NoID":       {[]string{"../" + loggedID}, exitNotFound, "no output of it is kept"},
		"Silent":     {[]string{silentID}, exitNotFound, "instance i-0ccccccccccccccc3 is created: "},
		"NoSource":   {[]string{loggedID, "--source", "runner"}, exitNotFound, "source runner printed nothing"},
		"OddSource":  {[]string{loggedID, "--source", "kernel"}, exitUsage, "--source: must be one of agent, script, runner, console"},
		"NoInstance": {nil, exitUsage, "INSTANCE: must be given"},
		"NoFleet":    {[]string{loggedID, "--fleet", "process:///nonexistent/fleet"}, exitNotFound, "has a controller ever run on it?"},
	} {
		t.Run(name, func(t *testing.T) {
			c := logged(t)
			if code := c.run(t.Context(), append([]string{"logs"}, tt.args...)...); code != tt.code || !strings.Contains(c.err.String(), tt.want) || c.out.Len() > 0 {
				t.Errorf("code %d, want %d; %q, want …%s…; output %q", code, tt.code, c.err.String(), tt.want, c.out.String())
			}
		})
	}
}
