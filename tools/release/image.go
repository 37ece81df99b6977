package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// repository is where images are if -push does not say otherwise.
const repository = "ghcr.io/remuda-run/remuda"

// unprivileged is the user of the controller, the one that images without a distribution use by custom.
const unprivileged = "65532:65532"

// images makes the controller's image for each architecture, and pushes them as one of many.
func (r *release) images(work, push string) error {
	repo, err := name.NewRepository(cmp.Or(push, repository))
	if err != nil {
		return fmt.Errorf("-push: %w", err)
	}
	tag := repo.Tag(r.version)
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, t := range targets {
		if t.os != "linux" || r.built[t] == nil {
			continue
		}
		image, err := r.image(work, t)
		if err != nil {
			return fmt.Errorf("image for %s: %w", t.arch, err)
		}
		if err := tarball.WriteToFile(filepath.Join(r.out, fmt.Sprintf("remuda_%s_image_%s.tar", r.version, t.arch)), tag, image); err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: t.os, Architecture: t.arch}}})
	}
	if push == "" {
		return nil
	}
	if err := remote.WriteIndex(tag, index, remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return fmt.Errorf("push %s: %w", tag, err)
	}
	digest, err := index.Digest()
	fmt.Printf("%s@%s\n", repo, digest)
	return err
}

func (r *release) image(work string, t target) (v1.Image, error) {
	program, err := os.ReadFile(binary(work, t))
	if err != nil {
		return nil, err
	}
	files, err := r.zones()
	if err != nil {
		return nil, err
	}
	files["usr/local/bin/remuda"] = file{program, 0o755}
	files["etc/ssl/certs/ca-certificates.crt"] = file{roots(), 0o644}
	files["etc/passwd"] = file{[]byte("root:x:0:0:root:/:/sbin/nologin\nremuda:x:65532:65532:remuda:/var/lib/remuda:/sbin/nologin\n"), 0o644}
	files["etc/group"] = file{[]byte("root:x:0:\nremuda:x:65532:\n"), 0o644}
	content, err := pack(files, r.time)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image, err := mutate.Append(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), mutate.Addendum{
		Layer: layer, History: v1.History{Created: v1.Time{Time: r.time}, CreatedBy: "remuda's release"},
	})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = t.os, t.arch, v1.Time{Time: r.time}
	config.Config = v1.Config{
		Entrypoint: []string{"/usr/local/bin/remuda"}, Cmd: []string{"controller"}, User: unprivileged,
		Env: []string{"PATH=/usr/local/bin"},
		Labels: map[string]string{
			"org.opencontainers.image.source": "https://github.com/remuda-run/remuda", "org.opencontainers.image.version": r.version,
			"org.opencontainers.image.revision": r.revision, "org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return mutate.ConfigFile(image, config)
}

// roots are Mozilla's. Those that Mozilla trusts under conditions are left out: a file of certificates cannot say them.
func roots() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // memory takes all
		}
	}
	return out.Bytes()
}

// zones are the time zones that come with the toolchain, where programs look for them.
func (r *release) zones() (map[string]file, error) {
	goroot, err := run(r.command("go", "env", "GOROOT"))
	if err != nil {
		return nil, err
	}
	z, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(goroot)), "lib/time/zoneinfo.zip"))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	files := map[string]file{}
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		opened, err := f.Open()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(opened)
		if err := errors.Join(err, opened.Close()); err != nil {
			return nil, err
		}
		files["usr/share/zoneinfo/"+f.Name] = file{content, 0o644}
	}
	return files, nil
}
