// Package s3sig judges requests to S3 by their signature, as S3 does: it makes each signature anew, by the SDK's signer.
package s3sig

import (
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Nothing is the SHA-256 of no bytes, the content of a request that reads.
const Nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// skew is how far the clock of a client may be off (S3 API Reference, "Error responses", RequestTimeTooSkewed).
const skew = 15 * time.Minute

// Refusal returns status and code of S3's answer to a request whose content has a SHA-256 in hexadecimal digits (Nothing, if
// there is none), if it would refuse it for its signature at the time now; 0 and "" to one that is signed with c for a region.
func Refusal(r *http.Request, sum string, c aws.Credentials, region string, now time.Time) (status int, code string) {
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	switch {
	case err != nil || r.Header.Get("X-Amz-Content-Sha256") == "":
		return http.StatusBadRequest, "InvalidRequest"
	case r.Header.Get("X-Amz-Content-Sha256") != sum:
		return http.StatusBadRequest, "XAmzContentSHA256Mismatch"
	case r.Header.Get("X-Amz-Security-Token") != c.SessionToken:
		return http.StatusForbidden, "InvalidToken"
	}
	again, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+r.Host+r.URL.EscapedPath()+"?"+r.URL.RawQuery, http.NoBody)
	if err != nil {
		return http.StatusBadRequest, "InvalidURI"
	}
	for _, name := range signed(r) {
		switch {
		case name == "content-length":
			again.ContentLength = r.ContentLength
		case name != "host" && name != "x-amz-security-token" && name != "x-amz-date": // which the signer adds
			again.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
		}
	}
	err = v4.NewSigner().SignHTTP(r.Context(), c, again, sum, "s3", region, at,
		func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }) // as S3 has it
	switch {
	case err != nil || r.Header.Get("Authorization") != again.Header.Get("Authorization"):
		return http.StatusForbidden, "SignatureDoesNotMatch"
	case now.Sub(at).Abs() > skew:
		return http.StatusForbidden, "RequestTimeTooSkewed"
	}
	return 0, ""
}

// KeyID is the access key whose secret a request says to be signed with, "" if it says none.
func KeyID(r *http.Request) string {
	_, after, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	id, _, _ := strings.Cut(after, "/")
	return id
}

// signed are the names of the headers that a request says to be signed.
func signed(r *http.Request) []string {
	_, after, _ := strings.Cut(r.Header.Get("Authorization"), "SignedHeaders=")
	names, _, _ := strings.Cut(after, ",")
	return strings.Split(names, ";")
}
