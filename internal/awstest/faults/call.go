package faults

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// call is a request to AWS, read as far as needed.
type call struct {
	req       *http.Request
	body      []byte
	service   string     // dynamodb, sqs, ec2, iam, sts, s3, ssm, secretsmanager, logs, … or unknown
	operation string     // or Unknown
	form      url.Values // of the Query protocol (EC2, IAM, STS); nil for JSON

	done []map[string]json.RawMessage // entries of an SQS batch answered without the service
}

func (c *call) op() string { return c.service + "." + c.operation }

// readCall consumes the request's body.
func readCall(req *http.Request) (*call, error) {
	c := &call{req: req, operation: "Unknown"}
	if req.Body != nil {
		var err error
		c.body, err = io.ReadAll(req.Body)
		if closeErr := req.Body.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return nil, err
		}
	}
	c.service = scope(req.Header.Get("Authorization"))
	if target := req.Header.Get("X-Amz-Target"); target != "" {
		prefix, name, _ := strings.Cut(target, ".")
		c.operation = name
		switch {
		case strings.HasPrefix(prefix, "DynamoDB_"):
			c.service = "dynamodb"
		case prefix == "AmazonSQS":
			c.service = "sqs"
		}
		return c, nil
	}
	if c.service == "s3" {
		c.operation = s3Operation(req)
		return c, nil
	}
	if form, err := url.ParseQuery(string(c.body)); err == nil && form.Get("Action") != "" {
		c.operation, c.form = form.Get("Action"), form
	}
	return c, nil
}

// s3Operation returns the operation of an S3 request with the bucket in its path. It knows the calls of this repository.
func s3Operation(req *http.Request) string {
	_, key, _ := strings.Cut(strings.Trim(req.URL.Path, "/"), "/")
	kind := "Object"
	if key == "" {
		kind = "Bucket"
	}
	query := req.URL.Query()
	switch {
	case req.Method == http.MethodGet && query.Has("versions"):
		return "ListObjectVersions"
	case req.Method == http.MethodGet && key == "":
		return "ListObjectsV2"
	case req.Method == http.MethodPost && query.Has("delete"):
		return "DeleteObjects"
	}
	verb, known := map[string]string{http.MethodGet: "Get", http.MethodHead: "Head", http.MethodPut: "Put", http.MethodDelete: "Delete"}[req.Method]
	if !known {
		return "Unknown"
	}
	return verb + kind
}

// scope returns the service in a signature: Credential=<key>/<date>/<region>/<service>/aws4_request.
func scope(authorization string) string {
	_, rest, _ := strings.Cut(authorization, "Credential=")
	credential, _, _ := strings.Cut(rest, ",")
	if parts := strings.Split(credential, "/"); len(parts) == 5 {
		return parts[3]
	}
	return "unknown"
}

// outgoing returns the request to send, with the body as it is now.
func (c *call) outgoing() *http.Request {
	out := c.req.Clone(c.req.Context())
	out.Body = io.NopCloser(bytes.NewReader(c.body))
	out.GetBody = nil
	out.ContentLength = int64(len(c.body))
	out.Header.Set("Accept-Encoding", "identity") // so that the answer can be read
	return out
}

// fields reads the body's JSON object; nil if it is none.
func (c *call) fields() map[string]json.RawMessage { return object(c.body) }

func object(text []byte) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	if json.Unmarshal(text, &out) != nil {
		return nil
	}
	return out
}

// text returns a JSON string's value, "" for anything else.
func text(raw json.RawMessage) string {
	var out string
	if json.Unmarshal(raw, &out) != nil {
		return ""
	}
	return out
}

// mustJSON is for values made of strings and JSON only.
func mustJSON(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return out
}

// answer is what a service, or a fault in its place, says.
func (c *call) answer(status int, contentType string, body []byte) *http.Response {
	return &http.Response{
		Status: strconv.Itoa(status) + " " + http.StatusText(status), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{
			"Content-Type": {contentType}, "Content-Length": {strconv.Itoa(len(body))}, "X-Amzn-Requestid": {"fault"},
		},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: c.req,
	}
}

// json10 is the content type of the JSON protocol.
const json10 = "application/x-amz-json-1.0"

// ok is the answer of a service that speaks JSON.
func (c *call) ok(v any) *http.Response { return c.answer(http.StatusOK, json10, mustJSON(v)) }
