package githubsim

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"time"
)

// MessageKind says what a message asks of a runner.
type MessageKind string

// The kinds.
const (
	MessageJob    MessageKind = "job"
	MessageCancel MessageKind = "cancel"
	MessageUpdate MessageKind = "update"
)

// Update asks a runner to replace itself.
type Update struct {
	Version string `json:"version"`
	URL     string `json:"url"` // of the package
}

// Message is one message of the service to a runner. Ids rise within a session.
type Message struct {
	ID   int64       `json:"id"`
	Kind MessageKind `json:"kind"`
	Job  Job         `json:"job"`

	Update Update `json:"update,omitzero"`
}

// session is the service's side of a Session.
type session struct {
	id      string
	runner  *runner
	woken   chan struct{} // holds one: there is something for the poll in progress
	seenAt  time.Time     // creation, then the end of the last poll
	polling int           // polls in progress
	lastID  int64
	seen    int64 // highest message the runner acknowledged
	jobMsg  int64 // the message that handed over the current job

	tokenUntil time.Time // when a poll needs another access token
	inbox      []Message
	over       error // why it ended; nil: open
}

func (s *session) push(kind MessageKind, j Job) {
	s.send(Message{Kind: kind, Job: j})
	if kind == MessageJob {
		s.jobMsg = s.lastID
	}
}

func (s *session) send(m Message) {
	s.lastID++
	m.ID = s.lastID
	s.inbox = append(s.inbox, m)
	s.wake()
}

func (s *session) wake() {
	select {
	case s.woken <- struct{}{}:
	default: // it is woken already
	}
}

// drop takes back what was not delivered about a job that is over.
func (s *session) drop(jobID string) {
	s.inbox = slices.DeleteFunc(s.inbox, func(m Message) bool { return m.Job.ID == jobID })
}

// pending returns the oldest message that was not acknowledged.
func (s *session) pending() Message {
	for len(s.inbox) > 0 && s.inbox[0].ID <= s.seen {
		s.inbox = s.inbox[1:]
	}
	if len(s.inbox) == 0 {
		return Message{}
	}
	return s.inbox[0]
}

// sessions are the open ones, and what the service does to all.
type sessions struct {
	open      map[string]*session
	conflicts int  // of sessions to come
	obsolete  bool // every runner version is deprecated
}

// wakeAll wakes every poll, so that it looks at what changed.
func (s *sessions) wakeAll() {
	for _, one := range s.open {
		one.wake()
	}
}

// Session is one connection of a runner. A runner is online while it has one whose creation or last
// poll is not older than Options.OnlineFor, a poll in progress counting as now.
type Session struct {
	hub *Hub
	id  string
}

// Connect opens a session: ErrRunnerGone for an unknown runner, ErrUnauthorized for a wrong secret,
// ErrSessionConflict while another session of it is open.
func (h *Hub) Connect(ctx context.Context, c Credentials) (*Session, error) {
	var id string
	err := h.do(ctx, CallConnect, func(now time.Time) error {
		r := h.registry.get(c.RunnerID)
		switch {
		case r == nil:
			return fmt.Errorf("runner %d: %w", c.RunnerID, ErrRunnerGone)
		case subtle.ConstantTimeCompare([]byte(r.secret), []byte(c.Secret)) != 1:
			return fmt.Errorf("runner %d: %w", c.RunnerID, ErrUnauthorized)
		case r.session != nil || h.sessions.conflicts > 0:
			h.sessions.conflicts = max(h.sessions.conflicts-1, 0)
			return fmt.Errorf("runner %d: %w", c.RunnerID, ErrSessionConflict)
		}
		s := &session{
			id:     fmt.Sprintf("%d.%s", r.ID, rand.Text()),
			runner: r, woken: make(chan struct{}, 1), seenAt: now, tokenUntil: now.Add(h.opts.AccessFor),
		}
		r.session, r.lastSeen, r.idleFrom = s, now, now
		h.sessions.open[s.id] = s
		h.monitor.dueBy(now.Add(h.opts.OnlineFor))
		id = s.id
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Session{hub: h, id: id}, nil
}

// Next waits up to Options.PollWait for a message. Passing the id of the last message acknowledges
// it and all before; one that was not acknowledged is delivered again. A zero Message means none
// came. ErrRunnerGone: the registration is gone; ErrSessionGone: the session is; ErrDeprecated: see
// SetDeprecated; *ServiceError: see SetTrouble.
func (s *Session) Next(ctx context.Context, seen int64) (Message, error) {
	for {
		if err := s.renewToken(ctx); err != nil {
			return Message{}, fmt.Errorf("github sim: %s: %w", CallPoll, err)
		}
		m, err := s.poll(ctx, seen)
		if hung := (*ServiceError)(nil); errors.As(err, &hung) && hung.Trouble == Hang {
			continue // is asked again, and answered once the trouble is over
		}
		return m, err
	}
}

// renewToken gets the session a new access token if its own is due.
func (s *Session) renewToken(ctx context.Context) error {
	h := s.hub
	var live *session
	h.dispatcher.view(func(now time.Time) {
		if open := h.sessions.open[s.id]; open != nil && !now.Before(open.tokenUntil) {
			live = open
		}
	})
	if live == nil {
		return nil
	}
	if err := h.admission.serve(ctx, OAuth); err != nil {
		return err
	}
	h.dispatcher.view(func(now time.Time) { live.tokenUntil = now.Add(h.opts.AccessFor) })
	return nil
}

func (s *Session) poll(ctx context.Context, seen int64) (Message, error) {
	h := s.hub
	var live *session // set once the poll has begun
	var deadline time.Time
	err := h.do(ctx, CallPoll, func(now time.Time) error {
		found, err := h.dispatcher.open(s.id)
		if err != nil {
			return err
		}
		if h.sessions.obsolete {
			return ErrDeprecated
		}
		live, deadline = found, now.Add(h.opts.PollWait)
		live.polling++
		live.seen = max(live.seen, seen)
		h.dispatcher.match(live.runner, now)
		return nil
	})
	if live != nil {
		defer s.endPoll(live)
	}
	if err != nil {
		return Message{}, err
	}
	for {
		var out Message
		var now, next time.Time
		var over error
		h.dispatcher.view(func(at time.Time) {
			now, next = at, h.dispatcher.hosted.next()
			out = live.pending()
			t, _ := h.admission.troubleOf(Broker, at)
			switch {
			case live.over != nil:
				over = live.over
			case t != NoTrouble:
				over = &ServiceError{Broker, t}
			case h.sessions.obsolete:
				over = ErrDeprecated
			}
		})
		switch {
		case over != nil:
			return Message{}, fmt.Errorf("github sim: %s: %w", CallPoll, over)
		case out.ID != 0 || !now.Before(deadline):
			return out, nil
		}
		if next.IsZero() || deadline.Before(next) {
			next = deadline // otherwise a job may be queued before, for this runner
		}
		if err := h.monitor.pause(ctx, live.woken, next, now); err != nil {
			return Message{}, err
		}
	}
}

func (s *Session) endPoll(live *session) {
	h := s.hub
	h.dispatcher.view(func(now time.Time) {
		live.polling--
		live.seenAt, live.runner.lastSeen = now, now
		h.monitor.dueBy(now.Add(h.opts.OnlineFor))
		h.monitor.broadcast()
	})
}

// Acquire tells that the runner takes the job that a message offered it. For any job that is not its own it is
// ErrNoJob.
func (s *Session) Acquire(ctx context.Context, jobID string) error {
	h := s.hub
	return h.do(ctx, CallAcquire, func(time.Time) error {
		_, err := h.dispatcher.running(s.id, jobID)
		return err
	})
}

// Complete reports the end of the session's current job. For any other job it is ErrNoJob. An
// ephemeral runner is removed with it, and the session ends.
func (s *Session) Complete(ctx context.Context, jobID string, c Conclusion) error {
	h := s.hub
	return h.do(ctx, CallComplete, func(now time.Time) error {
		switch c {
		case Success, Failure, Cancelled:
		default:
			return fmt.Errorf("conclusion %q: %w", c, ErrInvalid)
		}
		if h.dispatcher.finishEvicted(s.id, jobID, c, now) {
			return nil
		}
		j, err := h.dispatcher.running(s.id, jobID)
		if err != nil {
			return err
		}
		h.dispatcher.finish(j, c, "", now)
		return nil
	})
}

// Annotate keeps what a runner has to say of its session's current job: people see it on the job's page. The
// real program sends it with the job's end.
func (s *Session) Annotate(jobID, text string) error {
	h := s.hub
	var err error
	h.dispatcher.view(func(time.Time) {
		var j *job
		if j, err = h.dispatcher.running(s.id, jobID); err == nil {
			j.Annotation = text
		}
	})
	return err
}

// Close ends the session. A job that was handed over but not acknowledged goes back to the queue,
// any other fails. Closing twice is no error.
func (s *Session) Close() {
	h := s.hub
	h.dispatcher.view(func(now time.Time) {
		if live, err := h.dispatcher.open(s.id); err == nil {
			h.dispatcher.closeSession(live, ErrSessionGone, now)
			h.monitor.broadcast()
		}
	})
}
