package githubapi

import (
	"fmt"
	"io"
	"net/http"
)

// maxAnswer bounds an answer, in bytes. The largest we ask for is a page of 100 runners: some 100 kB with all their
// labels. A server that sends without end must not fill the controller's memory.
const maxAnswer = 16 << 20

// sized is a transport whose answers end at maxAnswer.
type sized struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (s sized) RoundTrip(req *http.Request) (*http.Response, error) {
	base := s.base
	if base == nil {
		base = http.DefaultTransport
	}
	resp, err := base.RoundTrip(req)
	if err == nil && resp.Body != nil {
		resp.Body = &sizedBody{resp.Body, maxAnswer}
	}
	return resp, err
}

// sizedBody fails once more was read than is left.
type sizedBody struct {
	io.ReadCloser
	left int
}

func (b *sizedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, fmt.Errorf("the answer is larger than %d bytes", maxAnswer)
	}
	return n, err
}
