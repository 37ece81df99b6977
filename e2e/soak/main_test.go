package soak

import (
	"flag"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest"
)

var (
	kills = flag.Int("kills", 0, "go on until the leading controller was killed so often; 0: a few faults of every kind")
	seed  = flag.Uint64("seed", 0, "of workload and faults; 0: another one each time in the long soak")
)

func TestMain(m *testing.M) {
	os.Exit(program.Tests{Parallel: "2", Stop: awstest.Stop}.Run(m))
}

// Real processes under kill -9, SIGSTOP and full disks, on the embedded back ends (S28, S66, S79, S84, H01,
// H02, H06, H07, H08, H11, H13, H17, H25, H30).
func TestSoak_S79_Embedded(t *testing.T) { live(t, embedded) }

// The same with the table in DynamoDB and the queues in SQS (S28, S66, S79, S84, H01, H02, H06, H20).
func TestSoak_S79_AWS(t *testing.T) { live(t, aws) }

func live(t *testing.T, on backend) {
	program.Long(t, "kills processes again and again")
	t.Parallel()
	seed := *seed
	switch {
	case seed == 0 && *kills == 0:
		seed = 1 // a change is judged by the same faults as the last one
	case seed == 0:
		seed = rand.Uint64N(1 << 32)
	}
	t.Logf("replay with: go test ./e2e/soak -run '%s$' -seed %d -kills %d", t.Name(), seed, *kills)
	s := newSoak(t, on, seed)
	s.begin()
	s.sabotage()
	s.judge()
	t.Log("\n" + s.table())
}
