package githubsim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// ControlClient speaks to the control API of a simulated GitHub in another process.
type ControlClient struct {
	Root  string // of the simulated GitHub, such as http://127.0.0.1:8080
	Token string
}

// Call makes one request, such as GET /jobs, with in as its body and decodes the answer into out. Without
// out there must be none.
func (c ControlClient) Call(ctx context.Context, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.Root+"/_sim"+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("simulated github: %w", err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("simulated github: %s %s: %w", method, path, err)
	}
	if resp.StatusCode >= 300 || out == nil && resp.StatusCode != http.StatusNoContent {
		return fmt.Errorf("simulated github: %s %s: %s: %s", method, path, resp.Status, strings.TrimSpace(string(answer)))
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("simulated github: %s %s: %w", method, path, err)
	}
	return nil
}

// SetTrouble is Hub.SetTrouble.
func (c ControlClient) SetTrouble(ctx context.Context, s Service, t Trouble, d time.Duration) error {
	return c.Call(ctx, http.MethodPut, "/services/"+string(s), wireTrouble{t, d.Seconds()}, nil)
}
