package store

// Ahead reports whether the present registration was made ahead (ADR 0029): the machine listens under it while it is idle,
// and goes on under it for the run that claims it.
func (in *Instance) Ahead() bool {
	return in.Registration.Ahead && in.Registration.Assignment == in.Assignment
}

// ListensFor reports whether an agent of an instance that says this has a listener online under the present registration, which was made ahead.
func (b Beat) ListensFor(in *Instance) bool {
	return in.Ahead() && b.Listening == in.Registration.Serial
}

// Of reports whether what an agent of an instance says is of the present assignment. A listener that was online ahead is the present
// assignment's before its agent knows of that.
func (b Beat) Of(in *Instance) bool {
	return b.Assignment == in.Assignment || b.ListensFor(in)
}
