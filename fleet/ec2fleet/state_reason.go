package ec2fleet

import (
	"strings"

	"github.com/remuda-run/remuda/fleet"
)

// startFaults are the codes with which EC2 ends instances at their start until an operator acts, and what to do (EC2 API,
// StateReason). A code is followed by a more exact one, as in Client.InvalidKMSKey.InvalidState. A key to which the account's roles have
// no grant shows as Client.InternalError or as one of InvalidKMSKey.
var startFaults = []struct{ code, remedy string }{
	{"Client.InternalError", "check the KMS key of the volumes: its policy must let this account and the service-linked roles of EC2 Spot use it"},
	{"Client.InvalidKMSKey", "enable the KMS key of the volumes, and let its policy grant this account and the service-linked roles of EC2 Spot its use"},
	{"Client.InvalidSnapshot", "name an image whose snapshots exist (ec2.ami)"},
	{"Client.VolumeLimitExceeded", "request an increase of the quota for EBS storage, or make ec2.rootVolume smaller"},
	{"Server.InternalError", "if it lasts, read AWS Health, or use other instance types"},
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
