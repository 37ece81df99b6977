// Package aws drives the built binary against AWS's services on loopback: DynamoDB Local, moto, EC2 in
// memory, and machines that a small hypervisor runs by their own user data. See package story for what
// is told.
//
// A failure under faults is told again with the seed it names: go test ./e2e/aws -run 'TestFaults/Errors'
// -seed N. With -full each kind of fault meets the whole story. REMUDA_E2E_KEEP names a folder to which a
// failed test copies its logs and its machines' disks.
package aws

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest"
)

// web serves the program under test to machines by loopback.
var (
	web       = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, program.Binary) }))
	binarySum string
)

func TestMain(m *testing.M) {
	os.Exit(program.Tests{Parallel: "4", Flags: []string{"-ldflags=-s -w"}, Ready: sum, Stop: func() { web.Close(); awstest.Stop() }}.Run(m))
}

// sum reads what the machines must be served.
func sum() error {
	content, err := os.ReadFile(program.Binary)
	digest := sha256.Sum256(content)
	binarySum = hex.EncodeToString(digest[:])
	return err
}
