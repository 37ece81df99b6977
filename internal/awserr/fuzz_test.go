package awserr

import (
	"errors"
	"strings"
	"testing"
)

// FuzzExplain: whatever AWS answers, the error begins with call and resource, is of bounded length, and
// keeps its class and its cause.
func FuzzExplain(f *testing.F) {
	f.Add(403, "UnauthorizedOperation", "You are not authorized. Encoded authorization failure message: xyz")
	f.Add(403, "UnauthorizedOperation", "User: u is not authorized to perform: ec2:RunInstances on resource: arn:aws:ec2:r:1:subnet/s with an explicit deny in a service control policy")
	f.Add(0, "", "")
	f.Add(503, "A.\x00\xff", strings.Repeat("ä", 500))
	f.Fuzz(func(t *testing.T, status int, code, message string) {
		cause := answered(status, code, message)
		err := Explain(cause, "ec2:CreateFleet", "fleet remuda")
		text := err.Error()
		if !strings.HasPrefix(text, "ec2:CreateFleet on fleet remuda: ") || len(text) > maxDenied+700 {
			t.Errorf("Explain = %d bytes: %.300q", len(text), text)
		}
		if ClassOf(err) != ClassOf(cause) || ClassOf(err) == None || !errors.Is(err, cause) {
			t.Errorf("Explain = class %s, want %s and the cause kept", ClassOf(err), ClassOf(cause))
		}
		_ = ClassOf(err).String() // must not panic
	})
}
