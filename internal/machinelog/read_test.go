//go:build unix

package machinelog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// write makes a file of an instance with the age that its text is read by.
func write(t *testing.T, dir, name, text string, age time.Duration) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	check(t, os.MkdirAll(filepath.Dir(path), 0o700))
	check(t, os.WriteFile(path, []byte(text), 0o600))
	at := time.Now().Add(-age)
	check(t, os.Chtimes(path, at, at))
	return path
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// texts are what was read, by source.
func texts(sources []Source) map[string]string {
	out := map[string]string{}
	for _, s := range sources {
		out[s.Name] = s.Text
	}
	return out
}

func TestRead_EachSourceWithItsFilesTheNewestLast(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "agent.log", "agent says\n", 0)
	write(t, dir, "script.log", "script says", 0)
	write(t, dir, "scrub.log", "", 0)
	write(t, dir, "runner/_diag/Runner_1.log", "older", time.Hour)
	write(t, dir, "runner/_diag/Worker_2.log", "newer", time.Minute)
	write(t, dir, "runner/_diag/notes.txt", "no log", 0)
	write(t, dir, "runner.log", "Listening for Jobs", time.Hour)
	write(t, dir, "agent-key", "private", 0)
	got := texts(Read(dir, nil))
	want := map[string]string{
		Agent:  "==> agent.log <==\nagent says\n",
		Script: "==> script.log <==\nscript says\n",
		Runner: "==> _diag/Runner_1.log <==\nolder\n==> _diag/Worker_2.log <==\nnewer\n==> runner.log <==\nListening for Jobs\n",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("Read = %q, want %q", got, want)
	}
	if got := Read(filepath.Join(dir, "none"), nil); got != nil {
		t.Errorf("Read without a folder = %v", got)
	}
}

// The end of each source is kept, whatever a job wrote, and no line whose beginning, with a secret's, is missing.
func TestRead_Bounded(t *testing.T) {
	dir := t.TempDir()
	line := strings.Repeat("x", 99) + "\n"
	write(t, dir, "agent.log", strings.Repeat(line, SourceBytes/50)+"the end\n", 0)
	write(t, dir, "script.log", strings.Repeat("y", 2*SourceBytes), 0) // one line
	write(t, dir, "runner.log", "the listener's\n", time.Hour)
	for i := range 20 {
		write(t, dir, fmt.Sprintf("runner/_diag/%02d.log", i), strings.Repeat(line, 500), time.Duration(i)*time.Minute)
	}
	got := texts(Read(dir, nil))
	for name, text := range got {
		if len(text) > SourceBytes {
			t.Errorf("%s has %d bytes, above %d", name, len(text), SourceBytes)
		}
	}
	if text := got[Agent]; len(text) < SourceBytes*9/10 || !strings.HasPrefix(text, "==> agent.log <==\n…\n"+line) || !strings.HasSuffix(text, "\nthe end\n") {
		t.Errorf("agent: %d bytes, %.40q…", len(text), text)
	}
	if text := got[Script]; text != "==> script.log <==\n…\n\n" {
		t.Errorf("script = %.40q, want no part of a line", text)
	}
	if text := got[Runner]; !strings.HasSuffix(text, "the listener's\n") || !strings.Contains(text, "_diag/00.log") || strings.Contains(text, "_diag/19.log") {
		t.Errorf("runner: %.40q…, want the listener's own output and the newest of the others", text)
	}
}

// H43: what a job puts in the place of logs shows nothing of other files, holds up no one, and hides no log.
func TestRead_HostileFolder_H43(t *testing.T) {
	dir := t.TempDir()
	secret := write(t, dir, "agent-key", "the key of the machine", 0)
	write(t, dir, "runner/_diag/good.log", "good", 0)
	diag := filepath.Join(dir, "runner", "_diag")
	check(t, os.Symlink(secret, filepath.Join(diag, "absolute.log")))
	check(t, os.Symlink("../../agent-key", filepath.Join(diag, "relative.log")))
	check(t, os.Symlink("good.log", filepath.Join(diag, "inside.log")))
	check(t, os.Link(secret, filepath.Join(diag, "hard.log")))
	check(t, syscall.Mkfifo(filepath.Join(diag, "pipe.log"), 0o600))
	check(t, os.Mkdir(filepath.Join(diag, "folder.log"), 0o700))
	write(t, dir, "runner/_diag/evil\x1b[2J\n==> agent.log <==.log", "named to deceive", 0)
	sparse := write(t, dir, "runner/_diag/sparse.log", "", time.Hour)
	check(t, os.Truncate(sparse, 1<<40))
	text := texts(Read(dir, nil))[Runner]
	if strings.Contains(text, "the key") {
		t.Errorf("a link was followed: %s", text)
	}
	for _, name := range []string{"absolute", "relative", "inside", "hard", "pipe", "folder"} {
		if !strings.Contains(text, "==> _diag/"+name+".log <==\nnot read: "+errNotPlain.Error()+"\n") {
			t.Errorf("%s.log is not named as what it is: %.2000q", name, text)
		}
	}
	if !strings.Contains(text, "==> _diag/good.log <==\ngood\n") {
		t.Errorf("the log is missing: %.2000q", text)
	}
	if !strings.Contains(text, `==> _diag/evil\x1b[2J\n==> agent.log <==.log <==`) {
		t.Errorf("a name is not quoted: %.2000q", text)
	}
}

// H43: a folder that is a link is none: neither the runner's nor that of its logs.
func TestRead_LinkedFolder_H43(t *testing.T) {
	other := t.TempDir()
	write(t, other, "_diag/other.log", "of another machine", 0)
	for name, link := range map[string]string{"Runner": "runner", "Diag": "runner/_diag"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			check(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o700))
			target := other
			if link != "runner" {
				target = filepath.Join(other, "_diag")
			}
			check(t, os.Symlink(target, filepath.Join(dir, link)))
			if got := Read(dir, nil); got != nil {
				t.Errorf("Read = %q", got)
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	line := "2026-05-05T08:22:00.123Z INF a signal was reported component=agent instance_id=i-0123456789abcdef0 signal=UD_REG_OK token_kind=none\n"
	for _, name := range []string{"agent.log", "script.log", "runner.log"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat(line, SourceBytes/len(line))), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if len(Read(dir, nil)) != 3 {
			b.Fatal("a source is missing")
		}
	}
}
