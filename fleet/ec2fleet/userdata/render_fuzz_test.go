package userdata_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet/ec2fleet/userdata"
)

// FuzzRender: of any installation, either nothing is rendered and no password is told, or a script that
// EC2 takes, in which all that varies stands quoted, word for word, before the part that never varies.
func FuzzRender_H47(f *testing.F) {
	f.Add("main", "eu-west-1", int64(10*time.Minute), "https://example.org/remuda", sum(program), "/opt/remuda", "/etc/x", uint32(0o755), []byte("#!/bin/sh\n"))
	f.Add("';id;'", "eu-west-1\n", int64(-1), "https://me:hunter2-hunter2@example.org/'", "", "/a'b", "/'$(id)'", uint32(0), []byte("\x00\xff"))
	f.Add("a", "r-1", int64(1<<62), "https://h/", strings.Repeat("A", 64), "", "/x", uint32(1<<31), bytes.Repeat([]byte("ab"), 9000))
	always := fixedPart(f)
	f.Fuzz(func(t *testing.T, name, region string, limit int64, url, checksum, baked, path string, mode uint32, content []byte) {
		d := userdata.Data{
			Name: name, Region: region, Limit: time.Duration(limit), Config: []byte("name: main\n"),
			Program: userdata.Program{URL: url, SHA256: checksum, Baked: baked},
			Files:   []userdata.File{{Path: path, Mode: fs.FileMode(mode), Content: content}},
		}
		script, err := userdata.Render(d)
		if err != nil {
			const password = "hunter2-hunter2"
			if script != "" || strings.Count(err.Error(), password) > strings.Count(fmt.Sprintf("%q%q%q%q", name, region, checksum, baked+path+path), password) {
				t.Errorf("Render = %q, %v", script, err)
			}
			return
		}
		if len(script) > userdata.Limit {
			t.Fatalf("%d bytes, EC2 takes %d", len(script), userdata.Limit)
		}
		head, ok := strings.CutSuffix(script, always)
		if !ok {
			t.Fatalf("the script ends otherwise than always: %q", script)
		}
		if baked == "" {
			baked = userdata.ProgramPath
		}
		words := wordsOf(t, head)
		for _, want := range []string{"name=" + name, "url=" + url, "sum=" + strings.ToLower(checksum), "baked=" + baked} {
			if len(words) == 0 || words[0] != want {
				t.Fatalf("words %q, want %q next", words, want)
			}
			words = words[1:]
		}
		for i := 0; i < len(words); i++ {
			if words[i] == path {
				if got := unpacked(t, words[i+2]); words[i+1] != fmt.Sprintf("%04o", mode) || !bytes.Equal(got, content) {
					t.Errorf("%s has mode %s and content %q", path, words[i+1], got)
				}
				return
			}
		}
		t.Errorf("no file %q among %q", path, words)
	})
}

// fixedPart returns the end that the scripts of two installations share: all after the list of files.
func fixedPart(f *testing.F) string {
	script, err := userdata.Render(userdata.Data{Name: "main", Region: "eu-west-1", Limit: time.Minute, Config: []byte("x")})
	if err != nil {
		f.Fatal(err)
	}
	_, always, ok := strings.Cut(script, "\n)\n")
	if !ok {
		f.Fatal("no list of files")
	}
	return "\n)\n" + always
}

// wordsOf splits what begins after the first two lines into words as a shell would that knows nothing but
// single quotes, and fails the test where anything outside of them would mean something to it.
func wordsOf(t *testing.T, head string) (words []string) {
	lines := strings.SplitN(head, "\n", 3)
	if len(lines) < 3 || lines[0] != "#!/bin/bash" || !strings.HasPrefix(lines[1], "shutdown -P +") {
		t.Fatalf("begins with %q", lines[:min(2, len(lines))])
	}
	rest := strings.Replace(lines[2], "\nfiles=(\n", "\n", 1)
	var word strings.Builder
	for rest != "" {
		c := rest[0]
		rest = rest[1:]
		switch {
		case c == '\'':
			text, after, ended := strings.Cut(rest, "'")
			if !ended {
				t.Fatalf("a quote that does not end: %q", text)
			}
			word.WriteString(text)
			rest = after
		case c == '\\' && strings.HasPrefix(rest, "'"):
			word.WriteByte('\'')
			rest = rest[1:]
		case c == ' ' || c == '\n':
			if word.Len() > 0 {
				words = append(words, word.String())
				word.Reset()
			}
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '=':
			word.WriteByte(c)
		default:
			t.Fatalf("%q stands outside of quotes before %q", c, rest)
		}
	}
	if word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}

func unpacked(t *testing.T, payload string) []byte {
	raw, err := base64.StdEncoding.DecodeString(payload)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
