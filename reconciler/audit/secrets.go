package audit

import (
	"fmt"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// readableSecret finds registrations that are where no part needs them any more, or in two places.
// Every job on a machine may read the machine's record.
func readableSecret(s *Snapshot, o Options, report reporter) {
	whose := map[string]store.InstanceID{}
	for in := range each(s.Instances) {
		r := in.Registration
		if r.Secret == "" {
			continue
		}
		v := Violation{Resource: "instance " + string(in.ID), Mark: fmt.Sprint("serial ", r.Serial), Advice: fmt.Sprintf(adviceDrain, in.ID)}
		switch {
		case !in.State.Owned() && !(in.State == statemachine.Idle && in.Ahead()):
			v.Definite, v.Problem = true, fmt.Sprintf("is %s and keeps the secret of registration %d", in.State, r.Serial)
		case r.Assignment != in.Assignment:
			v.Definite, v.Problem = true, fmt.Sprintf("is in assignment %d and keeps the secret of assignment %d", in.Assignment, r.Assignment)
		case in.used() && s.At.After(in.Signal.UpdatedAt.Add(o.react())) && s.At.After(r.MintedAt.Add(o.react())):
			v.Problem = fmt.Sprintf("keeps the secret of registration %d, which was used %s ago", r.Serial, long(s.At.Sub(in.Signal.UpdatedAt.Time)))
		}
		if v.Problem != "" {
			report(v)
		}
		if r.Mode == store.Token {
			continue // one token registers many
		}
		if other, known := whose[r.Secret]; known {
			report(Violation{
				Resource: v.Resource, Definite: true, Mark: "shared", Advice: v.Advice,
				Problem: fmt.Sprintf("holds the same secret as instance %s", other),
			})
			continue
		}
		whose[r.Secret] = in.ID
	}
}

// used reports whether the listener is online with the registration that the record still holds.
func (in *Instance) used() bool {
	v := in.Signal.Value
	return v.Signal == store.RegOK && v.RunID == in.RunID && v.Assignment == in.Assignment && v.Serial == in.Registration.Serial
}
