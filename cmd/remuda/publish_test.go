package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/s3test"
	"github.com/remuda-run/remuda/internal/bucket"
	"github.com/remuda-run/remuda/internal/config"
)

// testBucket is an empty bucket, and a configuration that has it.
func testBucket(t *testing.T) (*s3test.Server, config.Config) {
	t.Helper()
	s := s3test.New(t, "eu-west-1", "remuda-1")
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_S3": s.URL, "AWS_ACCESS_KEY_ID": awstest.AccessKey, "AWS_SECRET_ACCESS_KEY": awstest.SecretKey, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	cfg := config.Default()
	cfg.Fleet, cfg.EC2.Bucket = "ec2://main?region=eu-west-1", "remuda-1"
	cfg.Classes = map[string]config.Class{"small": {CPU: 1, Mem: 512, Arch: config.NativeArch()}}
	return s, cfg
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// native is the name of the runner's archive here.
func native(t *testing.T, arch string) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "actions-runner-linux-"+runnerArch[arch]+"-2.337.0.tar.gz")
}

func TestPublish(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("publishes this program, and machines run Linux")
	}
	s, cfg := testBucket(t)
	arch := config.NativeArch()
	archive := native(t, arch)
	if err := os.WriteFile(archive, []byte("the runner"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := newCLI(nil)
	p := &publisher{app: c.app, publish: true, runner: []string{arch + "=" + archive + "," + strings.ToUpper(sumOf([]byte("the runner")))}}
	run := func(apply bool) string {
		t.Helper()
		c.out.Reset()
		if err := errors.Join(p.validate(cfg), p.run(t.Context(), cfg, apply)); err != nil {
			t.Fatal(err)
		}
		return c.out.String()
	}
	if out := run(false); strings.Count(out, ": would create (") != 2 || len(s.Uploaded) != 0 {
		t.Errorf("--dry-run wrote %q and said\n%s", s.Uploaded, out)
	}
	if out := run(true); strings.Count(out, ": created (") != 2 || !strings.Contains(out, "release s3://remuda-1/release.json: updated") {
		t.Errorf("output %s", out)
	}
	var r bucket.Release
	if err := json.Unmarshal(s.Object("remuda-1", "release.json"), &r); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	if a := r.Program[arch]; a.SHA256 != sumOf(own) || string(s.Object("remuda-1", a.Key)) != string(own) || a.Version == "" {
		t.Errorf("program %+v", a)
	}
	if a := r.Runner[arch]; a.Version != "2.337.0" || string(s.Object("remuda-1", a.Key)) != "the runner" || !strings.HasSuffix(a.Key, filepath.Base(archive)) {
		t.Errorf("runner %+v", a)
	}
	if s.Uploaded[2] != "release.json" {
		t.Errorf("writes %q, want the release last", s.Uploaded)
	}
	if out := run(true); strings.Count(out, ": unchanged (") != 2 || len(s.Uploaded) != 4 {
		t.Errorf("again: writes %q, output %s", s.Uploaded, out)
	}

	// The archive of a release holds the program, and comes from a URL; so does a runner, by its checksum.
	packed := filepath.Join(t.TempDir(), "remuda_1.2.3_linux.tar.gz")
	f, err := os.Create(packed)
	if err != nil {
		t.Fatal(err)
	}
	gz, err := gzip.NewWriterLevel(f, gzip.NoCompression) // this program is large, and slow under the race detector
	if err != nil {
		t.Fatal(err)
	}
	files := tar.NewWriter(gz)
	err = errors.Join(files.WriteHeader(&tar.Header{Name: "remuda", Mode: 0o755, Size: int64(len(own))}))
	if err == nil {
		_, err = files.Write(own)
	}
	if err := errors.Join(err, files.Close(), gz.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(packed)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(packed))))
	t.Cleanup(web.Close)
	p.program = []string{arch + "=" + web.URL + "/" + filepath.Base(packed) + "," + sumOf(text)}
	if out := run(true); strings.Count(out, ": unchanged (") != 2 {
		t.Errorf("from a release's archive: %s", out)
	}
}

