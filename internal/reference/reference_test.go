package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	clocktesting "k8s.io/utils/clock/testing"
)

// vault is Secrets Manager and Systems Manager, as far as they are asked.
type vault struct {
	mu     sync.Mutex
	values map[string]string
	down   bool
	asked  int
	region string
}

func (v *vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked++
	v.region = r.Header.Get("Authorization")
	var in struct {
		SecretId, SecretString string // as the service spells it
		Names                  []string
		WithDecryption         bool
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := func(status int, body any) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body) // the client may have gone
	}
	value, ok := v.values[in.SecretId]
	switch _, call, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); {
	case v.down:
		answer(500, map[string]string{"__type": "InternalFailure"})
	case call == "GetParameters" && in.WithDecryption:
		found := []map[string]string{}
		if value, ok := v.values[in.Names[0]]; ok {
			found = append(found, map[string]string{"Name": in.Names[0], "Value": value})
		}
		answer(200, map[string]any{"Parameters": found})
	case call == "GetSecretValue" && ok:
		answer(200, map[string]string{"SecretString": value})
	case call == "PutSecretValue" && ok:
		v.values[in.SecretId] = in.SecretString
		answer(200, map[string]string{})
	default:
		answer(400, map[string]string{"__type": "ResourceNotFoundException", "message": "can't find the specified secret"})
	}
}

func opened(t *testing.T, values map[string]string) (*Reader, *vault) {
	t.Helper()
	v := &vault{values: values}
	srv := httptest.NewServer(v)
	t.Cleanup(srv.Close)
	return &Reader{
		ReadFile: func(path string) ([]byte, error) { return nil, fmt.Errorf("open %s: %w", path, fs.ErrNotExist) },
		Load: func(_ context.Context, region string) (aws.Config, error) {
			if region == "" {
				region = "eu-west-1"
			}
			return aws.Config{Region: region, BaseEndpoint: aws.String(srv.URL), HTTPClient: srv.Client(), Retryer: func() aws.Retryer { return aws.NopRetryer{} },
				Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", "")}, nil
		},
	}, v
}

const secretARN = "arn:aws:secretsmanager:us-east-2:111122223333:secret:remuda/github-AbCdEf"

func TestReader_Read(t *testing.T) {
	r, v := opened(t, map[string]string{"/remuda/config": "name: x", "remuda/github": "ghp_1", secretARN: "ghp_2", "empty": " \n"})
	for text, want := range map[string]string{"ssm:/remuda/config": "name: x", "secretsmanager:remuda/github": "ghp_1", "secretsmanager:" + secretARN: "ghp_2"} {
		if got, err := r.Read(t.Context(), text); err != nil || string(got) != want {
			t.Errorf("Read(%s) = %q, %v, want %q", text, got, err, want)
		}
		if inARN := strings.Contains(v.region, "/us-east-2/"); inARN != strings.Contains(text, "us-east-2") {
			t.Errorf("Read(%s) is signed for %s", text, v.region)
		}
	}
	for text, says := range map[string]string{
		"ssm:/none":             "ssm:GetParameters on parameter /none: not found: check name and region (eu-west-1)",
		"secretsmanager:none":   "secretsmanager:GetSecretValue on secret none: not found: check name and region",
		"secretsmanager:empty":  "secretsmanager:empty: holds nothing",
		"secretsmanager:s:e/.x": "not found",
	} {
		if got, err := r.Read(t.Context(), text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("Read(%s) = %q, %v, want an error that says %q", text, got, err, says)
		}
	}
	if _, err := r.Read(t.Context(), "/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read of a file that is not there: %v", err)
	}
}

func TestReader_Store(t *testing.T) {
	r, v := opened(t, map[string]string{"a": "old"})
	if err := r.Store(t.Context(), "secretsmanager:a", []byte("new")); err != nil || v.values["a"] != "new" {
		t.Errorf("Store = %v, value %q, want it stored", err, v.values["a"])
	}
	for text, says := range map[string]string{"secretsmanager:b": "not found", "ssm:/a": "must be secretsmanager:NAME"} {
		if err := r.Store(t.Context(), text, []byte("secret")); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), `"secret"`) {
			t.Errorf("Store(%s) = %v, want %q and no value", text, err, says)
		}
	}
}

// What AWS keeps is read once a minute, and an outage takes nothing away.
func TestKept(t *testing.T) {
	r, v := opened(t, map[string]string{"a": "1"})
	clk := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	k := &Kept{Reader: r, Text: "secretsmanager:a", Clock: clk}
	v.down = true
	if got, err := k.Get(t.Context()); err == nil {
		t.Errorf("Get in an outage that lasts = %q, want an error", got)
	}
	v.down = false
	want := func(when, want string, asked int) {
		t.Helper()
		before := v.asked
		if got, err := k.Get(t.Context()); err != nil || string(got) != want || v.asked-before != asked {
			t.Errorf("%s: %q, %v after %d calls, want %q after %d", when, got, err, v.asked-before, want, asked)
		}
	}
	want("first", "1", 1)
	v.values["a"] = "2"
	want("within a minute", "1", 0)
	clk.SetTime(time.Unix(61, 0))
	want("after it", "2", 1)
	v.down = true
	clk.SetTime(time.Unix(200, 0))
	want("in an outage", "2", 1)
	want("at once again", "2", 0)
	v.down, v.values["a"] = false, "3"
	clk.SetTime(time.Unix(300, 0))
	want("after the outage", "3", 1)
}
