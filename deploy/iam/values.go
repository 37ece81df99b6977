package iam

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// Values describe one installation. No value but Subject may hold a wildcard, none a variable of IAM or white space.
type Values struct {
	Partition string // aws (default), aws-cn or aws-us-gov
	Region    string // such as eu-west-1
	Account   string // 12 digits
	Name      string // of the installation, as in ec2://<name>: the value of the tag remuda-name

	Table  string // as in dynamodb://<table>; default: Name
	Events string // queue of notifications; default: <table>-events
	Queues string // prefix of the pool's queues, as in sqs://<prefix>; default: Name

	Bucket string // as ec2.bucket; default: <name>-<account>-<region>, with - for _

	AgentRole    string // name, with its path if it has one; default: <name>-agent
	AgentProfile string // instance profile; default: AgentRole

	Secret string // of Secrets Manager with GitHub's credentials, as in secretsmanager:<name>; default: <name>/github

	Subnets        []string // subnets of instances; default: any
	SecurityGroups []string // security groups of instances; default: any

	// Accounts are the owners of subnets and security groups, by id. A missing id means any account.
	Accounts map[string]string

	Owner   string // user or organization at GitHub that owns the repository; for WorkflowTrust only
	Repo    string // name of the repository without its owner; for WorkflowTrust only
	Subject string // subject of the tokens that may take the role, such as ref:refs/heads/main; default: * for any
	RunID   string // GitHub run id; for WorkflowSession only
}

func (v Values) withDefaults() Values {
	or := func(value *string, otherwise string) {
		if *value == "" {
			*value = otherwise
		}
	}
	or(&v.Partition, "aws")
	or(&v.Table, v.Name)
	or(&v.Events, v.Table+"-events")
	or(&v.Queues, v.Name)
	if v.Account != "" && v.Region != "" {
		or(&v.Bucket, strings.ReplaceAll(strings.ToLower(v.Name+"-"+v.Account+"-"+v.Region), "_", "-"))
	}
	or(&v.Secret, v.Name+"/github")
	or(&v.AgentRole, v.Name+"-agent")
	or(&v.AgentProfile, v.AgentRole)
	or(&v.Subject, "*")
	return v
}

// field is a value with its form.
type field struct {
	name, value string
	form        func() *regexp.Regexp
	says        string // the form, for people
}

