package reconciler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// statuses writes what requests are answered.
type statuses struct {
	*tenure
	cache   *cache
	seats   *seats
	batch   *batch
	reasons *reasons
	tracer  Tracer // nil: none
}

// putStatus writes a status through.
func (w *statuses) putStatus(ctx context.Context, st store.RunStatus, event statemachine.RequestEvent, now time.Time) error {
	r, _ := w.cache.requests.getRun(st.ID)
	if event == statemachine.Accept {
		r.noted = nil // of an older attempt, or come meanwhile
	}
	st.History = r.noted.onto(st.History, st.PendingAt)
	end, landed := w.cache.counting.begin(w.clock.Now()), false
	defer func() { end(landed, w.clock.Now()) }()
	now = w.cache.counting.date(now)
	out, err := w.cache.store.PutStatus(ctx, st, event, now)
	landed = err == nil || errors.Is(err, store.ErrInvalid)
	if errors.Is(err, store.ErrInvalid) && st.Phase == statemachine.Pending && event != statemachine.Fail {
		return w.refuseStatus(ctx, st, err, now)
	}
	if err != nil {
		w.cache.requests.changed(st.ID, now)
		return fmt.Errorf("request %s: %w", st.ID, err)
	}
	w.cache.requests.applyRun(st.ID, store.RunRecords{Status: &out}, now)
	w.cache.requests.withRun(st.ID, func(cur *run) { cur.noted = cur.noted.without(r.noted) })
	if event == statemachine.Observe {
		return nil
	}
	w.recordAnswer(event, out)
	w.trace(out, event)
	w.log.Info("request changed phase", logkey.RequestID, st.ID, logkey.Attempt, st.Attempt, logkey.Event, event,
		logkey.Phase, out.Phase, logkey.Reason, out.Reason, logkey.Detail, out.Message)
	return nil
}

// refuseStatus answers a request whose status no store takes, being too large say: a client that never learns of its
// machines waits for them, and they for it.
func (w *statuses) refuseStatus(ctx context.Context, st store.RunStatus, cause error, now time.Time) error {
	st.Instances, st.Reason, st.Message = nil, ReasonSpec, "count: the answer cannot be written: "+cause.Error()
	return w.putStatus(ctx, st, statemachine.Fail, now)
}

// noteWatch writes down what the controller knows of a request's run, and did to it: a change of what is known by now.
func (w *statuses) noteWatch(ctx context.Context, id store.RequestID, change func(*store.Watch)) error {
	r, ok := w.cache.requests.getRun(id)
	if !ok || r.status == nil {
		return nil
	}
	watch := r.status.Watch
	if change(&watch); r.status.Watch == watch {
		return nil
	}
	now := w.clock.Now()
	out, err := w.cache.store.NoteWatch(ctx, *r.status, watch, now)
	if err != nil {
		w.cache.requests.changed(id, now)
		w.queues.requests.Add(id) // which reads it again
		return fmt.Errorf("request %s: %w", id, err)
	}
	w.cache.requests.applyRun(id, store.RunRecords{Status: &out}, now)
	return nil
}

// releaseReasons are those of requests that the controller gave back, and what they mean.
var releaseReasons = map[store.ReleaseReason]struct{ reason, message string }{
	store.RunOver:  {ReasonRunOver, "its run at GitHub is over"},
	store.RunStuck: {ReasonRunStuck, "no runner takes the queued jobs of the run; the controller asks for runners again when a job with the request's label is queued"},
	store.RunWaits: {ReasonRunWaits, "its run at GitHub waits for an approval; runners are asked for again when a job queues"},
}

// finishRequest writes Released once nothing is held and no launch is open, or is just being written.
func (w *statuses) finishRequest(ctx context.Context, r run, held int, reason string, res Result) (Result, error) {
	w.cache.capacity.unwait(r.id)
	writing := w.batch.writing(r.id, 0) // first: once written, they are among the open
	if _, open := w.cache.launches.openFor(r.id, 0); held > 0 || open || writing > 0 {
		return res, nil // each of them wakes this key when it changes
	}
	if r.status.Phase == statemachine.PhaseReleased {
		return w.expireRequest(ctx, r)
	}
	st := *r.status
	st.Reason = reason
	if aboutSeat(st.Message, "") {
		st.Message = "" // it has gone back
	}
	if reason == ReasonReleased {
		st.Message = ""
		if r.request != nil {
			why := releaseReasons[r.request.ReleaseReason]
			st.Reason, st.Message = cmp.Or(why.reason, reason), why.message
		}
	}
	w.cache.index.forgetLooks(r)
	now := w.clock.Now()
	st.Spent = w.cache.spent(st, now)
	return Result{}.sooner(time.Millisecond), w.putStatus(ctx, st, statemachine.Finish, now)
}

