package ec2machine_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/remuda-run/remuda/agent/agenttest"
)

// sts answers GetCallerIdentity with a user id, lead ahead of this clock.
func sts(t *testing.T, userID string, lead time.Duration) aws.Config {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil || r.Form.Get("Action") != "GetCallerIdentity" {
			http.Error(w, "unknown action", http.StatusBadRequest)
			return
		}
		w.Header().Set("Date", time.Now().Add(lead).UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Type", "text/xml")
		if userID == "" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprint(w, `<ErrorResponse><Error><Code>InvalidClientTokenId</Code><Message>no such token</Message></Error></ErrorResponse>`)
			return
		}
		_, _ = fmt.Fprintf(w, `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
<Arn>arn:aws:sts::123456789012:assumed-role/remuda-agent/i-0abc</Arn><UserId>%s</UserId><Account>123456789012</Account>
</GetCallerIdentityResult></GetCallerIdentityResponse>`, userID)
	}))
	t.Cleanup(s.Close)
	return aws.Config{
		Region: "eu-west-1", BaseEndpoint: aws.String(s.URL), Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""),
		HTTPClient: s.Client(), RetryMaxAttempts: 1,
	}
}

// The principal is what IAM calls the instance; credentials of anyone else are refused.
func TestPrincipal(t *testing.T) {
	agenttest.NewMetadata(t)
	h := newComputer(t).open()
	got, err := h.Principal(context.Background(), sts(t, "AROAEXAMPLE:i-0abc", 0))
	if err != nil || got != "AROAEXAMPLE:i-0abc" {
		t.Errorf("Principal = %q, %v", got, err)
	}
	for userID, want := range map[string]string{
		"AIDAEXAMPLE":          `must be <role>:i-0abc, got "AIDAEXAMPLE": these credentials (arn:aws:sts::123456789012:assumed-role/remuda-agent/i-0abc) are not`,
		"AROAEXAMPLE:i-0abcde": "must be <role>:i-0abc",
		":i-0abc":              "must be <role>:i-0abc",
		"":                     "sts:GetCallerIdentity",
	} {
		if got, err := h.Principal(context.Background(), sts(t, userID, 0)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Principal as %q = %q, %v, want %q", userID, got, err, want)
		}
	}
}

// H52: the clock of AWS is known from every answer, an error's too.
func TestOffset_H52(t *testing.T) {
	agenttest.NewMetadata(t)
	h := newComputer(t).open()
	if h.Offset() != 0 {
		t.Errorf("Offset = %s before any answer", h.Offset())
	}
	for _, lead := range []time.Duration{time.Hour, -time.Hour, 0} {
		for _, userID := range []string{"AROAEXAMPLE:i-0abc", ""} {
			_, err := h.Principal(context.Background(), sts(t, userID, lead))
			if (err == nil) != (userID != "") {
				t.Fatalf("Principal = %v", err)
			}
			if off := h.Offset() - lead; off.Abs() > 4*time.Second { // a second, and half of the longest call that counts
				t.Errorf("Offset = %s, want %s", h.Offset(), lead)
			}
		}
	}
}
