package reconciler

import (
	"errors"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/timeline"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Telemetry is told what a controller does. Each may be nil.
type Telemetry struct {
	Queues   workqueue.MetricsProvider // by the queues' names
	Recorder Recorder
	Tracer   Tracer
}

// Recorder is told what a controller does, to count it. Many goroutines call its methods at once, some of them with locks
// held: a method neither blocks nor calls the Operator. What it is given, it does not change.
type Recorder interface {
	// Transitioned is told that event turned was into is; was is zero if the instance had no record.
	Transitioned(was, is store.Instance, event statemachine.Event)
	// Answered is told of a request that has become Ready or Failed. Its class is the client's word, configured or not.
	Answered(class string, status store.RunStatus)
	// Phase is told how long one phase took of the start of a seat that was handed over.
	Phase(class string, phase timeline.Name, took time.Duration)
	// Launched is told of a launch with an outcome, how many of its Count machines came, and what was refused.
	Launched(l store.Launch, came int, refused []fleet.Refusal)
	// Orphaned is told that something without an owner was ended: OrphanMachine or OrphanRunner.
	Orphaned(kind string)
}

// What may be without an owner.
const (
	OrphanMachine = "machine"
	OrphanRunner  = "runner"
)

// FailReasons lists the reasons of a request that failed.
func FailReasons() []string {
	return []string{ReasonSpec, ReasonTimeout, ReasonVanished, ReasonUnsatisfiable, ReasonRefused, ReasonCapacity, ReasonLaunchBudget, ReasonHost, ReasonBudget}
}

// noRecorder counts nothing.
type noRecorder struct{}

func (noRecorder) Transitioned(_, _ store.Instance, _ statemachine.Event) {}
func (noRecorder) Answered(string, store.RunStatus)                       {}
func (noRecorder) Phase(string, timeline.Name, time.Duration)             {}
func (noRecorder) Launched(_ store.Launch, _ int, _ []fleet.Refusal)      {}
func (noRecorder) Orphaned(string)                                        {}

// codeOf returns the fleet's own code for a refused call, if its cause has one as the errors of the AWS SDK do.
func codeOf(err error) string {
	if coded := (interface{ ErrorCode() string })(nil); errors.As(err, &coded) {
		return coded.ErrorCode()
	}
	return "refused"
}

// recordPhases tells the recorder of the phases of a seat that was handed over. Where the instant between two is not known,
// neither is how long they took. A handshake counts when it ends, no matter who waits for it.
func (h *seats) recordPhases(in store.Instance, now time.Time) {
	r, ok := h.cache.requests.getRun(in.RunID)
	if !ok || r.status == nil {
		return
	}
	st := *r.status
	st.History = r.noted.onto(st.History, st.PendingAt)
	for _, p := range timeline.Phases(st, in, now) {
		if p.Name.Known() && p.Name != timeline.Handshake && p.Outcome == timeline.Done {
			h.recorder.Phase(in.ResourceClass, p.Name, p.Duration())
		}
	}
}

// recordAnswer tells the recorder of a status that answers its request.
func (w *statuses) recordAnswer(event statemachine.RequestEvent, st store.RunStatus) {
	if event != statemachine.Fulfil && event != statemachine.Fail {
		return
	}
	class := ""
	if r, ok := w.cache.requests.getRun(st.ID); ok && r.request != nil {
		class = r.request.ResourceClass
	}
	w.recorder.Answered(class, st)
}
