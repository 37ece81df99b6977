package hypervisor

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
)

// role is the name under which the credentials are.
const role = "machine"

// Metadata is what an instance can learn of itself, with the credentials of its role.
func Metadata(i ec2test.Instance, c *ststypes.Credentials) *agenttest.Metadata {
	region := strings.TrimRight(i.Zone, "abcdef")
	const meta, roles = "meta-data/", "meta-data/iam/security-credentials/"
	values := map[string]string{
		meta + "instance-id":                 i.ID,
		meta + "placement/region":            region,
		meta + "placement/availability-zone": i.Zone,
		roles:                                role,
		roles + role:                         credentials(c),
		"dynamic/instance-identity/document": text(map[string]any{"region": region, "instanceId": i.ID}),
	}
	if i.ShowsTags {
		for key, value := range i.Tags {
			values[meta+"tags/instance/"+key] = value
		}
	}
	return agenttest.MetadataOf(values)
}

func credentials(c *ststypes.Credentials) string {
	return text(map[string]any{
		"Code": "Success", "Type": "AWS-HMAC", "LastUpdated": time.Now().UTC().Format(time.RFC3339),
		"AccessKeyId": aws.ToString(c.AccessKeyId), "SecretAccessKey": aws.ToString(c.SecretAccessKey),
		"Token": aws.ToString(c.SessionToken), "Expiration": aws.ToTime(c.Expiration).UTC().Format(time.RFC3339),
	})
}

func text(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of strings
	}
	return string(out)
}
