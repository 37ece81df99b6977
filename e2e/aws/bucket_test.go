package aws

import (
	"os"
	"strings"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/s3test"
)

// publish puts the program into a bucket that gives it to none but machines, each by the session of its role.
func (w *world) publish() {
	const bucket, key = "remuda-e2e", "program/remuda"
	w.s3 = s3test.New(w, awstest.Region, bucket)
	content, err := os.ReadFile(program.Binary)
	w.Check(err)
	w.s3.Set(bucket, key, content)
	w.s3.Allow(func(principal, _, _ string) bool { return strings.HasPrefix(principal, *w.role.RoleId+":i-") })
	w.binaryURL = "s3://" + bucket + "/" + key
	w.parts.machine["s3"] = w.s3.URL
}
