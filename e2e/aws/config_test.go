package aws

import (
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/store"
)

// The configuration is a parameter of Systems Manager, for controller and clients, and no file: what is changed there is taken up
// without a word to the controller, which keeps the lease.
func TestConfig_InAParameter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.parts.controller["ssm"], w.parts.client["ssm"] = w.moto, w.moto })
	api := ssm.NewFromConfig(awstest.Config(t, w.moto))
	name := "/" + w.name + "/config"
	put := func(text string) {
		t.Helper()
		_, err := api.PutParameter(t.Context(), &ssm.PutParameterInput{Name: &name, Value: &text, Type: types.ParameterTypeSecureString, Overwrite: aws.Bool(true)})
		w.Check(err)
	}
	text, err := os.ReadFile(w.config())
	w.Check(err)
	w.Check(os.Remove(w.config()))
	w.env = []string{"REMUDA_CONFIG=ssm:" + name}
	if _, err := w.run(t.Context(), w.parts.controller, "init"); err == nil || !strings.Contains(err.Error(), "ssm:GetParameters on parameter "+name+": not found") {
		t.Fatalf("remuda init without the parameter = %v", err)
	}
	put(string(text))
	w.install()
	w.begin()
	w.controller.Says(leads)

	const class = "  small: {cpu: 2, mem: 4096}\n"
	put(strings.Replace(string(text), class, class+"  medium: {cpu: 4, mem: 8192}\n", 1))
	w.controller.Says(`the configuration was taken up","settings":\["classes"\]`)
	_, err = w.Remuda(t.Context(), "request", "--id", "4711", "--count", "1", "--resource-class", "medium", "--timeout", patience.String())
	w.Check(err)
	if in := w.machine(func(in store.Instance) bool { return in.RunID == "4711" }); in.ResourceClass != "medium" || in.CPU != 4 {
		t.Errorf("machine %s is of class %s with %d vCPUs, want medium with 4", in.ID, in.ResourceClass, in.CPU)
	}
	out, err := w.Remuda(t.Context(), "status", "-o", "json")
	w.Check(err)
	if !strings.Contains(string(out), `"term": 1,`) {
		t.Errorf("another term has begun: %s", out)
	}
}