// Nothing is published in part, and nothing that is not what it should be.
func TestPublish_Refused(t *testing.T) {
	arch := config.NativeArch()
	other := config.ArchARM
	if arch == other {
		other = config.ArchX86
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	archive := native(t, arch)
	if err := os.WriteFile(archive, []byte("the runner"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := arch + "=" + archive + "," + sumOf([]byte("the runner"))
	odd := filepath.Join(t.TempDir(), "odd")
	if err := os.WriteFile(odd, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	for want, p := range map[string]publisher{
		"runner for " + arch + ": " + archive + " has SHA-256":     {runner: []string{arch + "=" + archive + "," + strings.Repeat("0", 64)}},
		"must be named actions-runner-linux-" + runnerArch[arch]:   {runner: []string{arch + "=" + odd + "," + sumOf([]byte("text"))}},
		"program for " + arch + ": " + odd + ": must be a program": {runner: []string{good}, program: []string{arch + "=" + odd}},
		"for linux and " + goArch[other] + ", got":                 {runner: []string{good}, program: []string{other + "=" + exe}},
		"fetch " + web.URL + "/x: 404":                             {runner: []string{good}, program: []string{arch + "=" + web.URL + "/x," + strings.Repeat("0", 64)}},
		"no such file":                                             {runner: []string{good}, program: []string{arch + "=/nosuch"}},
		"open bucket":                                              {runner: []string{good}},
	} {
		s, cfg := testBucket(t)
		if want == "open bucket" {
			cfg.Fleet = "ec2://main?region=x"
		}
		p.app, p.publish = newCLI(nil).app, true
		err := errors.Join(p.validate(cfg), p.run(t.Context(), cfg, true))
		if err == nil || !strings.Contains(err.Error(), want) || slices.Contains(s.Uploaded, bucket.ReleaseKey) {
			t.Errorf("error = %v, want %q, and no release in %q", err, want, s.Uploaded)
		}
	}
	if _, err := released(t.Context(), "(devel)", other); err == nil || !strings.Contains(err.Error(), "give --program "+other+"=FILE") {
		t.Errorf("released = %v", err)
	}
}

// What is wrong is said before anything is read or written.
func TestInit_PublishFlags(t *testing.T) {
	for want, args := range map[string][]string{
		"ec2.bucket: must be set for --publish":                               {"--publish"},
		"must not be given without --publish":                                 {"--program", "arm64=x"},
		`--program: must be ARCH=FILE or ARCH=URL, ARCH one of x86_64, arm64`: {"--publish", "--program", "amd64=x"},
		"--program: must be given once for arm64":                             {"--publish", "--program", "arm64=x", "--program", "arm64=y"},
		"--program: must end with a comma and the SHA-256":                    {"--publish", "--program", "arm64=https://example.org/remuda"},
		"--runner: must end with a comma and the SHA-256":                     {"--publish", "--runner", "arm64=x"},
	} {
		c := newCLI(nil)
		if code := c.run(t.Context(), append([]string{"init"}, args...)...); code != exitUsage || !strings.Contains(c.err.String(), want) {
			t.Errorf("init %q = %d, %q, want %q", args, code, c.err.String(), want)
		}
	}
}

// A signed URL is taken as any other; what opens it is told nobody, whatever goes wrong.
func TestPublish_SignedURL(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("publishes this program, and machines run Linux")
	}
	arch := config.NativeArch()
	const signature = "?X-Amz-Signature=5ec4e7&X-Amz-Credential=AKIA5ec4e7/eu-west-1/s3"
	var packed bytes.Buffer
	gz := gzip.NewWriter(&packed)
	if err := errors.Join(tar.NewWriter(gz).Close(), gz.Close()); err != nil {
		t.Fatal(err)
	}
	content := map[string][]byte{"/old.tar.gz": []byte("the runner"), "/remuda": []byte("text"), "/remuda.tar.gz": packed.Bytes()}
	runner := "/actions-runner-linux-" + runnerArch[arch] + "-2.337.0.tar.gz"
	content[runner] = []byte("the runner")
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		if text, ok := content[r.URL.Path]; ok && "?"+r.URL.RawQuery == signature && password == "hunter2" {
			_, _ = w.Write(text)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(web.Close)
	signed := func(at string) string {
		return arch + "=" + strings.Replace(web.URL, "://", "://octo:hunter2@", 1) + at + signature + "," + sumOf(content[at])
	}
	shown := strings.Replace(web.URL, "://", "://xxxxx@", 1)
	publish := func(program, runner []string) (*s3test.Server, string, error) {
		s, cfg := testBucket(t)
		c := newCLI(nil)
		p := &publisher{app: c.app, publish: true, program: program, runner: runner}
		err := p.validate(cfg)
		if err == nil {
			err = p.run(t.Context(), cfg, true)
		}
		said := c.out.String() + c.err.String() + fmt.Sprint(err)
		for _, secret := range []string{"hunter2", "5ec4e7"} {
			if strings.Contains(said, secret) {
				t.Errorf("--program %q --runner %q says %s", program, runner, said)
			}
		}
		return s, said, err
	}
	good := []string{signed(runner)}
	if s, said, err := publish(nil, good); err != nil || !slices.ContainsFunc(s.Uploaded, func(key string) bool { return strings.HasSuffix(key, runner) }) {
		t.Errorf("error = %v, uploaded %q, said %s", err, s.Uploaded, said)
	}
	for want, wrong := range map[string]struct{ program, runner []string }{
		shown + "/old.tar.gz: must be named actions-runner": {nil, []string{signed("/old.tar.gz")}},
		shown + "/remuda: must be a program":                {[]string{signed("/remuda")}, good},
		"unpack " + shown + "/remuda.tar.gz: find remuda":   {[]string{signed("/remuda.tar.gz")}, good},
		shown + "/remuda has SHA-256":                       {[]string{signed("/remuda")[:len(signed("/remuda"))-64] + strings.Repeat("0", 64)}, good},
		"fetch " + shown + "/none: 404":                     {[]string{signed("/none")}, good},
		"ARCH one of x86_64, arm64":                         {[]string{"amd64=" + signed("/remuda")[len(arch)+1:]}, good},
		"must be given once for " + arch:                    {[]string{signed("/remuda"), signed("/remuda.tar.gz")}, good},
		"must end with a comma and the SHA-256":             {[]string{signed("/remuda")[:len(signed("/remuda"))-65]}, good},
		"fetch https://xxxxx@example.org/x: no URL":         {[]string{arch + "=https://octo:hun?ter2@example.org/x" + signature + "," + sumOf(nil)}, good},
		"open htps://xxxxx@example.org/x: no such file":     {[]string{arch + "=htps://octo:hunter2@example.org/x" + signature}, good},
	} {
		if _, said, err := publish(wrong.program, wrong.runner); err == nil || !strings.Contains(said, want) {
			t.Errorf("%q: said %s", want, said)
		}
	}
}
