package awscfg

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/smithy-go/logging"

	"github.com/remuda-run/remuda/internal/lazyregexp"
	"github.com/remuda-run/remuda/internal/netfault"
)

// ErrIncomplete means that region or credentials are missing. Nothing was called but, perhaps, the
// instance metadata and what the chain of credentials itself asks.
var ErrIncomplete = errors.New("configuration of AWS is incomplete")

// ErrRegion says that there is no region, or that it cannot be one: the operator's mistake, while
// credentials may come later.
var ErrRegion = errors.New("region")

// credentialsTimeout and metadataTimeout bound what is asked before anything else happens. A role
// is assumed within a second or two; the metadata service answers within milliseconds, and where it is
// absent only a timeout says so.
const (
	credentialsTimeout = 20 * time.Second
	metadataTimeout    = 3 * time.Second
)

// idleConnections is how many connections to one endpoint are kept. The SDK keeps 10, so that the
// claims of a large request would each begin with a TLS handshake (docs/goals.md, G1: N=10 within 1.2 × N=1,
// 1,000 requests at once).
const idleConnections = 128

// regionForm is the form of every region's name, such as eu-west-1, us-gov-west-1 or
// us-isob-east-1: it becomes part of a host name.
var regionForm = lazyregexp.New(`^[a-z]{2,}(-[a-z]+)+-[0-9]+$`)

// Load returns the configuration for all services. region "" means that of the chain or, on an
// instance, the instance's own. ErrIncomplete says what is missing and how to give it.
func Load(ctx context.Context, region string) (aws.Config, error) {
	if region != "" && !regionForm().MatchString(region) {
		return aws.Config{}, fmt.Errorf("%w: must be a name such as eu-west-1, got %q", ErrRegion, region)
	}
	client := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, idleConnections
		t.OnProxyConnectResponse = netfault.OnProxyConnectResponse
	})
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(region), config.WithHTTPClient(client), config.WithAppID("remuda"),
		config.WithLogger(logging.Nop{}), // what the SDK warns of is no news to an operator, and every failure is an error
		config.WithEC2RoleCredentialOptions(func(o *ec2rolecreds.Options) { o.Client = imds.New(imds.Options{}, sessions) }))
	if err != nil {
		return aws.Config{}, fmt.Errorf("load configuration of AWS: %w", err)
	}
	cfg.HTTPClient, cfg.Retryer = PlainBodies(client), retryer
	if told, ok := ctx.Value(toldKey{}).(func(Call)); ok {
		cfg.APIOptions = append(cfg.APIOptions, tell(told))
	}
	if cfg.Region == "" {
		if cfg.Region, err = instanceRegion(ctx, cfg); err != nil {
			return aws.Config{}, err
		}
	}
	if err := checkCredentials(ctx, cfg); err != nil {
		return aws.Config{}, err
	}
	return cfg, nil
}

// sessions keeps the client of the instance metadata to IMDSv2. Version 1 needs no session, so that
// anyone who makes a program of the machine fetch a URL gets the machine's credentials.
func sessions(o *imds.Options) { o.EnableFallback = aws.FalseTernary }

// instanceRegion asks the instance metadata for the region.
func instanceRegion(ctx context.Context, cfg aws.Config) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, metadataTimeout, errors.New("no answer of the instance metadata service"))
	defer cancel()
	out, err := imds.NewFromConfig(cfg, sessions).GetRegion(ctx, nil)
	if err != nil {
		return "", fmt.Errorf("%w: no %w: set ?region= in the URL, AWS_REGION, or region in the shared configuration (instance metadata: %w)", ErrIncomplete, ErrRegion, err)
	}
	return out.Region, nil
}

// checkCredentials retrieves the credentials once; the SDK caches them.
func checkCredentials(ctx context.Context, cfg aws.Config) error {
	ctx, cancel := context.WithTimeoutCause(ctx, credentialsTimeout, errors.New("no credentials in time"))
	defer cancel()
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return fmt.Errorf("%w: no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give this machine a role: %w", ErrIncomplete, err)
	}
	return nil
}
