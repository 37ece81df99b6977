package store

// Covers reports whether the order names in, however old that is.
func (d DrainOrder) Covers(in Instance) bool {
	return (d.InstanceID == "" || d.InstanceID == in.ID) && (d.ResourceClass == "" || d.ResourceClass == in.ResourceClass)
}

// Matches reports whether the order dismisses in. Records of one term carry one clock; those of an earlier
// term are older, whatever the clocks of the two controllers showed. One without a term may be of a controller of the
// version before that led after the order was taken up: only clocks show.
func (d DrainOrder) Matches(in Instance) bool {
	switch {
	case !d.Covers(in):
		return false
	case d.EffectiveAt.IsZero(): // taken up by no controller, or by a controller that went by the operator's clock
		return !d.ExpiresAt.IsZero() && !in.CreatedAt.After(d.CreatedAt.Time)
	case in.Term != d.Term && in.Term != 0:
		return in.Term < d.Term
	}
	return !in.CreatedAt.After(d.EffectiveAt.Time)
}

// Taken reports whether a controller has taken the order up.
func (d DrainOrder) Taken() bool { return !d.EffectiveAt.IsZero() || !d.ExpiresAt.IsZero() }
