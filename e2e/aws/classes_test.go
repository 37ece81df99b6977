package aws

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
)

// Two classes of different architectures in one installation: each request gets a machine of its class, with the
// image and the program of its architecture, and neither serves the other's. The arm64 machine is a folder of this
// computer and runs what this runs.
func TestClasses_OfTwoArchitectures(t *testing.T) {
	t.Parallel()
	const armImage = "ami-0000a64a"
	var mu sync.Mutex
	var fetched []string
	programs := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		fetched = append(fetched, r.URL.Path)
		mu.Unlock()
		http.ServeFile(rw, r, program.Binary)
	}))
	defer programs.Close()
	w := newWorld(t, func(w *world) {
		w.cloud.SetImageFor(armImage, "arm64")
		w.env = []string{
			"REMUDA_CLASSES={small: {cpu: 2, mem: 4096, exclude: ['c6i.*']}, arm: {cpu: 2, mem: 4096, arch: arm64}}",
			fmt.Sprintf("REMUDA_EC2_AMI={x86_64: %s, arm64: %s}", ec2test.AMI, armImage),
			fmt.Sprintf("REMUDA_EC2_BINARY_URL={x86_64: %s/x86_64, arm64: %s/arm64}", programs.URL, programs.URL),
		}
	})
	w.install()
	w.begin()
	want := map[string]ec2test.Instance{"small": {Type: "m5.large", Image: ec2test.AMI}, "arm": {Type: "c7g.large", Image: armImage}}
	for i, class := range []string{"arm", "small", "arm"} { // the third may find a warm machine of its class
		run := fmt.Sprint(4700 + i)
		if _, err := w.Remuda(w.Context(), "request", "--id", run, "--count", "1", "--resource-class", class, "--timeout", patience.String()); err != nil {
			t.Fatalf("request of class %s: %v", class, err)
		}
		if _, err := w.Remuda(w.Context(), "release", "--id", run); err != nil {
			t.Fatalf("release of class %s: %v", class, err)
		}
	}
	got := map[string]int{}
	for _, in := range w.cloud.Instances() {
		class := in.Tags["remuda-class"]
		got[class]++
		if in.Type != want[class].Type || in.Image != want[class].Image {
			t.Errorf("class %s has %s of image %s, want %s of %s", class, in.Type, in.Image, want[class].Type, want[class].Image)
		}
	}
	if got["small"] != 1 || got["arm"] < 1 || len(got) != 2 {
		t.Errorf("machines by class = %v, want one small, and arm", got)
	}
	mu.Lock()
	if n := len(w.cloud.Instances()); len(fetched) != n || !slices.Contains(fetched, "/x86_64") || !slices.Contains(fetched, "/arm64") {
		t.Errorf("%d machines fetched %q, want each that of its architecture", n, fetched)
	}
	mu.Unlock()
	if _, err := w.Remuda(w.Context(), "drain", "--all", "--now", "--timeout", patience.String()); err != nil {
		t.Errorf("drain: %v", err)
	}
	w.left()
}
