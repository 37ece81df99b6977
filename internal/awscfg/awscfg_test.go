package awscfg

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// bare removes whatever the machine that tests has configured, and sets env instead.
func bare(t *testing.T, env map[string]string) {
	t.Helper()
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "") // remembers the value to restore
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	none := filepath.Join(t.TempDir(), "none")
	for name, value := range map[string]string{
		"HOME": t.TempDir(), "AWS_CONFIG_FILE": none, "AWS_SHARED_CREDENTIALS_FILE": none, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	for name, value := range env {
		t.Setenv(name, value)
	}
}

func keys(more map[string]string) map[string]string {
	out := map[string]string{"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "hush-hush"}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func TestLoad_Region(t *testing.T) {
	tests := []struct {
		name, region string
		env          map[string]string
		want         string
	}{
		{"OfTheURL", "eu-central-1", keys(map[string]string{"AWS_REGION": "eu-west-1"}), "eu-central-1"},
		{"OfTheChain", "", keys(map[string]string{"AWS_REGION": "us-gov-west-1"}), "us-gov-west-1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bare(t, tt.env)
			cfg, err := Load(t.Context(), tt.region)
			if err != nil || cfg.Region != tt.want {
				t.Errorf("Load() = region %q, %v, want %q", cfg.Region, err, tt.want)
			}
		})
	}
}

func TestLoad_SaysWhatIsMissing(t *testing.T) {
	tests := []struct {
		name, region string
		env          map[string]string
		want         []string
		incomplete   bool
	}{
		{"Region", "", keys(nil), []string{"no region", "?region=", "AWS_REGION"}, true},
		{"Credentials", "eu-west-1", nil, []string{"no credentials", "AWS_ACCESS_KEY_ID", "role"}, true},
		{"Profile", "eu-west-1", map[string]string{"AWS_PROFILE": "nobody"}, []string{"nobody"}, false},
		{"NoRegionsName", "eu west/1", keys(nil), []string{`"eu west/1"`, "such as"}, false},
	}
	regions := []string{"Region", "NoRegionsName"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bare(t, tt.env)
			_, err := Load(t.Context(), tt.region)
			if err == nil || errors.Is(err, ErrIncomplete) != tt.incomplete {
				t.Fatalf("Load() error = %v, want ErrIncomplete = %t", err, tt.incomplete)
			}
			if want := slices.Contains(regions, tt.name); errors.Is(err, ErrRegion) != want {
				t.Errorf("Load() error = %v, want ErrRegion = %t", err, want)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("Load() error = %q, want it to contain %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "hush") {
				t.Errorf("Load() error = %q shows a secret", err)
			}
		})
	}
}

// On an instance neither region nor credentials are configured: the metadata service has both.
func TestLoad_OnAnInstance(t *testing.T) {
	metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch strings.TrimSuffix(r.URL.Path, "/") {
		case "/latest/api/token":
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "300")
			_, _ = w.Write([]byte("TOKEN"))
		case "/latest/dynamic/instance-identity/document":
			_, _ = w.Write([]byte(`{"region":"ap-southeast-2"}`))
		case "/latest/meta-data/iam/security-credentials":
			_, _ = w.Write([]byte("the-role"))
		case "/latest/meta-data/iam/security-credentials/the-role":
			_, _ = w.Write([]byte(`{"Code":"Success","AccessKeyId":"ASIA","SecretAccessKey":"S","Token":"T","Expiration":"2099-01-01T00:00:00Z"}`))
		default:
			http.NotFound(w, r)
		}
	}))
	defer metadata.Close()
	bare(t, map[string]string{"AWS_EC2_METADATA_DISABLED": "false", "AWS_EC2_METADATA_SERVICE_ENDPOINT": metadata.URL})
	cfg, err := Load(t.Context(), "")
	if err != nil || cfg.Region != "ap-southeast-2" {
		t.Fatalf("Load() = region %q, %v, want that of the instance", cfg.Region, err)
	}
	got, err := cfg.Credentials.Retrieve(t.Context())
	if err != nil || got.AccessKeyID != "ASIA" {
		t.Errorf("credentials = %s, %v, want the role's", got.AccessKeyID, err)
	}
}

// An endpoint of the environment replaces that of the service.
func TestLoad_EndpointOfTheEnvironment(t *testing.T) {
	called := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		called <- r.Header.Get("User-Agent")
		_, _ = w.Write([]byte(`{"TableNames":[]}`))
	}))
	defer server.Close()
	bare(t, keys(map[string]string{"AWS_REGION": "eu-west-1", "AWS_ENDPOINT_URL_DYNAMODB": server.URL}))
	cfg, err := Load(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if agent := <-called; !strings.Contains(agent, "app/remuda") {
		t.Errorf("user agent = %q, want it to name remuda", agent)
	}
}

// A metadata service that has no sessions is not asked again without one.
func TestLoad_NeverWithoutASession(t *testing.T) {
	var unasked atomic.Int64
	metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut {
			unasked.Add(1)
		}
		http.Error(w, "forbidden", http.StatusForbidden)
	}))
	defer metadata.Close()
	bare(t, map[string]string{"AWS_EC2_METADATA_DISABLED": "false", "AWS_EC2_METADATA_SERVICE_ENDPOINT": metadata.URL})
	for _, region := range []string{"", "eu-west-1"} {
		if _, err := Load(t.Context(), region); !errors.Is(err, ErrIncomplete) {
			t.Errorf("Load(%q) error = %v, want ErrIncomplete", region, err)
		}
	}
	if n := unasked.Load(); n != 0 {
		t.Errorf("%d requests without a session, want none", n)
	}
}

// The body that net/http sees must not write itself.
func TestPlainBodies(t *testing.T) {
	var seen io.Reader
	client := PlainBodies(doer(func(r *http.Request) (*http.Response, error) { seen = r.Body; return nil, io.EOF }))
	req, err := http.NewRequest(http.MethodPost, "http://127.0.0.1/", struct {
		io.ReadCloser
		io.WriterTo
	}{io.NopCloser(strings.NewReader("text")), strings.NewReader("text")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(req); !errors.Is(err, io.EOF) {
		t.Errorf("Do() error = %v, want that of the client below", err)
	}
	if _, writes := seen.(io.WriterTo); writes {
		t.Error("the body writes itself")
	}
	if text, err := io.ReadAll(seen); string(text) != "text" || err != nil {
		t.Errorf("the body reads %q, %v, want text", text, err)
	}
}

type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }
