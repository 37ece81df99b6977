package ec2fleet

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/fleet/fleettest"
)

func TestFleet_KeepsTheContract(t *testing.T) {
	fleettest.Run(t, func(t *testing.T) fleettest.Subject {
		s, f := fresh(t, nil)
		s.SetPage(2)
		s.SetLag(50 * time.Millisecond) // EC2's eventual consistency, shortened
		return fleettest.Subject{
			Fleet: f,
			Again: func(t *testing.T) fleet.Fleet { return opened(t, s.URL, "test", options(s)) },
			Limit: s.Limit,
			Foreign: func(t *testing.T) (string, func() bool) {
				id := s.Add(ec2test.Instance{Type: "m5.large", Tags: map[string]string{TagName: "other"}})
				return id, func() bool {
					for _, alive := range s.Alive() {
						if alive == id {
							return true
						}
					}
					return false
				}
			},
			Settle: time.Minute,
		}
	})
}
