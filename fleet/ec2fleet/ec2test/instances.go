package ec2test

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// instances are those that were ever launched, and what keeps them from being seen or ended.
type instances struct {
	api   *api
	byID  map[string]*Instance
	order []string          // ids, in the order of launch
	stuck map[string]string // instance: code with which it cannot be terminated
	fence [2]string         // tag and value without which nothing can be terminated
	lag   time.Duration

	consoles map[string]Console
	odds     Odds
}

// shown returns the tags of an instance in a listing.
func (n *instances) shown(tags map[string]string) map[string]string {
	if !n.odds.Plain {
		return tags
	}
	tags = maps.Clone(tags)
	maps.DeleteFunc(tags, func(key, _ string) bool { return strings.HasPrefix(key, "aws:") })
	return tags
}

func (n *instances) add(i *Instance) {
	n.byID[i.ID] = i
	n.order = append(n.order, i.ID)
}

func (n *instances) forget(id string) {
	delete(n.byID, id)
	n.order = slices.DeleteFunc(n.order, func(known string) bool { return known == id })
}

// powerOff ends or stops an instance from inside, unless it is stuck.
func (n *instances) powerOff(id string) (did bool) {
	i := n.byID[id]
	switch did = n.stuck[id] == ""; {
	case !did:
	case !i.Terminates:
		i.Stopped = true
		i.because("Client.InstanceInitiatedShutdown", "Instance initiated shutdown")
	case i.EndedAt.IsZero():
		i.end(time.Now(), "Client.InstanceInitiatedShutdown", "Instance initiated shutdown")
	}
	return did
}

// end ends an instance with a StateReason in EC2's form: the message begins with the code.
func (i *Instance) end(now time.Time, code, message string) {
	i.EndedAt = now
	i.because(code, message)
}

func (i *Instance) because(code, message string) {
	i.ReasonCode, i.ReasonMessage = code, code+": "+message
}

func (n *instances) living() []string {
	return slices.DeleteFunc(slices.Clone(n.order), func(id string) bool { return !n.byID[id].EndedAt.IsZero() })
}

// terminate refuses the whole call for one bad id, as EC2 does (H67).
func (n *instances) terminate(q *node) (string, *failure) {
	ids := q.strings("InstanceId")
	if len(ids) == 0 || len(ids) > 1000 {
		return "", n.api.malformed("TerminateInstances", bad("InvalidParameterValue", "1 to 1000 instances, got %d", len(ids)))
	}
	now := time.Now()
	for _, id := range ids {
		i, ok := n.byID[id]
		if n.fence[0] != "" && (!ok || i.Tags[n.fence[0]] != n.fence[1]) { // before EC2 looks whether there is such a machine
			return "", unauthorized()
		}
		if !ok || !n.visible(i, now) {
			return "", bad("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
		}
		if code := n.stuck[id]; code != "" {
			return "", bad(code, "The instance '%s' may not be terminated.", id)
		}
	}
	for _, id := range ids {
		if i := n.byID[id]; i.EndedAt.IsZero() {
			i.end(now, "Client.UserInitiatedShutdown", "User initiated shutdown")
		}
	}
	return set("instancesSet", ids, func(id string) string { return text("instanceId", id) }), nil
}

// describe knows the filters that we use.
func (n *instances) describe(q *node) (string, *failure) {
	var all []*Instance
	now := time.Now()
	for _, id := range n.order {
		if i := n.byID[id]; n.visible(i, now) && i.matches(q.filters()) {
			all = append(all, i)
		}
	}
	page, next := paged(n.api, q, all)
	return next + set("reservationSet", page, func(i *Instance) string {
		return set("instancesSet", []*Instance{i}, func(i *Instance) string { return n.show(i, now) })
	}), nil
}

// describeVolumes shows a volume of each instance that has tags for it.
func (n *instances) describeVolumes(q *node) (string, *failure) {
	var all []*Instance
	for _, id := range n.order {
		if i := n.byID[id]; i.VolumeTags != nil && tagged(i.VolumeTags, q.filters()) {
			all = append(all, i)
		}
	}
	return set("volumeSet", all, func(i *Instance) string {
		return text("volumeId", "vol-"+strings.TrimPrefix(i.ID, "i-")) + tagSet(i.VolumeTags)
	}), nil
}

func (n *instances) visible(i *Instance, now time.Time) bool {
	return !now.Before(i.LaunchedAt.Add(n.lag))
}

func (i *Instance) matches(filters map[string][]string) bool {
	ids, asked := filters["instance-id"]
	return (!asked || slices.Contains(ids, i.ID)) && tagged(i.Tags, filters)
}

func (i *Instance) state(now time.Time) string {
	switch {
	case !i.EndedAt.IsZero() && now.Before(i.EndedAt.Add(change)):
		return "shutting-down"
	case !i.EndedAt.IsZero():
		return "terminated"
	case i.Stopped:
		return "stopped"
	case now.Before(i.LaunchedAt.Add(change)):
		return "pending"
	}
	return "running"
}

func (n *instances) show(i *Instance, now time.Time) string {
	out := text("instanceId", i.ID) + text("instanceType", i.Type) + el("instanceState", text("name", i.state(now))) +
		el("placement", text("availabilityZone", i.Zone)) + text("subnetId", i.Subnet) + text("imageId", i.Image) +
		text("launchTime", i.LaunchedAt.UTC().Format("2006-01-02T15:04:05.000Z")) + tagSet(n.shown(i.Tags))
	if i.ReasonCode != "" {
		out += el("stateReason", text("code", i.ReasonCode), text("message", i.ReasonMessage))
	}
	if i.Spot && !n.odds.Plain {
		out += text("instanceLifecycle", "spot")
	}
	return out
}
