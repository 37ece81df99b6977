// Package s3sig judges requests to S3 by their signature, as S3 does: it makes each signature anew, by the SDK's signer.
package s3sig

import (
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Nothing is the SHA-256 of no bytes, the content of a request that reads.
const Nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// skew is how far the clock of a client may be off (S3 API Reference, "Error responses", RequestTimeTooSkewed).
const skew = 15 * time.Minute

// Refusal returns status and code of S3's answer to a request without content and query that it would refuse for its
// signature at the time now; 0 and "" to one that is signed with c for a region.
func Refusal(r *http.Request, c aws.Credentials, region string, now time.Time) (status int, code string) {
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	switch {
	case err != nil || r.Header.Get("X-Amz-Content-Sha256") != Nothing:
		return http.StatusBadRequest, "InvalidRequest"
	case r.Header.Get("X-Amz-Security-Token") != c.SessionToken:
		return http.StatusForbidden, "InvalidToken"
	}
	again, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+r.Host+r.URL.EscapedPath(), http.NoBody)
	if err != nil {
		return http.StatusBadRequest, "InvalidURI"
	}
	again.Header.Set("X-Amz-Content-Sha256", Nothing)
	err = v4.NewSigner().SignHTTP(r.Context(), c, again, Nothing, "s3", region, at,
		func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }) // as S3 has it
	switch {
	case err != nil || r.Header.Get("Authorization") != again.Header.Get("Authorization"):
		return http.StatusForbidden, "SignatureDoesNotMatch"
	case now.Sub(at).Abs() > skew:
		return http.StatusForbidden, "RequestTimeTooSkewed"
	}
	return 0, ""
}
