package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/reference"
)

// githubSecret is what github.secret names: an access token as it is, or an App as `remuda init github-app` stores it.
type githubSecret struct {
	AppID          int64  `json:"appId"`
	InstallationID int64  `json:"installationId,omitempty"` // 0: found by the owner
	Key            string `json:"key"`                      // PEM

	token string
}

// parseGitHubSecret reads it. No error quotes what it reads.
func parseGitHubSecret(text []byte) (s githubSecret, _ error) {
	text = bytes.TrimSpace(text)
	if !bytes.HasPrefix(text, []byte("{")) {
		s.token = string(text)
		if err := githubapi.CheckToken(s.token); err != nil {
			return s, fmt.Errorf("must be one access token, or {\"appId\": …, \"key\": …} of an App: %w", err)
		}
		return s, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil || d.More() {
		return githubSecret{}, errors.New("must be JSON with appId, key and, unless it is to be found, installationId")
	}
	if s.AppID < 1 || s.InstallationID < 0 || s.Key == "" {
		return githubSecret{}, errors.New("appId must be at least 1, installationId at least 0, and key be there")
	}
	return s, nil
}

// errOtherKind says that a token took the place of an App, or the other way round, which a client is made for.
var errOtherKind = errors.New("github.secret has changed its kind of credential: restart the controller")

// secretCredential gives o the credential that github.secret names, which is looked at once, so that a wrong one is an error
// at the start, and read anew as it is used.
func secretCredential(ctx context.Context, a *app, c config.GitHub, o *githubapi.Options) error {
	kept := &reference.Kept{Reader: a.references, Text: c.Secret, Clock: a.clock}
	read := func(ctx context.Context) (githubSecret, error) {
		text, err := kept.Get(ctx)
		if errors.Is(err, reference.ErrEmpty) {
			err = fmt.Errorf("%w: `remuda init github-app` stores the credentials of an App in it", err)
		}
		if err != nil {
			return githubSecret{}, fmt.Errorf("read github.secret: %w", err)
		}
		s, err := parseGitHubSecret(text)
		if err != nil {
			return s, fmt.Errorf("github.secret %s: %w", c.Secret, err)
		}
		return s, nil
	}
	first, err := read(ctx)
	if err != nil {
		return err
	}
	if first.token != "" {
		o.Token = func(ctx context.Context) (string, error) {
			s, err := read(ctx)
			if err == nil && s.token == "" {
				err = errOtherKind
			}
			return s.token, err
		}
		return nil
	}
	if err := githubapi.CheckKey([]byte(first.Key)); err != nil {
		return fmt.Errorf("github.secret %s: %w", c.Secret, err)
	}
	o.App = &githubapi.App{ID: first.AppID, InstallationID: first.InstallationID, Key: func(ctx context.Context) ([]byte, error) {
		s, err := read(ctx)
		if err == nil && s.AppID != first.AppID {
			err = errOtherKind
		}
		return []byte(s.Key), err
	}}
	return nil
}
