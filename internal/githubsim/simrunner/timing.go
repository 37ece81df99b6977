//go:build unix

package simrunner

import (
	"context"
	"math/rand/v2"
	"time"
)

// Span is a range of pauses, of which one is drawn each time.
type Span struct{ Least, Most time.Duration }

// Timing is how long the program waits.
type Timing struct {
	Boot   time.Duration // from its start to its first word
	Start  time.Duration // from that of a worker to its first step
	Finish time.Duration // from the last step to the worker's end

	SessionRetry  time.Duration // between tries to create a session
	ConflictLimit time.Duration // of tries while another session exists
	Resend        time.Duration // before a request that met a 503 or a lost connection is sent again
	Repeat        Span          // before one that failed for good is made again
	Poll          Span          // between the first waits for a message that failed
	LongPoll      Span          // and between later ones
	Interrupt     time.Duration // from a step's SIGINT to its SIGTERM
	Terminate     time.Duration // from there to the end of all its processes
	Post          time.Duration // from a job's cancellation to the end of its worker

	Draw func() float64 `json:"-"` // share of a range, for each pause that is drawn
}

// RealTiming returns the real program's times: src/Runner.Listener/BrokerMessageListener.cs
// (_sessionCreationRetryInterval, _sessionConflictRetryLimit, GetNextMessageAsync), src/Sdk/Common/Common/
// VssHttpRetryOptions.cs, src/Runner.Common/RunnerService.cs (RetryRequest), src/Runner.Sdk/ProcessInvoker.cs
// (_sigintTimeout, _sigtermTimeout), src/Runner.Listener/JobDispatcher.cs (a job that is shut down has 60 s,
// EnsureDispatchFinished, of which Cancel leaves 45 to the worker). Boot, Start and Finish are as measured with
// version 2.336.0 on an idle machine.
func RealTiming() Timing {
	return Timing{
		Boot: 450 * time.Millisecond, Start: time.Second, Finish: 1150 * time.Millisecond,
		SessionRetry: 30 * time.Second, ConflictLimit: 4 * time.Minute,
		Resend: 10 * time.Second, Repeat: Span{5 * time.Second, 15 * time.Second},
		Poll: Span{15 * time.Second, 30 * time.Second}, LongPoll: Span{30 * time.Second, time.Minute},
		Interrupt: 7500 * time.Millisecond, Terminate: 2500 * time.Millisecond,
		Post: 45 * time.Second, Draw: rand.Float64,
	}
}

// brisk are the times without those in which the real program works and does not wait: nobody is to wait for
// those of a simulated one.
func (t Timing) brisk() Timing {
	t.Boot, t.Start, t.Finish = 0, 0, 0
	return t
}

// How often a request is sent again within one try (VssHttpRetryOptions.cs: MaxRetries, of the token service;
// src/Sdk/WebApi/WebApi/RawClientHttpRequestSettings.cs), how many tries it has (RunnerService.cs), how many
// waits for a message may fail, and how many of those are repeated soon (BrokerMessageListener.cs).
const (
	tokenResends = 4
	resends      = 3
	tries        = 5
	badPolls     = 10
	soonPolls    = 5
)

// in draws a pause.
func (t Timing) in(s Span) time.Duration {
	return s.Least + time.Duration(t.Draw()*float64(s.Most-s.Least))
}

// resend is the pause before a request is sent for the nth time again (src/Sdk/Common/Common/
// BackoffTimerHelper.cs, GetExponentialBackoff: a step of a tenth, doubled each time, give or take a fifth).
func (t Timing) resend(n int) time.Duration {
	step := float64(t.Resend) / 10 * float64(int(1)<<n-1)
	return t.Resend + time.Duration(step*(0.8+0.4*t.Draw()))
}

func (p *Program) sleep(ctx context.Context, d time.Duration) error {
	t := p.Clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
