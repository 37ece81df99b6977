package ec2test

import (
	"fmt"
	"net/http"
	"net/url"

	"golang.org/x/time/rate"
)

// Odds are what EC2 does now and then, which neither moto nor a call's own form shows. The zero value does
// none of it.
type Odds struct {
	// Bucket refuses CreateFleet beyond a rate with RequestLimitExceeded (EC2 API, "Request throttling").
	Bucket *rate.Limiter
	// Unseen is for how many CreateFleet calls a new version of a launch template is not found (EC2 API,
	// "Eventual consistency").
	Unseen int
	// EndedTokens refuses the repetition of a launch whose machines have all ended, as RunInstances does
	// since 2025 (IdempotentInstanceTerminated).
	EndedTokens bool
	// Typeless leaves the instance type out of errors, which name requirements then.
	Typeless bool
	// ImageGone lets launches find the image deregistered.
	ImageGone bool
}

// Odd makes the shim do odds from now on.
func (s *Shim) Odd(o Odds) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.odds = o
}

// versionMade notes that a version of a template is new.
func (s *Shim) versionMade() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unseen = s.odds.Unseen
}

// odd returns how EC2 refuses a CreateFleet call now that it would take at another time. The lock is held.
func (s *Shim) odd() *failure {
	if s.odds.Bucket != nil && !s.odds.Bucket.Allow() {
		return &failure{http.StatusServiceUnavailable, "RequestLimitExceeded", "Request limit exceeded."}
	}
	if s.unseen > 0 {
		s.unseen--
		return bad("InvalidLaunchTemplateId.VersionNotFound", "Could not find launch template version")
	}
	return nil
}

// replayed returns the answer to a token that is known.
func (s *Shim) replayed(known memory) (string, *failure) {
	if !s.odds.EndedTokens {
		return known.answer, nil
	}
	root, err := parseXML([]byte(el("x", known.answer)))
	if err != nil {
		return "", &failure{http.StatusInternalServerError, "InternalError", err.Error()}
	}
	ids := url.Values{}
	for i, id := range root.all("fleetInstanceSet", "item", "instanceIds", "item") {
		ids.Set(fmt.Sprintf("InstanceId.%d", i+1), id.text)
	}
	if len(ids) == 0 {
		return known.answer, nil
	}
	ids.Set("Action", "DescribeInstances")
	root, failed := s.call("ec2", ids)
	if failed != nil {
		return "", failed
	}
	for _, state := range root.all("reservationSet", "item", "instancesSet", "item", "instanceState", "name") {
		if state.text != "terminated" && state.text != "shutting-down" {
			return known.answer, nil
		}
	}
	return "", bad("IdempotentInstanceTerminated", "The instances of this client token have been terminated")
}

// parts returns what a launch finds missing of what the template's version names.
func (s *Shim) parts(data *element) *failure {
	image := data.get("imageId")
	root, failed := s.call("ec2", form("DescribeImages", "ImageId.1", image))
	if failed != nil || s.odds.ImageGone || len(root.all("imagesSet", "item")) == 0 {
		return bad("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", image)
	}
	for _, group := range data.all("securityGroupIdSet", "item") {
		if _, failed := s.call("ec2", form("DescribeSecurityGroups", "GroupId.1", group.text)); failed != nil {
			return failed
		}
	}
	if name := data.get("iamInstanceProfile", "name"); name != "" {
		if _, failed := s.call("iam", form("GetInstanceProfile", "InstanceProfileName", name)); failed != nil {
			return bad("InvalidParameterValue", "Value (%s) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", name)
		}
	}
	return nil
}
