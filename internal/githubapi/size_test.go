package githubapi

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return copy(p, strings.Repeat(" ", len(p))), nil
}

type answering struct{ body io.Reader }

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(a.body)}, nil
}

// A server that sends without end is cut off.
func TestSized_EndlessAnswer_IsCutOff(t *testing.T) {
	body := &endless{}
	resp, err := sized{answering{body}}.RoundTrip(nil)
	if err != nil {
		t.Fatalf("RoundTrip() error = %v", err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("reading it: error = %v, want that it is too large", err)
	}
	if body.read > 2*maxAnswer {
		t.Errorf("%d bytes were read, want little more than %d", body.read, maxAnswer)
	}
	resp, err = sized{answering{strings.NewReader("whole")}}.RoundTrip(nil)
	if err != nil {
		t.Fatalf("RoundTrip() error = %v", err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); string(got) != "whole" || err != nil {
		t.Errorf("ReadAll() of a small one = %q, %v", got, err)
	}
}
