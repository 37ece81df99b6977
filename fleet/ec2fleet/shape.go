package ec2fleet

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// shape is all that a version of the launch template says, in a form in which what we want and what
// EC2 shows can be compared (H55).
type shape struct {
	Image        string
	Profile      string // name or ARN
	UserData     string // base64
	Shutdown     string
	Groups       []string // sorted
	Tokens       string   // of the metadata service: required is IMDSv2
	Hops         int32
	Endpoint     string
	MetadataTags string
	Monitoring   bool
	RootDevice   string
	RootGiB      int32
	Others       []string // fields that we never set
}

// hops keeps containers away from the metadata service: its answers pass no router (EC2 User Guide,
// "Configure the instance metadata service").
const hops = 1

// want is the shape of our options, with this image.
func (o *Options) want(image types.Image) shape {
	s := shape{
		Image: aws.ToString(image.ImageId), Profile: o.InstanceProfile, Shutdown: string(types.ShutdownBehaviorTerminate),
		Groups: slices.Sorted(slices.Values(o.SecurityGroups)),
		Tokens: string(types.LaunchTemplateHttpTokensStateRequired), Hops: hops,
		Endpoint:     string(types.LaunchTemplateInstanceMetadataEndpointStateEnabled),
		MetadataTags: string(types.LaunchTemplateInstanceMetadataTagsStateEnabled),
	}
	if o.UserData != "" {
		s.UserData = base64.StdEncoding.EncodeToString([]byte(o.UserData))
	}
	if o.RootVolumeGiB > 0 {
		s.RootDevice, s.RootGiB = cmp.Or(o.RootDevice, aws.ToString(image.RootDeviceName)), o.RootVolumeGiB
	}
	return s
}

// data is the shape as EC2 takes it. Tags are not in it: every launch gives its own.
func (s shape) data() *types.RequestLaunchTemplateData {
	d := &types.RequestLaunchTemplateData{
		ImageId:                           aws.String(s.Image),
		IamInstanceProfile:                &types.LaunchTemplateIamInstanceProfileSpecificationRequest{},
		InstanceInitiatedShutdownBehavior: types.ShutdownBehavior(s.Shutdown),
		SecurityGroupIds:                  s.Groups,
		MetadataOptions: &types.LaunchTemplateInstanceMetadataOptionsRequest{
			HttpTokens: types.LaunchTemplateHttpTokensState(s.Tokens), HttpPutResponseHopLimit: aws.Int32(s.Hops),
			HttpEndpoint:         types.LaunchTemplateInstanceMetadataEndpointState(s.Endpoint),
			InstanceMetadataTags: types.LaunchTemplateInstanceMetadataTagsState(s.MetadataTags),
		},
		Monitoring: &types.LaunchTemplatesMonitoringRequest{Enabled: aws.Bool(s.Monitoring)},
	}
	if strings.HasPrefix(s.Profile, "arn:") {
		d.IamInstanceProfile.Arn = aws.String(s.Profile)
	} else {
		d.IamInstanceProfile.Name = aws.String(s.Profile)
	}
	if s.UserData != "" {
		d.UserData = aws.String(s.UserData)
	}
	if s.RootGiB > 0 {
		d.BlockDeviceMappings = []types.LaunchTemplateBlockDeviceMappingRequest{{
			DeviceName: aws.String(s.RootDevice),
			Ebs: &types.LaunchTemplateEbsBlockDeviceRequest{
				VolumeSize: aws.Int32(s.RootGiB), VolumeType: types.VolumeTypeGp3, DeleteOnTermination: aws.Bool(true),
			},
		}}
	}
	return d
}

