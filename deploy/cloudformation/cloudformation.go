// Package cloudformation holds the stack that makes an installation on AWS.
package cloudformation

import _ "embed"

// Template is the stack, as CloudFormation takes it.
//
//go:embed remuda.yaml
var Template string
