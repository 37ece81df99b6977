package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// file is one of an archive, a package or an image.
type file struct {
	content []byte
	mode    int64
}

// completions of each shell, by their names in archives and their places on Linux.
var completions = map[string]string{
	"bash": "/usr/share/bash-completion/completions/remuda",
	"zsh":  "/usr/share/zsh/vendor-completions/_remuda",
	"fish": "/usr/share/fish/vendor_completions.d/remuda.fish",
}

// texts are the files that are the same for each target, by their names in archives.
func (r *release) texts(work string) (map[string]file, error) {
	program, err := r.own(work)
	if err != nil {
		return nil, err
	}
	files := map[string]file{}
	for shell := range completions {
		text, err := run(r.command(program, "completion", shell))
		if err != nil {
			return nil, err
		}
		files["completions/remuda."+shell] = file{text, 0o644}
	}
	man := filepath.Join(work, "man")
	if _, err := run(r.command("go", "test", "-tags=grpcnotrace", "-trimpath", "./cmd/remuda", "-run", "^TestManPages_", "-man", man)); err != nil {
		return nil, err
	}
	pages, err := os.ReadDir(man)
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(man, page.Name()))
		if err != nil {
			return nil, err
		}
		files["man/"+page.Name()] = file{text, 0o644}
	}
	licence, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	files["LICENSE"] = file{licence, 0o644}
	return files, err
}

// archive packs the program for one target with the texts.
func (r *release) archive(work string, t target, texts map[string]file) error {
	program, err := os.ReadFile(binary(work, t))
	if err != nil {
		return err
	}
	files := maps.Clone(texts)
	files["remuda"] = file{program, 0o755}
	content, err := pack(files, r.time)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(content); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, fmt.Sprintf("remuda_%s_%s_%s.tar.gz", r.version, t.os, t.arch)), packed.Bytes(), 0o644)
}

// pack makes a tar archive that holds files of root with the folders that they need, in the order of their names.
func pack(files map[string]file, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	made := map[string]bool{".": true}
	var folder func(string) error
	folder = func(name string) error {
		if made[name] {
			return nil
		}
		made[name] = true
		if err := folder(path.Dir(name)); err != nil {
			return err
		}
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755, ModTime: at, Format: tar.FormatPAX})
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		if err := folder(path.Dir(name)); err != nil {
			return nil, err
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: f.mode, Size: int64(len(f.content)), ModTime: at, Format: tar.FormatPAX}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
