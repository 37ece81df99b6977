package githubsim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// Remote is the runner's side of a hub behind HTTP. Its errors are those of the hub's methods,
// *ServiceError but for what is dropped;
// ErrUnavailable also if the server cannot be reached.
type Remote struct {
	base   string
	client *http.Client
}

// NewRemote returns the service that a runner configured with rawURL belongs to.
func NewRemote(rawURL string, client *http.Client) (*Remote, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("url: want http://host/owner/repo: %w", ErrInvalid)
	}
	base := url.URL{Scheme: u.Scheme, Host: u.Host, Path: runnerPrefix}
	return &Remote{base: base.String(), client: client}, nil
}

// RegistrationURL is where the real program would register (actions/runner, src/Runner.Listener/
// Configuration/ConfigurationManager.cs), for its messages.
func (r *Remote) RegistrationURL() string {
	return strings.TrimSuffix(r.base, runnerPrefix) + "/api/v3/actions/runner-registration"
}

// Register is Hub.Register.
func (r *Remote) Register(ctx context.Context, token, url string, q RegisterRequest) (Credentials, error) {
	var out wireRegistered
	err := r.call(ctx, http.MethodPost, "/register", "", wireRegister{Token: token, RegisterRequest: q}, &out)
	if err != nil {
		return Credentials{}, fmt.Errorf("register runner %s: %w", q.Name, err)
	}
	return Credentials{RunnerID: out.RunnerID, Name: q.Name, Secret: out.Secret, URL: url, Ephemeral: q.Ephemeral}, nil
}

// Unregister is Hub.Unregister.
func (r *Remote) Unregister(ctx context.Context, token string, id int64) error {
	if err := r.call(ctx, http.MethodPost, "/remove", "", wireRemove{Token: token, RunnerID: id}, nil); err != nil {
		return fmt.Errorf("remove runner %d: %w", id, err)
	}
	return nil
}

// Connect is Hub.Connect.
func (r *Remote) Connect(ctx context.Context, c Credentials) (*RemoteSession, error) {
	var out wireSession
	err := r.call(ctx, http.MethodPost, "/session", c.Secret, wireConnect{RunnerID: c.RunnerID}, &out)
	if err != nil {
		return nil, fmt.Errorf("create session of runner %s: %w", c.Name, err)
	}
	return &RemoteSession{remote: r, id: out.Session}, nil
}

// Session returns the session of an id, for another process of the runner's.
func (r *Remote) Session(id string) *RemoteSession { return &RemoteSession{remote: r, id: id} }

// ID names the session and is its credential.
func (s *RemoteSession) ID() string { return s.id }

// RemoteSession is a Session behind HTTP.
type RemoteSession struct {
	remote *Remote
	id     string
}

// Next is Session.Next.
func (s *RemoteSession) Next(ctx context.Context, seen int64) (Message, error) {
	var m Message
	err := s.remote.call(ctx, http.MethodGet, "/message?seen="+strconv.FormatInt(seen, 10), s.id, nil, &m)
	if err != nil {
		return Message{}, fmt.Errorf("get message: %w", err)
	}
	return m, nil
}

// Acquire is Session.Acquire.
func (s *RemoteSession) Acquire(ctx context.Context, jobID string) error {
	return s.post(ctx, "/acquire", wireAcquire{Job: jobID}, "acquire job "+jobID)
}

// Complete is Session.Complete.
func (s *RemoteSession) Complete(ctx context.Context, jobID string, c Conclusion) error {
	return s.post(ctx, "/complete", wireComplete{Job: jobID, Conclusion: c}, "complete job "+jobID)
}

// Annotate is Session.Annotate.
func (s *RemoteSession) Annotate(ctx context.Context, jobID, text string) error {
	return s.post(ctx, "/annotate", wireAnnotate{Job: jobID, Text: text}, "annotate job "+jobID)
}

// Upload is Session.Upload.
func (s *RemoteSession) Upload(ctx context.Context, log string) error {
	return s.post(ctx, "/logs", log, "send log")
}

// Close is Session.Close.
func (s *RemoteSession) Close(ctx context.Context) error {
	if err := s.remote.call(ctx, http.MethodDelete, "/session", s.id, nil, nil); err != nil {
		return fmt.Errorf("delete session: %w", err)
	}
	return nil
}

// post makes a call of the session that answers nothing; what is for its error.
func (s *RemoteSession) post(ctx context.Context, path string, in any, what string) error {
	if err := s.remote.call(ctx, http.MethodPost, path, s.id, in, nil); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// call makes one request. in and out may be nil.
func (r *Remote) call(ctx context.Context, method, path, credential string, in, out any) error {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, body)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	if credential != "" {
		req.Header.Set("Authorization", "Bearer "+credential)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%w: read answer: %w", ErrNoAnswer, err)
	}
	if resp.StatusCode >= 300 {
		return refusal(resp.StatusCode, raw)
	}
	if out == nil || len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("%w: answer is not JSON", githubapi.ErrUnavailable)
	}
	return nil
}

// remoteError is a refusal of the hub with its own words.
type remoteError struct {
	kind    error
	message string
}

func (e *remoteError) Error() string { return e.message }
func (e *remoteError) Unwrap() error { return e.kind }

// refusal turns an answer back into the error it stands for. One that no hub wrote, such as a
// proxy's, counts as unavailable.
func refusal(status int, raw []byte) error {
	var body wireError
	if err := json.Unmarshal(raw, &body); err == nil {
		if body.Trouble != nil {
			return body.Trouble
		}
		for _, e := range wireErrors {
			if e.code == body.Code {
				return &remoteError{kind: e.err, message: body.Message}
			}
		}
	}
	return fmt.Errorf("%w: status %d", githubapi.ErrUnavailable, status)
}
