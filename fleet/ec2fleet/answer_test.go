package ec2fleet

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/bubbletest"
)

// mute takes calls and never answers.
type mute struct{}

func (mute) Do(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// S12 H09: a machine's end that EC2 does not answer, and the listing that should confirm it, can be asked for again within the two
// minutes that it may take.
func TestTerminate_WithoutAnAnswer_IsAskedForAgainInTime_S12_H09(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		cfg := config(t, "http://mute")
		cfg.HTTPClient = mute{}
		f, err := Open(t.Context(), fleetURL("test"), cfg, Options{
			Subnets: []string{"subnet-00000001"}, SecurityGroups: []string{ec2test.Group}, AMI: ec2test.AMI, InstanceProfile: ec2test.Profile,
			UserData: "#!/bin/sh\n", Clock: clock.RealClock{},
		})
		if err != nil {
			t.Fatal(err)
		}
		const known, strange = "i-00000001", "i-00000002"
		f.lister.own.add(f.clock.Now(), known)
		for name, call := range map[string]func() error{
			"terminate": func() error { return f.Terminate(t.Context(), known) },
			"look up":   func() error { return f.Terminate(t.Context(), strange) },
			"list": func() error {
				_, err := f.lister.instances(t.Context())
				return err
			},
		} {
			begin := time.Now()
			if err := call(); !errors.Is(err, errAnswerLimit) {
				t.Errorf("%s error = %v, want %v", name, err, errAnswerLimit)
			}
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("%s: no answer after %s, want it to be given up in time for another", name, took)
			}
		}
		got := failedIDs(f.Terminate(t.Context(), strange, known))
		if slices.Sort(got); !slices.Equal(got, []string{known, strange}) {
			t.Errorf("Terminate names %v, want both", got)
		}
	})
}
