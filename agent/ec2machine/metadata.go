package ec2machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/remuda-run/remuda/internal/logkey"
)

// Paths below /latest/meta-data (EC2 User Guide, "Instance metadata categories").
const (
	pathInstanceID = "instance-id"
	pathRegion     = "placement/region"
	pathTag        = "tags/instance/" + TagName
	pathAction     = "spot/instance-action"
	pathRebalance  = "events/recommendations/rebalance"
)

// maxValue is more than any value that is read here has, in bytes.
const maxValue = 4 << 10

// errNone says that the metadata service knows no such thing.
var errNone = errors.New("not there")

// get returns one value of the metadata service; errNone if there is none.
func (h *Host) get(ctx context.Context, path string) (string, error) {
	out, err := h.meta.GetMetadata(ctx, &imds.GetMetadataInput{Path: path})
	var answer *smithyhttp.ResponseError
	switch {
	case errors.As(err, &answer) && answer.HTTPStatusCode() == http.StatusNotFound:
		return "", fmt.Errorf("instance metadata %s: %w", path, errNone)
	case err != nil:
		return "", fmt.Errorf("instance metadata %s: %w (the launch template must enable the service, with tokens)", path, err)
	}
	defer out.Content.Close()
	text, err := io.ReadAll(io.LimitReader(out.Content, maxValue))
	if err != nil {
		return "", fmt.Errorf("instance metadata %s: %w", path, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// ask finds out who this instance is, and that it belongs to installation name.
func (h *Host) ask(ctx context.Context, name string) (id Identity, err error) {
	if id.InstanceID, err = h.get(ctx, pathInstanceID); err != nil {
		return id, err
	}
	if id.Region, err = h.get(ctx, pathRegion); err != nil {
		return id, err
	}
	if id.InstanceID == "" || id.Region == "" { // a proxy's answer, or that of a service that has just begun
		return id, fmt.Errorf("instance metadata: %s and %s must not be empty, got %q and %q", pathInstanceID, pathRegion, id.InstanceID, id.Region)
	}
	id.Name, err = h.get(ctx, pathTag)
	switch {
	case errors.Is(err, errNone):
		return id, fmt.Errorf("instance %s: %w: no tag %s in its metadata, want %q; the launch template must set it and enable tags in metadata",
			id.InstanceID, ErrForeign, TagName, name)
	case err == nil && id.Name != name:
		return id, fmt.Errorf("instance %s: %w: tag %s is %q, want %q as configured", id.InstanceID, ErrForeign, TagName, id.Name, name)
	}
	return id, err
}

// notice returns what EC2 announced, and where; "" if nothing.
func (h *Host) notice(ctx context.Context) (path, text string, err error) {
	for _, path := range []string{pathAction, pathRebalance} {
		switch text, err := h.get(ctx, path); {
		case err == nil:
			return path, text, nil
		case !errors.Is(err, errNone):
			return "", "", err
		}
	}
	return "", "", nil
}

// Interrupted implements agent.Machine: a spot interruption notice, or a recommendation to rebalance,
// which says earlier that one is likely. An answer that cannot be had is no notice.
func (h *Host) Interrupted(ctx context.Context) bool {
	path, text, err := h.notice(ctx)
	switch was := h.silent.Swap(err != nil); {
	case err != nil && ctx.Err() == nil && !was:
		h.log.Warn("instance metadata could not be read", logkey.Error, err)
	case err == nil && was:
		h.log.Info("instance metadata is read again")
	}
	if path != "" {
		h.log.Warn("EC2 announces an interruption or recommends to rebalance", logkey.Path, path, logkey.Detail, text)
	}
	return path != ""
}
