package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/deploy/cloudformation"
)

const stackLong = `Prints the template of the stack that makes an installation on AWS, for CloudFormation: roles, table, bucket, secret,
configuration, alarms and the controller's host (deploy/README.md, "One stack").`

func newStackCmd(a *app) *cobra.Command {
	return exits(&cobra.Command{
		Use:   "stack",
		Short: "Print the CloudFormation template of an installation",
		Long:  stackLong,
		Example: `  remuda stack > remuda.yaml
  aws cloudformation deploy --stack-name remuda --template-file remuda.yaml --capabilities CAPABILITY_NAMED_IAM \
    --parameter-overrides Owner=owner Repo=name Vpc=vpc-0123456789abcdef0 Subnets=subnet-0123456789abcdef0`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(a.out, cloudformation.Template)
			return err
		},
	})
}
