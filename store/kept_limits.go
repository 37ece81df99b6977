package store

import "github.com/remuda-run/remuda/statemachine"

// KeptLimits are the limits that an instance and its agent started with. They protect the instance from limits that are lowered later.
type KeptLimits struct {
	ClaimGate      Seconds `json:"claimGate"` // of the last claim
	CreateGate     Seconds `json:"createGate"`
	Handshake      Seconds `json:"handshake"`
	Beat           Seconds `json:"beat"`
	Silence        Seconds `json:"silence"`
	RunningSilence Seconds `json:"runningSilence"`
}

// Kept returns the limits that an instance launched under l keeps.
func Kept(l statemachine.Limits) KeptLimits {
	return KeptLimits{
		ClaimGate: SecondsOf(l.ClaimGate), CreateGate: SecondsOf(l.CreateGate), Handshake: SecondsOf(l.Handshake),
		Beat: SecondsOf(l.Beat), Silence: SecondsOf(l.Silence), RunningSilence: SecondsOf(l.RunningSilence),
	}
}

// Over returns the limits that apply to the instance if l is configured: the longer of both. Records of earlier versions have no kept
// limits.
func (k KeptLimits) Over(l statemachine.Limits) statemachine.Limits {
	l.ClaimGate = max(l.ClaimGate, k.ClaimGate.Duration())
	l.CreateGate = max(l.CreateGate, k.CreateGate.Duration())
	l.Handshake = max(l.Handshake, k.Handshake.Duration())
	l.Beat = max(l.Beat, k.Beat.Duration())
	l.Silence = max(l.Silence, k.Silence.Duration())
	l.RunningSilence = max(l.RunningSilence, k.RunningSilence.Duration())
	return l
}
