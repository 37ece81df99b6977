package ec2fleet

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/awserr"
)

// template is the default version of the launch template, as it was seen.
type template struct {
	id      string
	version string // number
	image   string // id
}

// name names t for ever, as templateVersion does.
func (t template) name() string { return templateVersion(t.id, t.version) }

// templates keeps a launch template of the installation, and knows what it is made of.
type templates struct {
	*client
	suffix   string // of its name, "" for that of classes without one of their own
	catalog  *catalog
	lister   *lister
	template cached[template]
	images   cached[image]

	mu         sync.Mutex
	switchedAt time.Time // when a version last ceased to be the default, or may have
}

// templateName is the name of the launch template.
func (ts *templates) templateName() string { return ts.name + "-machine" + ts.suffix }

func (ts *templates) templateResource() string { return "launch template " + ts.templateName() }

// present returns what a machine launched now would be made from.
func (ts *templates) present(ctx context.Context) (template, error) {
	return ts.template.get(ts.clock.Now(), templateLife, func() (template, error) {
		out, err := ts.ec2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{
			LaunchTemplateName: aws.String(ts.templateName()), Versions: []string{"$Default"},
		})
		if awserr.ClassOf(err) == awserr.NotFound { // someone deleted it: Ensure is about to make it again (H55)
			return template{}, awserr.Explain(err, "ec2:DescribeLaunchTemplateVersions", ts.templateResource())
		}
		if err != nil {
			return template{}, explain(err, "ec2:DescribeLaunchTemplateVersions", ts.templateResource())
		}
		if len(out.LaunchTemplateVersions) != 1 || out.LaunchTemplateVersions[0].LaunchTemplateData == nil {
			return template{}, fmt.Errorf("ec2:DescribeLaunchTemplateVersions on %s: no default version: %w", ts.templateResource(), fleet.ErrRefused)
		}
		v := out.LaunchTemplateVersions[0]
		return template{
			id:      aws.ToString(v.LaunchTemplateId),
			version: strconv.FormatInt(aws.ToInt64(v.VersionNumber), 10),
			image:   aws.ToString(v.LaunchTemplateData.ImageId),
		}, nil
	})
}
