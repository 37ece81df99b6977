package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// The example of a task for ECS says only what a task definition has, and what this program takes.
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
			Secrets                           []struct{ Name, ValueFrom string }
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
	for _, s := range controller.Secrets {
		env[s.Name] = "secret"
	}
	for name, value := range env {
		t.Setenv(name, value)
	}
	a := newApp(osStreams())
	var said strings.Builder
	a.out, a.err = &said, &said
	if code := execute(t.Context(), a, []string{"config", "--changed"}); code != exitDone {
		t.Errorf("remuda config exits with %d:\n%s", code, said.String())
	}
	for name := range env {
		if strings.HasPrefix(name, "REMUDA_") && name != "REMUDA_GITHUB_TOKEN" && !strings.Contains(said.String(), name) {
			t.Errorf("no setting is from %s:\n%s", name, said.String())
		}
	}
	if !controller.ReadonlyRootFilesystem || controller.User != "65532:65532" || controller.HealthCheck.Command[2] != "health" {
		t.Errorf("controller = %+v", controller)
	}
}
