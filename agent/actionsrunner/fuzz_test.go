//go:build unix

package actionsrunner

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// FuzzPinned: a configuration of GitHub's form keeps all it says and is told not to update, once;
// anything else stays as it is.
func FuzzPinned_H50(f *testing.F) {
	f.Add("no base64!", []byte(`{"AgentId":"12","disableUpdate":false,"DISABLEUPDATE":0}`), []byte("\x00\xff"))
	f.Add("bnVsbA==", []byte(mark+`{"a":1e400,"a":[{}],"\u0000":"<"}`), []byte{})
	f.Add("eyIucnVubmVyIjpudWxsfQ==", []byte(`[]`), []byte(`{}`))
	f.Add("e30=", []byte(`null`), []byte(`{`))
	f.Fuzz(func(t *testing.T, raw string, set, other []byte) {
		if out := pinned(raw); pinned(out) != out {
			t.Errorf("pinned again, %q is another", raw)
		}
		packed, err := json.Marshal(map[string][]byte{settings: set, ".credentials": other})
		if err != nil {
			t.Fatal(err)
		}
		encoded := base64.StdEncoding.EncodeToString(packed)
		out := pinned(encoded)
		want := optionsIn(bytes.TrimPrefix(set, []byte(mark)))
		if out == encoded && want != nil && want[disableUpdate] != true {
			t.Fatalf("settings %q are left to update", set)
		}
		if out == encoded {
			return
		}
		decoded, err := base64.StdEncoding.DecodeString(out)
		var files map[string][]byte
		if err = errors.Join(err, json.Unmarshal(decoded, &files)); err != nil {
			t.Fatal(err)
		}
		for name := range want {
			if strings.EqualFold(name, disableUpdate) {
				delete(want, name)
			}
		}
		want[disableUpdate] = true
		if diff := gocmp.Diff(want, optionsIn(files[settings])); diff != "" || !bytes.Equal(files[".credentials"], other) || len(files) != 2 {
			t.Errorf("settings %q (-want +got):\n%s.credentials = %q", set, diff, files[".credentials"])
		}
	})
}

// optionsIn returns the members of an object; nil if text is none.
func optionsIn(text []byte) map[string]any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var out map[string]any
	if !json.Valid(text) || d.Decode(&out) != nil {
		return nil
	}
	return out
}

// FuzzConfigured: what is in the settings file makes no reader fail; what was cut off is no runner.
func FuzzConfigured_H71(f *testing.F) {
	f.Add([]byte(`{"agentId":1,"agentName":"i-1-1"}`))
	f.Add([]byte(mark + `{"AgentId":1,"AGENTNAME":"a","agentName":null}`))
	f.Add([]byte(`{"agentId":"1"`))
	f.Fuzz(func(t *testing.T, content []byte) {
		r := &Runner{o: Options{Dir: t.TempDir()}}
		if err := os.WriteFile(filepath.Join(r.o.Dir, settings), content, 0o600); err != nil {
			t.Fatal(err)
		}
		id, err := r.configured()
		if err != nil || !json.Valid(bytes.TrimPrefix(content, []byte(mark))) && id != (identity{}) {
			t.Errorf("configured = %+v, %v of %q", id, err, content)
		}
	})
}

// FuzzExplain: however a failed configuration prints its token, and wherever the text is cut, no part
// of it that one could use is in the error.
func FuzzExplain_S14(f *testing.F) {
	f.Add([]byte("Http response code: NotFound from 'POST' token="), []byte("\nbye\n"))
	f.Add([]byte(strings.Repeat("x", maxLine-9)), []byte("\n"))
	f.Add([]byte("a"), []byte(strings.Repeat("y", tailBytes-9)))
	f.Add([]byte("\xff\x00\r\n"), []byte(strings.Repeat("\n", lastLines)))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		const secret, part = "AAB3XQ7K5L2M9N4P6R8SZT", 6
		r := &Runner{o: Options{Log: filepath.Join(t.TempDir(), "log")}}
		if err := os.WriteFile(r.o.Log, bytes.Join([][]byte{before, after}, []byte(secret)), 0o600); err != nil {
			t.Fatal(err)
		}
		text := r.explain(errors.New("exit status 1"), secret).Error()
		for i := range len(secret) - part + 1 {
			some := []byte(secret[i : i+part])
			if strings.Contains(text, string(some)) && !bytes.Contains(before, some) && !bytes.Contains(after, some) {
				t.Fatalf("the error has %q of the token: %q", some, text)
			}
		}
	})
}

