package ec2test

import (
	"net/http"
	"net/url"
	"slices"
	"time"
)

func (s *Server) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// Limit lets at most n instances live at once, as a quota does; a negative n lifts it.
func (s *Server) Limit(n int) { s.set(func() { s.fleets.limit = n }) }

// Refuse makes CreateFleet report code for the pools that p covers; "" lifts it.
func (s *Server) Refuse(p Pool, code string) {
	s.set(func() {
		if s.fleets.refused[p] = (failure{code: code, message: "refused by the test"}); code == "" {
			delete(s.fleets.refused, p)
		}
	})
}

// Fail makes the next calls of an action fail, one per fault.
func (s *Server) Fail(action string, faults ...Fault) {
	s.set(func() { s.faults[action] = append(s.faults[action], faults...) })
}

// Throttle makes the next n calls of an action exceed their rate.
func (s *Server) Throttle(action string, n int) {
	for range n {
		s.Fail(action, Fault{Status: http.StatusServiceUnavailable, Code: "RequestLimitExceeded", Message: "Request limit exceeded."})
	}
}

// Odds are what EC2 does now and then. The zero value does none of it.
type Odds struct {
	// EndedTokens refuses the repetition of a launch whose machines have all ended, as RunInstances does
	// since 2025 (IdempotentInstanceTerminated).
	EndedTokens bool
	// Typeless leaves the instance type out of errors, which name requirements then.
	Typeless bool
	// Plain makes listings omit the lifecycle and EC2's own tags.
	Plain bool
	// AllTemplates makes each query return every launch template, regardless of the name.
	AllTemplates bool
	// EndAs ends every instance right after its launch, with this code and message as its StateReason.
	EndAs [2]string
}

// Odd makes the server do odds from now on.
func (s *Server) Odd(o Odds) {
	s.set(func() { s.fleets.odds, s.instances.odds, s.templates.odds = o, o, o })
}

// Deny takes the permission for an action away.
func (s *Server) Deny(action string) { s.set(func() { s.denied[action] = true }) }

// Remove deletes an image, subnet, security group, instance profile or launch template, by id or name.
func (s *Server) Remove(id string) {
	s.set(func() {
		s.resources.remove(id)
		s.templates.remove(id)
	})
}

// SetParameter gives a parameter of Systems Manager a value.
func (s *Server) SetParameter(name, value string) {
	s.set(func() { s.resources.parameters[name] = value })
}

// SetProfile makes an instance profile with a role of this id.
func (s *Server) SetProfile(name, roleID string) {
	s.set(func() { s.resources.profiles[name] = roleID })
}

// SetImage makes an x86_64 image.
func (s *Server) SetImage(id string) { s.SetImageFor(id, "x86_64") }

// SetImageFor makes an image for an architecture.
func (s *Server) SetImageFor(id, arch string) { s.set(func() { s.resources.images[id] = arch }) }

// SetSubnets replaces the subnets.
func (s *Server) SetSubnets(subnets ...Subnet) { s.set(func() { s.resources.subnets = subnets }) }

// SetTypes replaces the types.
func (s *Server) SetTypes(types ...Type) { s.set(func() { s.resources.types = types }) }

// SetGroup makes a security group of a VPC.
func (s *Server) SetGroup(id, vpc string) { s.set(func() { s.resources.groups[id] = vpc }) }

// SetPage bounds how many things one answer lists; 0: all.
func (s *Server) SetPage(n int) { s.set(func() { s.api.page = n }) }

// SetLag sets for how long a new instance is not seen by other calls.
func (s *Server) SetLag(d time.Duration) { s.set(func() { s.instances.lag = d }) }

// Stick makes an instance refuse to be terminated, with code, until that is "".
func (s *Server) Stick(id, code string) { s.set(func() { s.instances.stuck[id] = code }) }

// Forget lets EC2 know a machine no longer, as an hour after its end.
func (s *Server) Forget(id string) {
	s.set(func() { s.instances.forget(id) })
}

// End ends an instance from outside the fleet, with code and message as its StateReason.
func (s *Server) End(id, code, message string) {
	s.set(func() { s.instances.byID[id].end(time.Now(), code, message) })
}

// Fence allows to terminate only what carries the tag, as a policy with a condition on it.
func (s *Server) Fence(key, value string) {
	s.set(func() { s.instances.fence = [2]string{key, value} })
}

// Stop makes an instance a stopped one.
func (s *Server) Stop(id string) { s.set(func() { s.instances.byID[id].Stopped = true }) }

// PowerOff ends or stops an instance from inside, unless it is stuck. It reports whether it did.
func (s *Server) PowerOff(id string) (did bool) {
	s.set(func() { did = s.instances.powerOff(id) })
	return did
}

// Add starts an instance beside the fleets and returns its id.
func (s *Server) Add(i Instance) string {
	s.set(func() {
		if i.ID == "" {
			i.ID = newID("i-")
		}
		i.LaunchedAt = time.Now().Add(-time.Minute)
		s.instances.add(&i)
	})
	return i.ID
}

// Instances returns all instances that ever were, in the order of their launch.
func (s *Server) Instances() []Instance {
	var out []Instance
	s.set(func() {
		for _, id := range s.instances.order {
			out = append(out, *s.instances.byID[id])
		}
	})
	return out
}

// Alive returns the ids of the instances that live.
func (s *Server) Alive() []string {
	var out []string
	for _, i := range s.Instances() {
		if i.EndedAt.IsZero() {
			out = append(out, i.ID)
		}
	}
	return out
}

// Templates returns the names of the launch templates.
func (s *Server) Templates() (names []string) {
	s.set(func() {
		for _, t := range s.templates.all {
			names = append(names, t.name)
		}
	})
	return names
}

// Subnets returns the ids of all subnets.
func (s *Server) Subnets() []string {
	var out []string
	s.set(func() {
		for _, sub := range s.resources.subnets {
			out = append(out, sub.ID)
		}
	})
	return out
}

// Requests returns the requests of an action that came, failed ones included.
func (s *Server) Requests(action string) []url.Values {
	var out []url.Values
	s.set(func() { out = slices.Clone(s.requests[action]) })
	return out
}

// Calls returns how many requests of an action came.
func (s *Server) Calls(action string) int { return len(s.Requests(action)) }
