// Package awsread compares what an installation has written to AWS with docs/data-model.md, key by key.
// The reader is a Python program over boto3 that knows nothing of this code but that page.
package awsread

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/awstools"
)

//go:embed reader.py
var reader string

// Installation says where to read. All fields but Tags are required.
type Installation struct {
	Page      string              `json:"page"`      // text of docs/data-model.md
	Endpoints map[string]string   `json:"endpoints"` // of dynamodb, sqs and ec2
	Table     string              `json:"table"`
	Prefix    string              `json:"prefix"` // of the pool's queues
	Classes   []string            `json:"classes"`
	Name      string              `json:"name"`     // of the fleet's URL
	Settings  map[string][]string `json:"settings"` // of section ec2, such as ec2.ami
	Tags      map[string]string   `json:"tags"`     // of ec2.tags
	Tokens    []string            `json:"tokens"`   // of launches; nil unless Tagged names what they make
	Tagged    []string            `json:"tagged"`   // whose tags to read: launch template, instance, volume

	// Records also compares the items, which must be of every record with every attribute.
	Records bool `json:"records"`
}

// Differences returns what is otherwise than the page says, a line each. The services must be those of
// package awstest, which brings the reader's library along.
func (i Installation) Differences(ctx context.Context) ([]string, error) {
	dir, err := awstools.Moto.Install(ctx)
	if err != nil {
		return nil, err
	}
	input, err := json.Marshal(struct {
		Installation
		Region string `json:"region"`
		Key    string `json:"key"`
	}{i, awstest.Region, awstest.AccessKey})
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "venv/bin/python"), "-c", reader)
	cmd.Env = []string{"AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null"}
	cmd.Stdin = bytes.NewReader(input)
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 && lines[0] != "" {
		return lines, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reader: %w\n%s", err, &failed)
	}
	return nil, nil
}
