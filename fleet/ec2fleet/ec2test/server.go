package ec2test

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// What a new Server has. Its subnets are one per zone, with 250 free addresses each.
const (
	AMI     = "ami-0123456789abcdef0" // x86_64, root device /dev/xvda
	Group   = "sg-0123456789abcdef0"
	Profile = "remuda-agent"
	RoleID  = "AROAREMUDATESTROLE01"
	VPC     = "vpc-0123456789abcdef0"
)

// change is how long a machine is pending, and shutting down.
const change = 10 * time.Millisecond

// Subnet is one that exists.
type Subnet struct {
	ID   string
	Zone string
	Free int // addresses
	VPC  string
}

// Instance is one that was ever launched.
type Instance struct {
	ID         string
	Type       string
	Zone       string
	Subnet     string
	Image      string
	Spot       bool
	Tags       map[string]string
	VolumeTags map[string]string
	LaunchedAt time.Time
	EndedAt    time.Time // zero while it lives
	Stopped    bool
	UserData   string // as its launch template has it
	Terminates bool   // when it powers off; else it is stopped
	ShowsTags  bool   // by its metadata service
}

// Fault makes one call fail.
type Fault struct {
	Status  int // 0: the connection breaks
	Code    string
	Message string
	After   bool // the call has its effect first
}

// Pool is where EC2 takes an instance from; an empty field stands for any.
type Pool struct {
	Type string
	Zone string
}

// Server is EC2 in memory. Everything may be set at any time.
type Server struct {
	URL string

	tb testing.TB

	mu         sync.Mutex
	types      []Type
	subnets    []Subnet
	images     map[string]string // id: architecture
	parameters map[string]string // of Systems Manager: value by name
	groups     map[string]string // id: VPC
	profiles   map[string]string // name: role id
	templates  []*launchTemplate
	instances  map[string]*Instance
	order      []string
	tokens     map[string]memory
	versions   map[string]string // client token: answer
	limit      int
	refused    map[Pool]failure
	stuck      map[string]string // instance: code with which it cannot be terminated
	faults     map[string][]Fault
	denied     map[string]bool
	fence      [2]string // tag and value without which nothing can be terminated
	page       int
	lag        time.Duration
	odds       Odds
	requests   map[string][]url.Values
}

// memory is what was answered to a token.
type memory struct {
	form     string
	answer   string
	launched []*Instance
}

// New starts a server that ends with the test. It fails the test on any request that EC2 would refuse
// as malformed.
func New(tb testing.TB) *Server {
	s := &Server{
		tb: tb, types: Types(), images: map[string]string{AMI: "x86_64"}, groups: map[string]string{Group: VPC},
		profiles: map[string]string{Profile: RoleID}, instances: make(map[string]*Instance),
		tokens: make(map[string]memory), versions: make(map[string]string), limit: -1, parameters: make(map[string]string),
		refused: make(map[Pool]failure), stuck: make(map[string]string), faults: make(map[string][]Fault),
		denied: make(map[string]bool), requests: make(map[string][]url.Values),
	}
	for i, zone := range []string{"a", "b", "c"} {
		s.subnets = append(s.subnets, Subnet{ID: fmt.Sprintf("subnet-0000000%d", i+1), Zone: "us-east-1" + zone, Free: 250, VPC: VPC})
	}
	web := httptest.NewServer(s)
	tb.Cleanup(web.Close)
	s.URL = web.URL
	return s
}

// ServeHTTP answers a request of EC2, IAM or Systems Manager.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Amz-Target") == "AmazonSSM."+getParameters {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.serveParameter(w, r)
		return
	}
	form, err := readForm(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	q := parse(form)
	action := q.str("Action")
	isIAM := action == "GetInstanceProfile"
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[action] = append(s.requests[action], form)
	fault, faulty := s.nextFault(action)
	if faulty && !fault.After {
		fault.answer(w, isIAM)
		return
	}
	if s.denied[action] {
		f := unauthorized()
		if isIAM {
			f.code = "AccessDenied"
		}
		f.answer(w, isIAM)
		return
	}
	content, failed := s.serve(action, q)
	switch {
	case faulty:
		fault.answer(w, isIAM)
	case failed != nil:
		failed.answer(w, isIAM)
	default:
		answer(w, action, content)
	}
}

func unauthorized() *failure {
	return &failure{http.StatusForbidden, "UnauthorizedOperation", "You are not authorized to perform this operation. Encoded authorization failure message: " + strings.Repeat("x", 2000)}
}

func (s *Server) nextFault(action string) (Fault, bool) {
	queue := s.faults[action]
	if len(queue) == 0 {
		return Fault{}, false
	}
	s.faults[action] = queue[1:]
	return queue[0], true
}

func (f Fault) answer(w http.ResponseWriter, isIAM bool) {
	if f.Status == 0 {
		panic(http.ErrAbortHandler) // breaks the connection
	}
	(&failure{f.Status, f.Code, f.Message}).answer(w, isIAM)
}

// malformed fails the test: a request of ours that EC2 would refuse whatever there is.
func malformed(tb testing.TB, action string, f *failure) *failure {
	if f != nil {
		tb.Errorf("%s: EC2 would refuse this request: %s: %s", action, f.code, f.message)
	}
	return f
}

func (s *Server) serve(action string, q *node) (string, *failure) {
	switch action {
	case "CreateFleet":
		return s.createFleet(q)
	case "TerminateInstances":
		return s.terminate(q)
	case "DescribeInstances":
		return s.describeInstances(q)
	case "DescribeVolumes":
		return s.describeVolumes(q)
	case "DescribeInstanceTypes":
		return s.describeTypes(q)
	case "DescribeInstanceTypeOfferings":
		return s.describeOfferings(q)
	case "DescribeSubnets":
		return s.describeSubnets(q)
	case "DescribeSecurityGroups":
		return s.describeGroups(q)
	case "DescribeImages":
		return s.describeImages(q)
	case "DescribeLaunchTemplates":
		return s.describeTemplates(q)
	case "DescribeLaunchTemplateVersions":
		return s.describeVersions(q)
	case "CreateLaunchTemplate":
		return s.createTemplate(q)
	case "CreateLaunchTemplateVersion":
		return s.createVersion(q)
	case "ModifyLaunchTemplate":
		return s.modifyTemplate(q)
	case "DeleteLaunchTemplateVersions":
		return s.deleteVersions(q)
	case "GetInstanceProfile":
		return s.getProfile(q)
	}
	return "", bad("InvalidAction", "The action %s is not valid for this web service.", action)
}

func newID(prefix string) string {
	var b [9]byte
	rand.Read(b[:]) // never fails
	return prefix + hex.EncodeToString(b[:])[:17]
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
