//go:build linux

package stock

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/e2e/host/hosttest"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest/s3sig"
)

const (
	region  = "eu-west-1"
	sources = "127.0.0.1:3142" // where machines find the archive of Debian
	objects = "127.0.0.1:9000" // and S3
)

// patience is how long one thing may take on a busy computer.
const patience = 5 * time.Minute

// world is what machines reach.
type world struct {
	program.T
	creds   aws.Credentials
	objects map[string][]byte // of a bucket, by path
	public  map[string][]byte // the same, without a signature
	asked   atomic.Int64      // for any of them
}

func newWorld(t *testing.T) *world {
	t.Helper()
	hosttest.Require(t)
	return &world{
		T: program.T{TB: t}, objects: map[string][]byte{}, public: map[string][]byte{},
		creds: aws.Credentials{AccessKeyID: "ASIA" + rand.Text()[:16], SecretAccessKey: rand.Text() + "/+" + rand.Text()[:12], SessionToken: rand.Text() + "//+==" + rand.Text()},
	}
}

// ServeHTTP is S3, and a web server of public files.
func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.asked.Add(1)
	content, ok := w.public[r.URL.Path]
	if !ok {
		if status, code := s3sig.Refusal(r, s3sig.Nothing, w.creds, region, time.Now()); code != "" {
			rw.WriteHeader(status)
			_, _ = fmt.Fprintf(rw, "<Error><Code>%s</Code></Error>", code)
			return
		}
		if content, ok = w.objects[r.URL.Path]; !ok {
			rw.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprint(rw, "<Error><Code>NoSuchKey</Code></Error>")
			return
		}
	}
	_, _ = rw.Write(content)
}

// boot starts a machine of a suite with the user data and more files.
func (w *world) boot(suite, userData string, files map[string]hosttest.File) *hosttest.Machine {
	w.Helper()
	image := hosttest.Image{Suite: suite}
	from, err := image.Archive(w.Context())
	w.Check(err)
	archive, err := url.Parse(from)
	w.Check(err)
	debian := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(archive) }})
	w.Cleanup(debian.Close)
	s3 := httptest.NewServer(w)
	w.Cleanup(s3.Close)
	const roles = "meta-data/iam/security-credentials/"
	creds, err := json.Marshal(map[string]string{"AccessKeyId": w.creds.AccessKeyID, "SecretAccessKey": w.creds.SecretAccessKey, "Token": w.creds.SessionToken})
	w.Check(err)
	metadata := map[string]string{roles: "machine", roles + "machine": string(creds)}
	if userData != "" {
		metadata["user-data"] = userData
	}
	if files == nil {
		files = map[string]hosttest.File{}
	}
	files["/etc/apt/sources.list"] = hosttest.File{Text: "deb http://" + sources + " " + suite + " main\n", Mode: 0o644}
	files["/etc/systemd/system/user-data.service.d/s3.conf"] = hosttest.File{Text: "[Service]\nEnvironment=AWS_ENDPOINT_URL_S3=http://" + objects + "\n", Mode: 0o644}
	return hosttest.Boot(w, hosttest.Options{
		Image: image, Metadata: agenttest.MetadataOf(metadata), Files: files,
		Reach: map[string]string{sources: debian.Listener.Addr().String(), objects: s3.Listener.Addr().String()},
	})
}

// must runs a program in a machine.
func (w *world) must(m *hosttest.Machine, args ...string) string {
	w.Helper()
	out, err := m.Run(w.Context(), args...)
	w.Check(err)
	return out
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// runner is an archive of a runner that says its version.
func (w *world) runner() []byte {
	w.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	t := tar.NewWriter(z)
	const listener = "#!/bin/sh\necho 2.337.0\n"
	err := t.WriteHeader(&tar.Header{Name: "./bin/Runner.Listener", Mode: 0o755, Size: int64(len(listener)), Uid: 1001, Gid: 118})
	_, also := t.Write([]byte(listener))
	w.Check(errors.Join(err, also, t.Close(), z.Close()))
	return out.Bytes()
}
