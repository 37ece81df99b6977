//go:build unix

package simrunner

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// send makes a call, and sends it again while its service is away for a moment (src/Sdk/Common/Common/
// VssHttpRetryMessageHandler.cs). Nothing is said meanwhile.
func (p *Program) send(ctx context.Context, call func() error) error {
	for n := 1; ; n++ {
		err := call()
		most := resends
		if s := serviceOf(err); s != nil && s.Service == githubsim.OAuth {
			most = tokenResends
		}
		if n > most || !passing(err) || ctx.Err() != nil {
			return err
		}
		if err := p.sleep(ctx, p.Timing.resend(n)); err != nil {
			return err
		}
	}
}

// request is send, tried again after a pause whatever stood in the way, unless that was an answer
// (src/Runner.Common/RunnerService.cs, RetryRequest).
func (p *Program) request(ctx context.Context, call func() error) error {
	for n := 1; ; n++ {
		err := p.send(ctx, call)
		if n == tries || !errors.Is(err, githubapi.ErrUnavailable) || ctx.Err() != nil {
			return err
		}
		if err := p.sleep(ctx, p.Timing.in(p.Timing.Repeat)); err != nil {
			return err
		}
	}
}

func serviceOf(err error) *githubsim.ServiceError {
	s, _ := errors.AsType[*githubsim.ServiceError](err)
	return s
}

// passing reports whether a call is worth sending again at once: after a 503 (the hub's, if no service says
// so) or a connection that was lost. The token service's 500 counts, too.
func passing(err error) bool {
	if s := serviceOf(err); s != nil {
		return s.Trouble == githubsim.Answer503 || s.Service == githubsim.OAuth && s.Trouble == githubsim.Answer500
	}
	return errors.Is(err, githubapi.ErrUnavailable) && !timedOut(err) && !errors.Is(err, syscall.ECONNREFUSED)
}

func timedOut(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// explain is what the program says of a call that failed. The sentences about an answer are its own, the
// others .NET's; see agent/actionsrunner/output.go.
func explain(err error, host, answered string) string {
	status := http.StatusServiceUnavailable
	switch s := serviceOf(err); {
	case s != nil && s.Trouble == githubsim.Refuse, errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("Connection refused (%s)", host)
	case s != nil:
		status = s.Trouble.Status()
	case errors.Is(err, githubsim.ErrSessionConflict):
		return "Error: Conflict"
	case timedOut(err):
		return "The HTTP request timed out after 00:01:40."
	case errors.Is(err, githubsim.ErrNoAnswer):
		return "An error occurred while sending the request."
	case !errors.Is(err, githubapi.ErrUnavailable):
		return err.Error()
	}
	text := http.StatusText(status)
	return strings.NewReplacer("{STATUS}", strings.ReplaceAll(text, " ", ""), "{ERROR}", "Error: "+text).Replace(answered)
}
