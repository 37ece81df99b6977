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
func (s *Server) Limit(n int) { s.set(func() { s.limit = n }) }

// Refuse makes CreateFleet report code for the pools that p covers; "" lifts it.
func (s *Server) Refuse(p Pool, code string) {
	s.set(func() {
		if s.refused[p] = (failure{code: code, message: "refused by the test"}); code == "" {
			delete(s.refused, p)
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
}

// Odd makes the server do odds from now on.
func (s *Server) Odd(o Odds) { s.set(func() { s.odds = o }) }

// Deny takes the permission for an action away.
func (s *Server) Deny(action string) { s.set(func() { s.denied[action] = true }) }

// Remove deletes an image, subnet, security group, instance profile or launch template, by id or name.
func (s *Server) Remove(id string) {
	s.set(func() {
		delete(s.images, id)
		delete(s.groups, id)
		delete(s.profiles, id)
		s.subnets = slices.DeleteFunc(s.subnets, func(sub Subnet) bool { return sub.ID == id })
		s.templates = slices.DeleteFunc(s.templates, func(t *launchTemplate) bool { return t.name == id })
	})
}

// SetParameter gives a parameter of Systems Manager a value.
func (s *Server) SetParameter(name, value string) { s.set(func() { s.parameters[name] = value }) }

// SetProfile makes an instance profile with a role of this id.
func (s *Server) SetProfile(name, roleID string) { s.set(func() { s.profiles[name] = roleID }) }

// SetImage makes an x86_64 image.
func (s *Server) SetImage(id string) { s.set(func() { s.images[id] = "x86_64" }) }

// SetSubnets replaces the subnets.
func (s *Server) SetSubnets(subnets ...Subnet) { s.set(func() { s.subnets = subnets }) }

// SetTypes replaces the types.
func (s *Server) SetTypes(types ...Type) { s.set(func() { s.types = types }) }

// SetGroup makes a security group of a VPC.
func (s *Server) SetGroup(id, vpc string) { s.set(func() { s.groups[id] = vpc }) }

// SetPage bounds how many things one answer lists; 0: all.
func (s *Server) SetPage(n int) { s.set(func() { s.page = n }) }

// SetLag sets for how long a new instance is not seen by other calls.
func (s *Server) SetLag(d time.Duration) { s.set(func() { s.lag = d }) }

// Stick makes an instance refuse to be terminated, with code, until that is "".
func (s *Server) Stick(id, code string) { s.set(func() { s.stuck[id] = code }) }

// Forget lets EC2 know a machine no longer, as an hour after its end.
func (s *Server) Forget(id string) {
	s.set(func() {
		delete(s.instances, id)
		s.order = slices.DeleteFunc(s.order, func(known string) bool { return known == id })
	})
}

// Fence allows to terminate only what carries the tag, as a policy with a condition on it.
func (s *Server) Fence(key, value string) { s.set(func() { s.fence = [2]string{key, value} }) }

// Stop makes an instance a stopped one.
func (s *Server) Stop(id string) { s.set(func() { s.instances[id].Stopped = true }) }

// PowerOff ends or stops an instance from inside, unless it is stuck. It reports whether it did.
func (s *Server) PowerOff(id string) (did bool) {
	s.set(func() {
		i := s.instances[id]
		switch did = s.stuck[id] == ""; {
		case !did:
		case !i.Terminates:
			i.Stopped = true
		case i.EndedAt.IsZero():
			i.EndedAt = time.Now()
		}
	})
	return did
}

// Add starts an instance beside the fleets and returns its id.
func (s *Server) Add(i Instance) string {
	s.set(func() {
		if i.ID == "" {
			i.ID = newID("i-")
		}
		i.LaunchedAt = time.Now().Add(-time.Minute)
		s.instances[i.ID] = &i
		s.order = append(s.order, i.ID)
	})
	return i.ID
}

// Instances returns all instances that ever were, in the order of their launch.
func (s *Server) Instances() []Instance {
	var out []Instance
	s.set(func() {
		for _, id := range s.order {
			out = append(out, *s.instances[id])
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

// Subnets returns the ids of all subnets.
func (s *Server) Subnets() []string {
	var out []string
	s.set(func() {
		for _, sub := range s.subnets {
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