// shapeOf reads what EC2 shows. Whatever we do not set is named in Others.
func shapeOf(d *types.ResponseLaunchTemplateData) shape {
	s := shape{
		Image: aws.ToString(d.ImageId), UserData: aws.ToString(d.UserData),
		Shutdown: string(d.InstanceInitiatedShutdownBehavior),
		Groups:   slices.Sorted(slices.Values(d.SecurityGroupIds)),
	}
	if p := d.IamInstanceProfile; p != nil {
		s.Profile = cmp.Or(aws.ToString(p.Arn), aws.ToString(p.Name))
	}
	if m := d.MetadataOptions; m != nil {
		s.Tokens, s.Hops = string(m.HttpTokens), aws.ToInt32(m.HttpPutResponseHopLimit)
		s.Endpoint, s.MetadataTags = string(m.HttpEndpoint), string(m.InstanceMetadataTags)
		rest := *m
		if rest.HttpProtocolIpv6 == types.LaunchTemplateInstanceMetadataProtocolIpv6Disabled {
			rest.HttpProtocolIpv6 = "" // as if it had not been set
		}
		s.Others = append(s.Others, othersIn("MetadataOptions.", rest, "HttpTokens", "HttpPutResponseHopLimit", "HttpEndpoint", "InstanceMetadataTags", "State")...)
	}
	s.Monitoring = d.Monitoring != nil && aws.ToBool(d.Monitoring.Enabled)
	for i, b := range d.BlockDeviceMappings {
		if i == 0 && b.Ebs != nil && b.Ebs.VolumeType == types.VolumeTypeGp3 && aws.ToBool(b.Ebs.DeleteOnTermination) {
			s.RootDevice, s.RootGiB = aws.ToString(b.DeviceName), aws.ToInt32(b.Ebs.VolumeSize)
			s.Others = append(s.Others, othersIn("BlockDeviceMappings.", b, "DeviceName", "Ebs")...)
			s.Others = append(s.Others, othersIn("BlockDeviceMappings.Ebs.", *b.Ebs, "VolumeSize", "VolumeType", "DeleteOnTermination")...)
			continue
		}
		s.Others = append(s.Others, "BlockDeviceMappings")
	}
	for _, t := range d.TagSpecifications {
		if t.ResourceType != types.ResourceTypeLaunchTemplate { // says nothing about machines
			s.Others = append(s.Others, "TagSpecifications")
		}
	}
	s.Others = append(s.Others, othersIn("", *d, ours...)...)
	return s
}

// ours are the fields of a version's data that shape has.
var ours = []string{
	"BlockDeviceMappings", "IamInstanceProfile", "ImageId", "InstanceInitiatedShutdownBehavior", "MetadataOptions",
	"Monitoring", "SecurityGroupIds", "TagSpecifications", "UserData",
}

// othersIn returns the names, after prefix, of the fields of a struct besides known that say anything.
func othersIn(prefix string, data any, known ...string) []string {
	var names []string
	for field, value := range reflect.ValueOf(data).Fields() {
		if field.IsExported() && !slices.Contains(known, field.Name) && says(value) {
			names = append(names, prefix+field.Name)
		}
	}
	return names
}

// says reports whether a value differs from not being there: EC2 may show a field as false or empty.
func says(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer:
		return !v.IsNil() && says(v.Elem())
	case reflect.Slice:
		return v.Len() > 0
	case reflect.Struct:
		for field, value := range v.Fields() {
			if field.IsExported() && says(value) {
				return true
			}
		}
		return false
	default:
		return !v.IsZero()
	}
}

// differs names the fields in which b is not a, without their values: user data is no one's business.
func (s shape) differs(b shape) []string {
	var names []string
	other := reflect.ValueOf(b)
	for field, value := range reflect.ValueOf(s).Fields() {
		if reflect.DeepEqual(value.Interface(), other.FieldByIndex(field.Index).Interface()) || value.Kind() == reflect.Slice && value.Len() == 0 && other.FieldByIndex(field.Index).Len() == 0 {
			continue
		}
		names = append(names, field.Name)
	}
	return names
}

// mark is the description of a version of this shape. Versions never change at EC2, so one with the
// mark is what was asked for, even if EC2 should show a field of it otherwise than it was given.
func (s shape) mark() string {
	form, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("shape is not plain data: %v", err)) // strings, numbers and slices of strings
	}
	sum := sha256.Sum256(form)
	return "remuda " + hex.EncodeToString(sum[:8])
}
