package awscfg

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/remuda-run/remuda/internal/awserr"
)

// Each try is told of with what became of it, also those that the SDK repeats unasked.
func TestLoad_TellsOfEachTry(t *testing.T) {
	tries := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if tries++; tries == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte(`{"TableNames":[]}`))
	}))
	defer server.Close()
	bare(t, keys(map[string]string{"AWS_REGION": "eu-west-1", "AWS_ENDPOINT_URL_DYNAMODB": server.URL}))
	var mu sync.Mutex
	var got []string
	cfg, err := Load(WithTold(t.Context(), func(c Call) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, c.Service+" "+c.Operation+" "+awserr.ClassOf(c.Err).String())
	}), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if want := []string{"DynamoDB ListTables unavailable", "DynamoDB ListTables none"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}