// FuzzUnpack: whatever three entries an archive has, nothing outside its folder is touched, no link in
// it leads outside, and no file has more rights than its owner, group and others can have.
func FuzzUnpack_H50(f *testing.F) {
	const dir, link, hard, file = byte(tar.TypeDir), byte(tar.TypeSymlink), byte(tar.TypeLink), byte(tar.TypeReg)
	f.Add("bin/", "", dir, "bin/run", "", file, "run", "bin/run", link, int64(0o755))
	f.Add("a", ".", link, "a/a/s", "../../x", link, "a/a/s/y", "", file, int64(0o644))
	f.Add("a/b/s", "../../c", link, "t", "a/b/s", hard, "t/x", "", file, int64(0o4777))
	f.Add("../x", "", file, "/etc/x", "", dir, "x", "/etc", link, int64(-1))
	f.Add("d", ".", link, "l", "d/../canary", link, "l/x", "", file, int64(0o644))
	f.Add("outside", "../canary", hard, ".", "", dir, "s", "..", link, int64(0))
	f.Fuzz(func(t *testing.T, name1, link1 string, type1 byte, name2, link2 string, type2 byte, name3, link3 string, type3 byte, mode int64) {
		outer := t.TempDir()
		inside, canary := filepath.Join(outer, "inside"), filepath.Join(outer, "canary")
		if err := errors.Join(os.Mkdir(inside, 0o755), os.WriteFile(canary, []byte("alive"), 0o600)); err != nil {
			t.Fatal(err)
		}
		archive := packedOf(
			tar.Header{Name: name1, Linkname: link1, Typeflag: type1, Mode: mode},
			tar.Header{Name: name2, Linkname: link2, Typeflag: type2, Mode: mode},
			tar.Header{Name: name3, Linkname: link3, Typeflag: type3, Mode: mode},
		)
		if err := unpack(archive, inside); err != nil && !errors.Is(err, errArchive) {
			t.Fatalf("unpack = %v, want it to be the archive's fault", err)
		}
		entries, err := os.ReadDir(outer)
		if text, readErr := os.ReadFile(canary); err != nil || readErr != nil || string(text) != "alive" || len(entries) != 2 {
			t.Fatalf("outside: %d entries, canary %q, %v, %v", len(entries), text, err, readErr)
		}
		checkInside(t, inside)
	})
}

// packedOf leaves out what no archive can hold.
func packedOf(headers ...tar.Header) *bytes.Buffer {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	for _, h := range headers {
		if h.Typeflag == tar.TypeReg {
			h.Size = 4
		}
		if archive.WriteHeader(&h) == nil && h.Size > 0 {
			_, _ = archive.Write([]byte("text")) // into memory
		}
	}
	_ = errors.Join(archive.Close(), zipped.Close()) // the same; a header may have been refused
	return &out
}

func checkInside(t *testing.T, inside string) {
	root, err := filepath.EvalSymlinks(inside)
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(inside, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode()&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky|fs.ModeDevice|fs.ModeNamedPipe) != 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		if d.Type() == fs.ModeSymlink {
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			parent, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return err
			}
			if to := filepath.Join(parent, target); to != root && !strings.HasPrefix(to, root+"/") {
				t.Errorf("%s leads to %s", path, to)
			}
			if to, err := filepath.EvalSymlinks(path); err == nil && to != root && !strings.HasPrefix(to, root+"/") {
				t.Errorf("%s leads to %s", path, to)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