var (
	partitionForm = lazyregexp.New(`^aws(-cn|-us-gov)?$`)
	regionForm    = lazyregexp.New(`^[a-z]{2}(-[a-z]+)+-[0-9]{1,2}$`)
	accountForm   = lazyregexp.New(`^[0-9]{12}$`)
	nameForm      = lazyregexp.New(`^[A-Za-z0-9_-]{3,54}$`)
	tableForm     = lazyregexp.New(`^[A-Za-z0-9_.-]{3,255}$`)
	queueForm     = lazyregexp.New(`^[A-Za-z0-9_-]{1,80}$`)
	roleForm      = lazyregexp.New(`^([A-Za-z0-9_+=,.@-]+/)*[A-Za-z0-9_+=,.@-]{1,128}$`)
	bucketForm    = lazyregexp.New(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	secretForm    = lazyregexp.New(`^[A-Za-z0-9/_+=.@-]{1,512}$`)
	subnetForm    = lazyregexp.New(`^subnet-[0-9a-f]{8,17}$`)
	groupForm     = lazyregexp.New(`^sg-[0-9a-f]{8,17}$`)
	ownerForm     = lazyregexp.New(`^[A-Za-z0-9_-]+$`)
	repoForm      = lazyregexp.New(`^[A-Za-z0-9_.-]+$`)
	subjectForm   = lazyregexp.New(`^(\*|pull_request|environment:[A-Za-z0-9_.-]+|ref:refs/(heads|tags)/[A-Za-z0-9_./-]+\*?)$`)
	runIDForm     = lazyregexp.New(`^[0-9]{1,20}$`)
)

// fields lists every value of v that is no list.
func (v Values) fields() []field {
	return []field{
		{"Partition", v.Partition, partitionForm, "aws, aws-cn or aws-us-gov"},
		{"Region", v.Region, regionForm, "a region such as eu-west-1"},
		{"Account", v.Account, accountForm, "12 digits"},
		// A pool's queues are named <prefix>-… only up to this length (package sqspool).
		{"Name", v.Name, nameForm, "3 to 54 letters, digits, _ and -"},
		{"Table", v.Table, tableForm, "3 to 255 letters, digits, _, . and -"},
		{"Events", v.Events, queueForm, "1 to 80 letters, digits, _ and -"},
		{"Queues", v.Queues, nameForm, "3 to 54 letters, digits, _ and -"},
		{"Bucket", v.Bucket, bucketForm, "3 to 63 small letters, digits, - and ."},
		{"Secret", v.Secret, secretForm, "1 to 512 letters, digits and /_+=.@-"},
		{"AgentRole", v.AgentRole, roleForm, "the name of a role, with its path"},
		{"AgentProfile", v.AgentProfile, roleForm, "the name of an instance profile, with its path"},
		{"Owner", v.Owner, ownerForm, "letters, digits, - and _, as in github.com/OWNER/REPO"},
		{"Repo", v.Repo, repoForm, "letters, digits, -, _ and ., as in github.com/OWNER/REPO"},
		{"Subject", v.Subject, subjectForm, "*, pull_request, environment:<name>, or ref:refs/heads/<branch> or ref:refs/tags/<tag>, which may end with *"},
		{"RunID", v.RunID, runIDForm, "1 to 20 digits"},
	}
}

// get returns the value of a placeholder that stands for one.
func (v Values) get(name string) (string, error) {
	if name == "Domain" { // of services' names
		if v.Partition == "aws-cn" {
			return "amazonaws.com.cn", nil
		}
		return "amazonaws.com", nil
	}
	for _, f := range v.fields() {
		if f.name == name {
			if f.value == "" {
				return "", fmt.Errorf("%s is missing, want %s", name, f.says)
			}
			return f.value, nil
		}
	}
	return "", fmt.Errorf("the document has an unknown placeholder %s", name)
}

// list returns the resources that a placeholder for several stands for.
func (v Values) list(name string) ([]string, bool) {
	var kind string
	var ids []string
	switch name {
	case "Subnets":
		kind, ids = "subnet", v.Subnets
	case "SecurityGroups":
		kind, ids = "security-group", v.SecurityGroups
	default:
		return nil, false
	}
	if len(ids) == 0 {
		ids = []string{"*"}
	}
	var out []string
	for _, id := range ids {
		account := v.Accounts[id]
		if account == "" { // another account may share its subnets and security groups with this one (AWS RAM)
			account = "*"
		}
		out = append(out, strings.Join([]string{"arn", v.Partition, "ec2", v.Region, account, kind + "/" + id}, ":"))
	}
	return out, true
}

// check reports every value that is set and malformed. What a document needs and does not get is found
// by get.
func (v Values) check() error {
	var errs []error
	fields := v.fields()
	fields = slices.DeleteFunc(fields, func(f field) bool { return f.value == "" })
	for _, id := range v.Subnets {
		fields = append(fields, field{"Subnets", id, subnetForm, "ids such as subnet-0123456789abcdef0"})
	}
	for _, id := range v.SecurityGroups {
		fields = append(fields, field{"SecurityGroups", id, groupForm, "ids such as sg-0123456789abcdef0"})
	}
	for id, account := range v.Accounts {
		fields = append(fields, field{"Accounts of " + id, account, accountForm, "12 digits"})
	}
	for _, f := range fields {
		if !f.form().MatchString(f.value) {
			errs = append(errs, fmt.Errorf("%s must be %s, got %q", f.name, f.says, f.value))
		}
	}
	return errors.Join(errs...)
}
