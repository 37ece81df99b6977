package audit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// S01 S05 S06 S12 S19 S21 H03 H51
var brokenFields = []broken{
	{"State", func(s *audit.Snapshot) { instance(s, "i-gone").State = "stopped" }, 9, "instance i-gone", `state "stopped"`},
	{"NoThreshold", func(s *audit.Snapshot) { s.FleetRead = false; instance(s, "i-created").Threshold = store.Time{} }, 9, "instance i-created", "has no threshold"},
	{"TerminatedThreshold", func(s *audit.Snapshot) { instance(s, "i-dead").Threshold = in(time.Minute) }, 9, "instance i-dead", "is terminated and has threshold"},
	{"ThresholdTooFar", func(s *audit.Snapshot) { instance(s, "i-pooled").Threshold = in(7 * time.Minute) }, 9, "instance i-pooled", "threshold 8m0s after its last change; at most 7m0s"},
	{"RunningTooLong", func(s *audit.Snapshot) { instance(s, "i-running").Threshold = in(26 * time.Minute) }, 9, "instance i-running", "at most 30m0s"},
	{"IdleAttempt", func(s *audit.Snapshot) { instance(s, "i-pooled").Attempt = 1 }, 9, "instance i-pooled", "is idle and has attempt 1"},
	{"OwnedNoAttempt", func(s *audit.Snapshot) { instance(s, "i-created").Attempt = 0 }, 9, "instance i-created", "has attempt 0"},
	{"IdleOwned", func(s *audit.Snapshot) { instance(s, "i-pooled").RunID = "ready" }, 9, "instance i-pooled", "is idle and has runId ready"},
	{"PooledAtWhileRunning", func(s *audit.Snapshot) { instance(s, "i-next").PooledAt = ago(time.Minute) }, 9, "instance i-next", "has pooledAt"},
	{"PooledBeforeIdle", func(s *audit.Snapshot) { instance(s, "i-pooled").PooledAt = ago(2 * time.Minute) }, 9, "instance i-pooled", "before since"},
	{"NoAssignment", func(s *audit.Snapshot) { i := instance(s, "i-gone"); i.Assignment = 0 }, 9, "instance i-gone", "has assignment 0"},
	{"SinceAfterChange", func(s *audit.Snapshot) { instance(s, "i-claimed").Since = ago(3 * time.Second) }, 9, "instance i-claimed", "has since"},
	{"LiveExpires", func(s *audit.Snapshot) { instance(s, "i-pooled").ExpiresAt = now.Add(time.Hour) }, 9, "instance i-pooled", "its record expires"},
	{"RegistrationToCome", func(s *audit.Snapshot) { instance(s, "i-returning").Registration.Assignment = 3 }, 9, "instance i-returning", "registration of assignment 3"},
	{"NameOfAnother", func(s *audit.Snapshot) {
		i := instance(s, "i-returning")
		i.Registration.Name = runnerOf("i-next", 1)
	}, 9, "instance i-returning", "name of another"},
	{"Phase", func(s *audit.Snapshot) { records(s, "released").Status.Phase = "Lost" }, 9, "request released", `phase "Lost"`},
	{"NoPendingAt", func(s *audit.Snapshot) { records(s, "pending").Status.PendingAt = store.Time{} }, 9, "request pending", "no pendingAt"},
	{"NoFailedAt", func(s *audit.Snapshot) { records(s, "failed").Status.FailedAt = store.Time{} }, 9, "request failed", "no failedAt"},
	{"NoReleasedAt", func(s *audit.Snapshot) { records(s, "released").Status.ReleasedAt = store.Time{} }, 9, "request released", "no releasedAt"},
	{"PendingExpires", func(s *audit.Snapshot) { records(s, "pending").Status.ExpiresAt = now.Add(time.Hour) }, 9, "request pending", "expires"},
}

