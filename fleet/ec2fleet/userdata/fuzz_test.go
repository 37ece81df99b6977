package userdata_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/fleet/ec2fleet/userdata"
)

// FuzzRun boots with any content, path and URL: either Render refuses them, or exactly these files
// appear, exactly this URL is asked for, and nothing of them is executed (H47).
func FuzzRun_H47(f *testing.F) {
	const canary = `touch "$REMUDA_ROOT/canary"; systemctl canary`
	f.Add([]byte("name: a\n"), []byte("#!/bin/sh\n"), "/etc/remuda/prepare", "https://example.org/remuda")
	f.Add([]byte("EOF\n"+canary+"\n"), []byte("EOF\n"+canary), "/x';"+canary+";'", "https://example.org/'"+"$(touch${IFS}canary)")
	f.Add([]byte("'\n)\n"+canary+"\n"), []byte("\x00\xff\r\n\\'\"$`!"), "/$("+canary+")", "https://example.org/`reboot`#'\"[1-3]{a,b}")
	f.Add([]byte("`"+canary+"`"), []byte{}, "/a b/*?[x] -n ~", "http://[::1]:1/a;b&c|d>e<f")
	f.Add([]byte{0}, []byte("\n"), "/-rf", "http://127.0.0.1/--output/x%0a%00")
	f.Add([]byte("é"), []byte("a"), "/..a/\u2028", "https://example.org/\u202e")
	f.Fuzz(func(t *testing.T, config, content []byte, path, url string) {
		d := data(url)
		d.Config, d.Files = config, []userdata.File{{Path: path, Mode: 0o755, Content: content}}
		script, err := userdata.Render(d)
		if err != nil || url == "" { // no URL: nothing to install
			return
		}
		if len(path) > 200 {
			t.Skip("file systems have no such names")
		}
		c := newComputer(t)
		c.standIn("curl", `while [[ $1 != --output ]]; do shift; done; cat "$REMUDA_ROOT/remote" >"$2"; printf %s "$4" >"$REMUDA_ROOT/asked"; printf 200`)
		c.write(filepath.Join(c.root, "remote"), program)
		if conflicts(path) {
			t.Skip("a file in the way of another")
		}
		if status := c.boot(script); status != 0 {
			t.Fatalf("status = %d, console %q", status, c.has("dev/console"))
		}
		for where, want := range map[string]string{path: string(content), userdata.ConfigPath: string(config), "asked": url} {
			if got := c.has(where); got != want {
				t.Errorf("%s = %q, want %q", where, got, want)
			}
		}
		if strings.Contains("\n"+c.calls(), "\nsystemctl canary") {
			t.Errorf("content was executed: %s", c.calls())
		}
		if _, err := os.Stat(filepath.Join(c.root, "canary")); err == nil && path != "/canary" {
			t.Error("content was executed")
		}
	})
}

// conflicts reports whether a file at path cannot exist beside those that every computer has.
func conflicts(path string) bool {
	for _, taken := range []string{
		userdata.ProgramPath, userdata.ConfigPath, userdata.EnvPath, userdata.UnitPath, userdata.LibPath,
		"/dev/console", "/calls", "/started", "/remote", "/asked",
	} {
		if path == taken+".new" || path == taken || strings.HasPrefix(taken, path+"/") || strings.HasPrefix(path, taken+"/") {
			return true
		}
	}
	return false
}
