package store

import "github.com/remuda-run/remuda/statemachine"

// KeptLimits are those that an instance and its agent were launched with. A limit that is lowered afterwards does not judge them.
type KeptLimits struct {
	ClaimGate      Seconds `json:"claimGate"` // of its last claim
	CreateGate     Seconds `json:"createGate"`
	Handshake      Seconds `json:"handshake"`
	Beat           Seconds `json:"beat"`
	Silence        Seconds `json:"silence"`
	RunningSilence Seconds `json:"runningSilence"`
}

// Kept returns what an instance that is launched under l keeps of that.
func Kept(l statemachine.Limits) KeptLimits {
	return KeptLimits{
		ClaimGate: SecondsOf(l.ClaimGate), CreateGate: SecondsOf(l.CreateGate), Handshake: SecondsOf(l.Handshake),
		Beat: SecondsOf(l.Beat), Silence: SecondsOf(l.Silence), RunningSilence: SecondsOf(l.RunningSilence),
	}
}

// Over returns the limits by which an instance is judged where l is configured: none is shorter than the instance keeps. A record of
// an earlier version keeps none.
func (k KeptLimits) Over(l statemachine.Limits) statemachine.Limits {
	l.ClaimGate = max(l.ClaimGate, k.ClaimGate.Duration())
	l.CreateGate = max(l.CreateGate, k.CreateGate.Duration())
	l.Handshake = max(l.Handshake, k.Handshake.Duration())
	l.Beat = max(l.Beat, k.Beat.Duration())
	l.Silence = max(l.Silence, k.Silence.Duration())
	l.RunningSilence = max(l.RunningSilence, k.RunningSilence.Duration())
	return l
}
