package ec2test

import (
	"crypto/rand"
	"encoding/hex"
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

	Public bool // its machines get public addresses
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

	ReasonCode    string // StateReason of an ended or stopped instance
	ReasonMessage string
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

	mu        sync.Mutex // guards all that follows, and all that is in it
	api       *api
	resources *resources
	templates *templates
	instances *instances
	fleets    *fleets
	faults    map[string][]Fault
	denied    map[string]bool
	requests  map[string][]url.Values
}

// New starts a server that ends with the test. It fails the test on any request that EC2 would refuse
// as malformed.
func New(tb testing.TB) *Server {
	a := &api{tb: tb}
	s := &Server{
		api: a, resources: newResources(a),
		templates: &templates{api: a, answers: make(map[string]string)},
		instances: &instances{api: a, byID: make(map[string]*Instance), stuck: make(map[string]string), consoles: make(map[string]Console)},
		faults:    make(map[string][]Fault), denied: make(map[string]bool), requests: make(map[string][]url.Values),
	}
	s.fleets = &fleets{
		api: a, resources: s.resources, templates: s.templates, instances: s.instances,
		tokens: make(map[string]memory), limit: -1, refused: make(map[Pool]failure),
	}
	web := httptest.NewServer(s)
	tb.Cleanup(web.Close)
	s.URL = web.URL
	return s
}

// ServeHTTP answers a request of EC2, IAM, Systems Manager or Service Quotas.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if serve, ok := map[string]http.HandlerFunc{
		"AmazonSSM." + getParameters: s.serveParameter, "ServiceQuotasV20190624." + getQuota: s.serveQuota,
	}[r.Header.Get("X-Amz-Target")]; ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		serve(w, r)
		return
	}
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	q := parse(r.PostForm)
	action := q.str("Action")
	isIAM := action == "GetInstanceProfile"
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[action] = append(s.requests[action], r.PostForm)
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

func (s *Server) serve(action string, q *node) (string, *failure) {
	serve, known := map[string]func(*node) (string, *failure){
		"CreateFleet":                    s.fleets.create,
		"TerminateInstances":             s.instances.terminate,
		"GetConsoleOutput":               s.instances.console,
		"DescribeInstances":              s.instances.describe,
		"DescribeVolumes":                s.instances.describeVolumes,
		"DescribeInstanceTypes":          s.resources.describeTypes,
		"DescribeInstanceTypeOfferings":  s.resources.describeOfferings,
		"DescribeRouteTables":            s.resources.describeRoutes,
		"DescribeSubnets":                s.resources.describeSubnets,
		"DescribeSecurityGroups":         s.resources.describeGroups,
		"DescribeImages":                 s.resources.describeImages,
		"DescribeLaunchTemplates":        s.templates.describe,
		"DescribeLaunchTemplateVersions": s.templates.describeVersions,
		"CreateLaunchTemplate":           s.templates.create,
		"CreateLaunchTemplateVersion":    s.templates.createVersion,
		"ModifyLaunchTemplate":           s.templates.modify,
		"DeleteLaunchTemplate":           s.templates.deleteTemplate,
		"DeleteLaunchTemplateVersions":   s.templates.deleteVersions,
		"GetInstanceProfile":             s.resources.getProfile,
	}[action]
	if !known {
		return "", bad("InvalidAction", "The action %s is not valid for this web service.", action)
	}
	return serve(q)
}

func newID(prefix string) string {
	var b [9]byte
	rand.Read(b[:]) // never fails
	return prefix + hex.EncodeToString(b[:])[:17]
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
