// Package reference reads what a text of the configuration names: a file, a parameter of Systems Manager (ssm:NAME), or a
// secret of Secrets Manager (secretsmanager:NAME or its ARN). So what is secret, or shared by several machines, has one place.
package reference

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/remuda-run/remuda/internal/awserr"
)

// What begins a reference that is no file.
const (
	parameterMark = "ssm:"
	secretMark    = "secretsmanager:"
)

// Remote reports whether text names something that AWS keeps, and no file.
func Remote(text string) bool {
	return strings.HasPrefix(text, parameterMark) || strings.HasPrefix(text, secretMark)
}

// timeout bounds one reading, in which the SDK repeats what fails.
const timeout = 15 * time.Second

// ErrEmpty says that a reference is good and holds nothing.
var ErrEmpty = errors.New("holds nothing")

// Reader reads references. It is safe for concurrent use; all of its fields must be set before.
type Reader struct {
	ReadFile func(path string) ([]byte, error)
	// Load returns the configuration of AWS for a region, "" for that of the chain. It is asked once a region, until it succeeds.
	Load func(ctx context.Context, region string) (aws.Config, error)

	mu    sync.Mutex
	known map[string]aws.Config
}

// Read returns what a reference names, a secret in the clear. Its error names the reference, the call and what to do, and
// never what is read.
func (r *Reader) Read(ctx context.Context, text string) ([]byte, error) {
	if !Remote(text) {
		return r.ReadFile(text)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %s", timeout))
	defer cancel()
	if name, ok := strings.CutPrefix(text, secretMark); ok {
		return r.secret(ctx, name)
	}
	return r.parameter(ctx, strings.TrimPrefix(text, parameterMark))
}

func (r *Reader) secret(ctx context.Context, name string) ([]byte, error) {
	cfg, err := r.load(ctx, regionOf(name))
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", secretMark, name, err)
	}
	out, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &name})
	if err != nil {
		return nil, awserr.Explain(err, "secretsmanager:GetSecretValue", "secret "+name)
	}
	if out.SecretString != nil {
		return held(secretMark+name, []byte(*out.SecretString))
	}
	return held(secretMark+name, out.SecretBinary)
}

func (r *Reader) parameter(ctx context.Context, name string) ([]byte, error) {
	cfg, err := r.load(ctx, regionOf(name))
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", parameterMark, name, err)
	}
	// As for images, so that one permission serves both.
	out, err := ssm.NewFromConfig(cfg).GetParameters(ctx, &ssm.GetParametersInput{Names: []string{name}, WithDecryption: aws.Bool(true)})
	switch {
	case err != nil:
		return nil, awserr.Explain(err, "ssm:GetParameters", "parameter "+name)
	case len(out.Parameters) != 1:
		return nil, fmt.Errorf("ssm:GetParameters on parameter %s: not found: check name and region (%s)", name, cfg.Region)
	}
	return held(parameterMark+name, []byte(aws.ToString(out.Parameters[0].Value)))
}

func held(name string, value []byte) ([]byte, error) {
	if len(strings.TrimSpace(string(value))) == 0 {
		return nil, fmt.Errorf("%s: %w", name, ErrEmpty)
	}
	return value, nil
}

// regionOf returns the region of an ARN, "" for a name.
func regionOf(name string) string {
	if a, err := arn.Parse(name); err == nil {
		return a.Region
	}
	return ""
}

func (r *Reader) load(ctx context.Context, region string) (aws.Config, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cfg, ok := r.known[region]; ok {
		return cfg, nil
	}
	cfg, err := r.Load(ctx, region)
	if err != nil {
		return cfg, err
	}
	if r.known == nil {
		r.known = map[string]aws.Config{}
	}
	r.known[region] = cfg
	return cfg, nil
}

// Store gives a secret of Secrets Manager, which must exist, a new value. Nothing else is stored by reference.
func (r *Reader) Store(ctx context.Context, text string, value []byte) error {
	name, ok := strings.CutPrefix(text, secretMark)
	if !ok {
		return fmt.Errorf("store %s: must be %sNAME", text, secretMark)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %s", timeout))
	defer cancel()
	cfg, err := r.load(ctx, regionOf(name))
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	_, err = secretsmanager.NewFromConfig(cfg).PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{SecretId: &name, SecretString: aws.String(string(value))})
	return awserr.Explain(err, "secretsmanager:PutSecretValue", "secret "+name)
}
