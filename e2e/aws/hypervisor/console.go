package hypervisor

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// programs are those of a machine that cannot be executed here. Each hands its arguments to the
// hypervisor and ends with its verdict.
var programs = map[string]func(m *machine, args []string) error{
	"systemctl": (*machine).systemctl,
	"shutdown":  (*machine).shutdown,
	"poweroff":  func(m *machine, _ []string) error { m.powerOff(); return nil },
	// What is missing on the computer that runs the machines stays so.
	"apt-get": noPackages,
	"dnf":     noPackages,
	"useradd": func(*machine, []string) error { return errors.New("no users are made here") },
}

func noPackages(*machine, []string) error { return nil }

// standIns writes the programs. Those who call them give 2 s at least.
func (m *machine) standIns() error {
	if err := os.MkdirAll(m.bin, 0o700); err != nil {
		return err
	}
	for name := range programs {
		text := fmt.Sprintf("#!/bin/sh\nexec curl --silent --show-error --fail --max-time 60 --data-binary \"$*\" %s/console/%s\n", m.web.URL, name)
		if err := os.WriteFile(filepath.Join(m.bin, name), []byte(text), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// serve answers the stand-ins and those who ask for metadata.
func (m *machine) serve() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /console/{program}", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		program := programs[r.PathValue("program")]
		if err == nil && program == nil {
			err = fmt.Errorf("no program %s", r.PathValue("program"))
		}
		if err == nil {
			err = program(m, strings.Fields(string(body)))
		}
		if err != nil {
			m.logf("%s %s: %v", r.PathValue("program"), body, err)
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.Handle("/latest/", m.meta)
	return mux
}

func (m *machine) systemctl(args []string) error {
	switch line := strings.Join(args, " "); {
	case line == "daemon-reload":
		return nil
	case line == "poweroff" || line == "poweroff --force":
		m.powerOff()
		return nil
	case len(args) == 3 && strings.HasPrefix(line, "enable --now "):
		return m.enable(args[2])
	default:
		return fmt.Errorf("systemctl %s: not known here", line)
	}
}

// shutdown knows now, in some minutes, and the recall of that.
func (m *machine) shutdown(args []string) error {
	line := strings.Join(args, " ")
	minutes, timed := strings.CutPrefix(line, "-P +")
	switch {
	case line == "-P now":
		m.powerOff()
		return nil
	case line == "-c":
		m.schedule(nil)
		return nil
	case timed:
		n, err := strconv.Atoi(minutes)
		if err != nil {
			return err
		}
		m.schedule(time.AfterFunc(time.Duration(n)*time.Minute, m.powerOff))
		return nil
	default:
		return fmt.Errorf("shutdown %s: not known here", line)
	}
}

// schedule replaces the scheduled power-off.
func (m *machine) schedule(t *time.Timer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.timer != nil {
		m.timer.Stop()
	}
	m.timer = t
	if m.off && t != nil {
		t.Stop()
	}
}
