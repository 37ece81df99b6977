// Package s3test is S3 in memory, for tests: objects, conditional writes, listings, and the refusals that matter here. It
// makes each signature anew, also those with session tokens, holds contents to the checksums given, and refuses as S3 does
// what is not as it should be. It knows no requests whose signature is in the query, and of
// each object one version, that of a bucket without versioning.
//
//	s := s3test.New(t, awstest.Region, "remuda-1") // the names of its buckets
//	s.Admit(aws.Credentials{…}, "AROA…:i-…")       // who signs so is that principal
//	s.Allow(func(principal, action, resource string) bool { … }) // as its policy says; else everyone may do everything
//
// A client finds it by AWS_ENDPOINT_URL_S3 = s.URL; whose clients have the credentials of package awstest is "operator".
package s3test

import (
	"crypto/md5" //nolint:gosec // what S3 has for an ETag
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/s3sig"
)

// Server is S3 of one region. It is safe for concurrent use.
type Server struct {
	URL    string
	region string

	mu         sync.Mutex
	buckets    map[string]map[string][]byte
	principals map[string]principal // by access key
	allow      func(principal, action, resource string) bool
	Uploaded   []string // keys, in the order of their writing; read it when nobody writes
}

type principal struct {
	name  string
	creds aws.Credentials
}

// New starts a server with buckets, until the test ends.
func New(t testing.TB, region string, buckets ...string) *Server {
	t.Helper()
	s := &Server{region: region, buckets: map[string]map[string][]byte{}, principals: map[string]principal{}}
	for _, b := range buckets {
		s.buckets[b] = map[string][]byte{}
	}
	s.Admit(aws.Credentials{AccessKeyID: awstest.AccessKey, SecretAccessKey: awstest.SecretKey}, "operator")
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Admit makes a principal known by its credentials.
func (s *Server) Admit(c aws.Credentials, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.principals[c.AccessKeyID] = principal{name, c}
}

// Allow has each request judged, by action (s3:GetObject) and ARN.
func (s *Server) Allow(judge func(principal, action, resource string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.allow = judge
}

// Object returns the content of an object, nil if there is none.
func (s *Server) Object(bucket, key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buckets[bucket][key]
}

// Set makes or replaces an object, without anyone's request; nil deletes it.
func (s *Server) Set(bucket, key string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if content == nil {
		delete(s.buckets[bucket], key)
		return
	}
	s.buckets[bucket][key] = content
}

// refuse answers as S3 does: with a document, but to HEAD.
func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>%s</Code><Message>refused by the test</Message></Error>", code)
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, http.StatusBadRequest, "IncompleteBody")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	by, known := s.principals[s3sig.KeyID(r)]
	sum := sha256.Sum256(body)
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	action, ok := map[string]string{"GET": "s3:GetObject", "HEAD": "s3:GetObject", "PUT": "s3:PutObject", "DELETE": "s3:DeleteObject"}[r.Method]
	resource := "arn:aws:s3:::" + bucket + "/" + key
	if key == "" {
		action, ok, resource = "s3:ListBucket", r.Method == http.MethodGet && r.URL.Query().Get("list-type") == "2", "arn:aws:s3:::"+bucket
	}
	versions, batch := r.Method == http.MethodGet && key == "" && r.URL.Query().Has("versions"), r.Method == http.MethodPost && key == "" && r.URL.Query().Has("delete")
	switch {
	case versions:
		action, ok = "s3:ListBucketVersions", true
	case batch:
		action, ok, resource = "s3:DeleteObjectVersion", true, resource+"/*"
	}
	status, code := s3sig.Refusal(r, hex.EncodeToString(sum[:]), by.creds, s.region, time.Now())
	checksum := r.Header.Get("X-Amz-Checksum-Sha256")
	objects, there := s.buckets[bucket]
	switch {
	case !known:
		refuse(w, http.StatusForbidden, "InvalidAccessKeyId")
	case code != "":
		refuse(w, status, code)
	case !ok:
		refuse(w, http.StatusNotImplemented, "NotImplemented")
	case checksum != "" && checksum != base64.StdEncoding.EncodeToString(sum[:]):
		refuse(w, http.StatusBadRequest, "BadDigest")
	case !there:
		refuse(w, http.StatusNotFound, "NoSuchBucket")
	case s.allow != nil && !s.allow(by.name, action, resource):
		refuse(w, http.StatusForbidden, "AccessDenied")
	case versions:
		listVersions(w, objects)
	case batch:
		deleteAll(w, objects, body)
	case key == "":
		list(w, bucket, objects, r.URL.Query().Get("prefix"), r.URL.Query().Get("delimiter"))
	default:
		s.object(w, r, by, bucket, key, body)
	}
}

func etag(content []byte) string {
	sum := md5.Sum(content) //nolint:gosec // as above
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

func (s *Server) object(w http.ResponseWriter, r *http.Request, by principal, bucket, key string, body []byte) {
	objects := s.buckets[bucket]
	old, there := objects[key]
	switch r.Method {
	case http.MethodPut:
		match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
		switch {
		case match != "" && !there:
			refuse(w, http.StatusNotFound, "NoSuchKey")
		case match != "" && match != etag(old), none == "*" && there:
			refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
		default:
			objects[key] = body
			s.Uploaded = append(s.Uploaded, key)
			w.Header().Set("ETag", etag(body))
		}
	case http.MethodDelete:
		delete(objects, key)
		w.WriteHeader(http.StatusNoContent)
	default:
		switch {
		case there:
			w.Header().Set("ETag", etag(old))
			w.Header().Set("Content-Length", fmt.Sprint(len(old)))
			if r.Method == http.MethodGet {
				_, _ = w.Write(old)
			}
		case s.allow != nil && !s.allow(by.name, "s3:ListBucket", "arn:aws:s3:::"+bucket): // who may not list learns nothing
			refuse(w, http.StatusForbidden, "AccessDenied")
		default:
			refuse(w, http.StatusNotFound, "NoSuchKey")
		}
	}
}

// list answers ListObjectsV2, in one page.
func list(w http.ResponseWriter, bucket string, objects map[string][]byte, prefix, delimiter string) {
	type content struct {
		Key  string
		Size int
	}
	type common struct{ Prefix string }
	answer := struct {
		XMLName        xml.Name `xml:"ListBucketResult"`
		Name           string
		KeyCount       int
		IsTruncated    bool
		Contents       []content
		CommonPrefixes []common
	}{Name: bucket}
	for key, value := range objects {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		if i := strings.Index(key[len(prefix):], delimiter); delimiter != "" && i >= 0 {
			if p := (common{key[:len(prefix)+i+len(delimiter)]}); !slices.Contains(answer.CommonPrefixes, p) {
				answer.CommonPrefixes = append(answer.CommonPrefixes, p)
			}
			continue
		}
		answer.Contents = append(answer.Contents, content{key, len(value)})
	}
	slices.SortFunc(answer.Contents, func(a, b content) int { return strings.Compare(a.Key, b.Key) })
	slices.SortFunc(answer.CommonPrefixes, func(a, b common) int { return strings.Compare(a.Prefix, b.Prefix) })
	answer.KeyCount = len(answer.Contents) + len(answer.CommonPrefixes)
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(answer)
}
