package awstest

import (
	"bufio"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
)

func TestChild_DiesWithACrashedTestBinary(t *testing.T) {
	cmd := again(t, "TestHelperCrash", envCrash+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "pid "); ok {
			if pid, err = strconv.Atoi(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || pid == 0 {
		t.Fatalf("crash: pid %d, %v, want a child and a killed process", pid, err)
	}
	// Its new parent may take a moment to reap it; a zombie is dead.
	dead := func() error {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if errors.Is(err, os.ErrNotExist) || err == nil && strings.Contains(string(stat), ") Z ") {
			return nil
		}
		return errors.Join(errors.New("it lives"), err)
	}
	if err := backoff.Retry(dead, backoff.NewExponentialBackOff(backoff.WithMaxElapsedTime(2*time.Minute))); err != nil {
		t.Errorf("child %d of a crashed process: %v", pid, err)
	}
}
