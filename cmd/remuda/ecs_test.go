package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/internal/awstest"
)

// The example of a task for ECS says only what a task definition has, and takes role and configuration of the stack.
func TestECSExample_IsAConfiguration(t *testing.T) {
	text, err := os.ReadFile("../../deploy/ecs/task-definition.json")
	if err != nil {
		t.Fatal(err)
	}
	type pair struct{ Name, Value string }
	var task struct { // of the API reference of RegisterTaskDefinition
		Family, NetworkMode, CPU, Memory, TaskRoleArn, ExecutionRoleArn string
		RequiresCompatibilities                                         []string
		RuntimePlatform                                                 struct{ CPUArchitecture, OperatingSystemFamily string }
		ContainerDefinitions                                            []struct {
			Name, Image, User                 string
			Essential, ReadonlyRootFilesystem bool
			Command                           []string
			Environment                       []pair
			StopTimeout                       int
			HealthCheck                       struct {
				Command                                 []string
				Interval, Timeout, Retries, StartPeriod int
			}
			LogConfiguration struct {
				LogDriver string
				Options   map[string]string
			}
		}
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&task); err != nil || len(task.ContainerDefinitions) != 1 {
		t.Fatalf("task definition: %v; %d containers, want one", err, len(task.ContainerDefinitions))
	}
	controller := task.ContainerDefinitions[0]
	env := map[string]string{}
	for _, e := range controller.Environment {
		env[e.Name] = e.Value
	}
	stack := "remuda"
	ssm := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Names []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Names) != 1 || in.Names[0] != "/"+stack+"/config" {
			t.Errorf("asks Systems Manager for %q: %v", in.Names, err)
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		fmt.Fprintf(w, `{"Parameters": [{"Value": "{name: %s, caps: {maxInstances: 7}}"}]}`, stack)
	}))
	t.Cleanup(ssm.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_SSM": ssm.URL, "AWS_ACCESS_KEY_ID": awstest.AccessKey, "AWS_SECRET_ACCESS_KEY": awstest.SecretKey, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	for name, value := range env {
		t.Setenv(name, value)
		if strings.HasPrefix(name, "REMUDA_") && name != "REMUDA_CONFIG" {
			t.Errorf("%s stands beside the stack's configuration", name)
		}
	}
	a := newApp(osStreams())
	var said strings.Builder
	a.out, a.err = &said, &said
	if code := execute(t.Context(), a, []string{"config", "--changed"}); code != exitDone {
		t.Errorf("remuda config exits with %d:\n%s", code, said.String())
	}
	if !strings.Contains(said.String(), "caps.maxInstances  file "+env["REMUDA_CONFIG"]) {
		t.Errorf("no setting is from the stack's configuration:\n%s", said.String())
	}
	if !strings.HasSuffix(task.TaskRoleArn, ":role/"+stack+"-controller") || controller.LogConfiguration.Options["awslogs-group"] == stackLog(stack) {
		t.Errorf("role %s, log %v: want the stack's role, and another log group than the one that the controller writes itself", task.TaskRoleArn, controller.LogConfiguration)
	}
	if !controller.ReadonlyRootFilesystem || controller.User != "65532:65532" || controller.HealthCheck.Command[2] != "health" {
		t.Errorf("controller = %+v", controller)
	}
}
