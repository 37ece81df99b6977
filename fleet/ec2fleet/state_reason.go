package ec2fleet

import (
	"strings"

	"github.com/remuda-run/remuda/fleet"
)

// startFaults are the StateReason codes of instances that fail at their start until an operator acts, with the remedy. A more exact code
// may follow, as in Client.InvalidKMSKey.InvalidState. If the account's roles have no grant for a key, EC2 reports Client.InternalError or
// an InvalidKMSKey code.
var startFaults = []struct{ code, remedy string }{
	{"Client.InternalError", "check the KMS key of the volumes: its policy must allow this account and the service-linked roles of EC2 Spot to use it"},
	{"Client.InvalidKMSKey", "enable the KMS key of the volumes; its policy must allow this account and the service-linked roles of EC2 Spot to use it"},
	{"Client.InvalidSnapshot", "name an image whose snapshots exist (ec2.ami)"},
	{"Client.VolumeLimitExceeded", "request an increase of the quota for EBS storage, or make ec2.rootVolume smaller"},
	{"Server.InternalError", "if the error continues, check AWS Health or use other instance types"},
}

func stateReason(code, message string) fleet.StateReason {
	r := fleet.StateReason{Code: code, Message: message}
	for _, f := range startFaults {
		if code == f.code || strings.HasPrefix(code, f.code+".") {
			r.Refused, r.Remedy = true, f.remedy
		}
	}
	return r
}
