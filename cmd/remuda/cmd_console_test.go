package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The console serves the page from the store, says where, answers under no foreign name, and ends when it is told to.
func TestConsole(t *testing.T) {
	st := memory(t, nil)
	launch(t, st, "i-1", time.Now())
	c := newCLI(st)
	said, out := io.Pipe()
	c.app.out = out
	ctx, interrupt := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() { code <- c.run(ctx, "console", "--no-browser") }()
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatalf("%v; stderr:\n%s", err, &c.err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	get := func(host string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSpace(line), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
	if code, body := get(""); code != http.StatusOK || !strings.Contains(body, "/instance/i-1") || !strings.Contains(body, "No controller ever led") {
		t.Errorf("GET / = %d, want the machine, and that nobody leads:\n%s", code, body)
	}
	if code, _ := get("evil.example"); code != http.StatusMisdirectedRequest {
		t.Errorf("GET / under a foreign name = %d, want 421", code)
	}
	interrupt()
	if code := <-code; code != exitDone {
		t.Errorf("exit code = %d, want %d; stderr:\n%s", code, exitDone, &c.err)
	}
}

func TestConsole_ListensOnLoopbackAlone(t *testing.T) {
	c := newCLI(memory(t, nil))
	for _, tt := range []struct{ listen, want string }{
		{"0.0.0.0:0", `--listen: must be a loopback address, such as 127.0.0.1:0, got "0.0.0.0:0"`},
		{":8080", `--listen: must be a loopback address`},
		{"127.0.0.1", `--listen: must be host:port`},
	} {
		c.ends(t, exitUsage, "console", "--no-browser", "--listen", tt.listen)
		contains(t, c.err.String(), tt.want)
	}
	if c.opened > 0 {
		t.Error("the store was opened all the same")
	}
}
