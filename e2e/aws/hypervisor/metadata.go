package hypervisor

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
)

// metadata is an instance's metadata service, version 2 only (EC2 User Guide, "Use the Instance
// Metadata Service to access instance metadata").
type metadata struct {
	token  string
	values map[string]string // by path below /latest/
}

// role is the name under which the credentials are.
const role = "machine"

func newMetadata(i ec2test.Instance, c *ststypes.Credentials) *metadata {
	region := strings.TrimRight(i.Zone, "abcdef")
	const meta, roles = "meta-data/", "meta-data/iam/security-credentials/"
	m := &metadata{token: rand.Text(), values: map[string]string{
		meta + "instance-id":                 i.ID,
		meta + "placement/region":            region,
		meta + "placement/availability-zone": i.Zone,
		roles:                                role,
		roles + role:                         credentials(c),
		"dynamic/instance-identity/document": text(map[string]any{"region": region, "instanceId": i.ID}),
	}}
	if i.ShowsTags {
		for key, value := range i.Tags {
			m.values[meta+"tags/instance/"+key] = value
		}
	}
	return m
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

// Headers of version 2.
const (
	headerToken = "X-Aws-Ec2-Metadata-Token"
	headerTTL   = "X-Aws-Ec2-Metadata-Token-Ttl-Seconds"
)

// ServeHTTP answers a question of the machine about itself.
func (m *metadata) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/latest/")
	switch {
	case r.Method == http.MethodPut && path == "api/token" && r.Header.Get(headerTTL) != "":
		w.Header().Set(headerTTL, r.Header.Get(headerTTL))
		_, _ = w.Write([]byte(m.token)) // who asked may be dead
		return
	case r.Method != http.MethodGet || subtle.ConstantTimeCompare([]byte(r.Header.Get(headerToken)), []byte(m.token)) != 1:
		http.Error(w, "Unauthorized", http.StatusUnauthorized)
		return
	}
	value, ok := m.values[path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write([]byte(value))
}