// H43, G13, H70, H55, invariant 6
var brokenRest = []broken{
	{"SecretOfIdle", func(s *audit.Snapshot) { instance(s, "i-returning").Registration.Secret = "jit" }, 10, "instance i-returning", "is idle and keeps the secret"},
	{"SecretOfDead", func(s *audit.Snapshot) {
		*instance(s, "i-gone") = registered(*instance(s, "i-gone"), 1, "jit", time.Hour)
	}, 10, "instance i-gone", "is terminated and keeps the secret"},
	{"SecretOfEarlierAssignment", func(s *audit.Snapshot) { instance(s, "i-claimed").Registration.Assignment = 2; s.Runners = nil }, 10, "instance i-claimed", "keeps the secret of assignment 2"},
	{"SecretShared", func(s *audit.Snapshot) { instance(s, "i-claimed").Registration.Secret = "jit-next" }, 10, "instance i-next", "same secret as instance i-claimed"},
	{"SecretUsed", func(s *audit.Snapshot) { instance(s, "i-running").Registration.Secret = "jit" }, 10, "instance i-running", "was used 5m0s ago"},
	{"NoReason", func(s *audit.Snapshot) { instance(s, "i-gone").Reason = "" }, 6, "instance i-gone", "no reason is recorded"},
	{"BusyDismissed", func(s *audit.Snapshot) {
		i := instance(s, "i-gone")
		i.Reason, i.Heartbeat.Beat.Busy = statemachine.ReasonDismissed, true
	}, 6, "instance i-gone", "while it ran a job"},
	{"BusyGate", func(s *audit.Snapshot) {
		i := instance(s, "i-gone")
		i.Reason, i.Heartbeat.Beat.Busy = statemachine.ReasonGate, true
	}, 6, "instance i-gone", "while it ran a job"},
	{"LeaseExpired", func(s *audit.Snapshot) { s.Lease.Renewed = ago(10 * time.Second) }, 11, "lease", "one has not renewed the lease for 10s"},
	{"LeaseGivenUp", func(s *audit.Snapshot) { s.Lease.Holder, s.Lease.Renewed = "", ago(10*time.Second) }, 11, "lease", "was given up 10s ago"},
	{"NeverLed", func(s *audit.Snapshot) { s.Lease = store.Lease{} }, 11, "lease", "no controller ever led"},
	{"Bad", func(s *audit.Snapshot) {
		k := store.RequestKey("9", store.KindRunStatus)
		s.Bad = []audit.BadRecord{{Key: k, Cause: k.Partition + " " + k.Sort + ": phase"}}
	}, 12, "record RUN#9 TYPE#RunStatus", "phase"},
	{"BadInstance", func(s *audit.Snapshot) {
		m := machine(s, "i-fresh")
		m.LaunchToken, m.LaunchedAt = "", now.Add(-time.Hour)
		s.Bad = []audit.BadRecord{{Key: store.InstanceKey("i-fresh", store.KindInstance), Cause: "state"}}
	}, 12, "record INSTANCE#i-fresh TYPE#Instance", "state"},
	{"Missing", func(s *audit.Snapshot) {
		s.Missing = []audit.Resource{{Name: "queue remuda-small", Detail: "does not exist"}}
	}, 15, "queue remuda-small", "does not exist"},
}

// G11: any single field that contradicts the state of any record is reported, whatever else it leads to.
func TestCheck_AnyFieldOfAnyInstance_Reported(t *testing.T) {
	faults := map[string]func(*audit.Instance) bool{ // false: no fault in this state
		"state none":  func(i *audit.Instance) bool { i.State = statemachine.None; return true },
		"other owner": func(i *audit.Instance) bool { i.RunID = "nobody"; return true },
		"owner lost":  func(i *audit.Instance) bool { had := i.RunID != ""; i.RunID = ""; return had },
		"idle": func(i *audit.Instance) bool {
			was := i.State
			i.State = statemachine.Idle
			return was != statemachine.Idle
		},
		"owned": func(i *audit.Instance) bool { was := i.State; i.State = statemachine.Claimed; return !was.Owned() },
		"terminated": func(i *audit.Instance) bool {
			was := i.State
			i.State = statemachine.Terminated
			return was != statemachine.Terminated
		},
		"attempt":        func(i *audit.Instance) bool { i.Attempt += 7; return true },
		"assignment":     func(i *audit.Instance) bool { i.Assignment = -1; return true },
		"since":          func(i *audit.Instance) bool { i.Since = store.Time{}; return true },
		"threshold far":  func(i *audit.Instance) bool { i.Threshold = in(48 * time.Hour); return true },
		"threshold past": func(i *audit.Instance) bool { i.Threshold = ago(time.Hour); return true },
		"no threshold":   func(i *audit.Instance) bool { had := !i.Threshold.IsZero(); i.Threshold = store.Time{}; return had },
		"pooled":         func(i *audit.Instance) bool { i.PooledAt = ago(24 * time.Hour); return true },
		"expiry": func(i *audit.Instance) bool {
			i.ExpiresAt = now.Add(time.Hour)
			return i.State != statemachine.Terminated
		},
		"secret": func(i *audit.Instance) bool {
			i.Registration.Secret, i.Registration.Assignment = "s", i.Assignment-1
			return true
		},
		"registration": func(i *audit.Instance) bool { i.Registration.Serial, i.Registration.Name = 1, "another-1"; return true },
		"no reason":    func(i *audit.Instance) bool { i.Reason = ""; return i.State == statemachine.Terminated },
	}
	for name, fault := range faults {
		for n := range healthy().Instances {
			s := healthy()
			i := &s.Instances[n]
			if !fault(i) {
				continue
			}
			found := audit.Check(s, options())
			if len(found) == 0 {
				t.Errorf("%s of %s: no violation", name, i.ID)
			}
			for _, v := range found {
				if want := fmt.Sprint("instance ", i.ID); v.Resource != want && v.Resource != "machine "+string(i.ID) && v.Resource != "runner "+i.Registration.Name {
					t.Errorf("%s of %s: blames %s: %s", name, i.ID, v.Resource, v.Problem)
				}
			}
		}
	}
}