// expireRequest lets the records of a request that is over go, after a day.
func (w *statuses) expireRequest(ctx context.Context, r run) (Result, error) {
	w.cache.capacity.unwait(r.id)
	w.cache.index.forgetLooks(r)
	if _, open := w.cache.launches.openFor(r.id, 0); open {
		return Result{}, nil
	}
	now := w.clock.Now()
	at := now.Add(recordLife)
	if r.request != nil && r.workflow().Run != 0 {
		at = now.Add(max(recordLife, w.cfg.Watch.Remember))
	}
	if r.request != nil && r.request.ExpiresAt.IsZero() {
		out, err := w.cache.store.ExpireRequest(ctx, *r.request, at)
		if err != nil {
			w.cache.requests.changed(r.id, now)
			return Result{}, fmt.Errorf("request %s: %w", r.id, err)
		}
		w.cache.requests.withRun(r.id, func(r *run) {
			if r.request != nil { // a refused request is not kept in memory
				r.request = &out
			}
		})
	}
	if !r.status.ExpiresAt.IsZero() {
		return Result{}, nil
	}
	out, err := w.cache.store.ExpireStatus(ctx, *r.status, at, now)
	if err != nil {
		w.cache.requests.changed(r.id, now)
		return Result{}, fmt.Errorf("request %s: %w", r.id, err)
	}
	w.cache.requests.applyRun(r.id, store.RunRecords{Status: &out}, now)
	return Result{}, nil
}

// failRequest answers a pending request with no.
func (w *statuses) failRequest(ctx context.Context, r run, reason, message string) (Result, error) {
	w.cache.capacity.unwait(r.id)
	st := *r.status
	st.Reason, st.Message = reason, message
	st.Counts = w.seats.counts(r)
	if err := w.putStatus(ctx, st, statemachine.Fail, w.clock.Now()); err != nil {
		return Result{}, err
	}
	return Result{}.sooner(time.Millisecond), nil
}

// waitsForGitHub says what keeps a runner of the request from GitHub, in the words of its agent; "" if
// nothing does. Nothing was lost by it, so it is no problem of the run's yet.
func (w *statuses) waitsForGitHub(id store.RequestID) string {
	for _, s := range w.cache.instances.heldBy(id) {
		if why := seatWaits(s); why != "" {
			return why
		}
	}
	return ""
}

// seatWaits is waitsForGitHub of one instance, with its name.
func seatWaits(s snapshot) string {
	why := waitsForGitHub(s)
	if why == "" {
		return ""
	}
	return fmt.Sprintf("instance %s: %s", s.ID, why)
}

// offlineOf says what keeps a runner of a request that is Ready from GitHub, of these seats: what its status says of one of
// them already, however that goes on, or "".
func offlineOf(r run, seats []snapshot) string {
	first := ""
	for _, s := range seats {
		why := seatWaits(s)
		if why != "" && aboutSeat(r.status.Message, s.ID) {
			return r.status.Message
		}
		first = cmp.Or(first, why)
	}
	return first
}

// aboutSeat reports whether a message is what seatWaits says of an instance; of any, if id is "".
func aboutSeat(message string, id store.InstanceID) bool {
	rest, is := strings.CutPrefix(message, "instance ")
	name, _, _ := strings.Cut(rest, ": ")
	return is && (id == "" || name == string(id))
}

// recordOffline says what keeps a runner of a request from GitHub whose seats all run, and takes that back when
// nothing does: a listener may be refused just after its machine was handed over, and nothing else says so.
func (w *statuses) recordOffline(ctx context.Context, r run, why string) error {
	if why == r.status.Message {
		return nil
	}
	if why != "" {
		w.log.Warn("a runner of a request that is Ready is not online", logkey.RequestID, r.id, logkey.Detail, why)
	}
	return w.recordWhy(ctx, r, why)
}

// recordEmptySeat says why a seat of a request that is Ready stays empty: its workflow goes on meanwhile, and nothing
// else would say so.
func (w *statuses) recordEmptySeat(ctx context.Context, r run, why string) error {
	if said := r.status.Message; said == why || said != "" && !aboutSeat(said, "") {
		return nil // said already, or what weighs more
	}
	if why != "" {
		w.log.Warn("a lost seat stays empty", logkey.RequestID, r.id, logkey.Detail, why)
	}
	return w.recordWhy(ctx, r, why)
}

// recordWhy writes why a request that is Ready is not served as it was; "" takes that back.
func (w *statuses) recordWhy(ctx context.Context, r run, why string) error {
	st := *r.status
	st.Counts, st.Message = w.seats.counts(r), why
	return w.putStatus(ctx, st, statemachine.Observe, w.clock.Now())
}

// progress writes the counts of a request that takes longer than a warm start, and what it waits for.
func (w *statuses) progress(ctx context.Context, id store.RequestID) error {
	r, ok := w.cache.requests.getRun(id)
	if !ok || r.request == nil || r.status.Phase != statemachine.Pending {
		return nil
	}
	now := w.clock.Now()
	st := *r.status
	st.Counts = w.seats.counts(r)
	is := w.reasons.of(r, now)
	in, due := w.reasons.due(r, is, st.Counts, now)
	if !due {
		return nil
	}
	if in > 0 {
		w.queues.requests.AddAfter(r.id, in)
		return nil
	}
	if is.reason != st.Reason {
		st.ReasonSince = store.At(now)
		w.cache.note(id, store.CodeWaits, "%s", is.reason)
	}
	if !is.since.IsZero() && (is.reason != st.Reason || is.record) {
		st.ReasonSince = store.At(is.start(&st))
	}
	st.Reason, st.Message = is.reason, is.message()
	w.cache.requests.withRun(r.id, func(r *run) { r.progressAt = now })
	return w.putStatus(ctx, st, statemachine.Observe, now)
}
