package hypervisor

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// unit is what is understood of a unit file of systemd.
type unit struct {
	name       string
	exec       []string
	env        []string
	stateDir   string
	stateMode  os.FileMode
	always     bool // Restart=always
	pause      time.Duration
	burst      int // StartLimitBurst, starts within interval
	interval   time.Duration
	limitPower bool // StartLimitAction=poweroff-force
}

// unit reads a unit file of the machine. Every absolute path in it is below the machine's root.
func (m *machine) unit(name string) (unit, error) {
	u := unit{name: name}
	text, err := os.ReadFile(filepath.Join(m.root, "etc/systemd/system", filepath.Base(name)))
	if err != nil {
		return u, err
	}
	for line := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || strings.HasPrefix(key, "#") {
			continue
		}
		if err := u.set(m.root, key, value); err != nil {
			return u, fmt.Errorf("unit %s: %s=%s: %w", name, key, value, err)
		}
	}
	if len(u.exec) == 0 {
		return u, fmt.Errorf("unit %s: no ExecStart", name)
	}
	return u, nil
}

func (u *unit) set(root, key, value string) (err error) {
	switch key {
	case "ExecStart":
		u.exec = strings.Fields(value)
		for i, word := range u.exec {
			if strings.HasPrefix(word, "/") {
				u.exec[i] = root + word
			}
		}
	case "Environment":
		u.env = append(u.env, value)
	case "EnvironmentFile":
		u.env, err = environmentFile(u.env, root, value)
	case "StateDirectory":
		u.stateDir = filepath.Join(root, "var/lib", value)
	case "StateDirectoryMode":
		var mode uint64
		mode, err = strconv.ParseUint(value, 8, 12)
		u.stateMode = os.FileMode(mode)
	case "Restart":
		u.always = value == "always"
	case "RestartSec":
		u.pause, err = seconds(value)
	case "StartLimitBurst":
		u.burst, err = strconv.Atoi(value)
	case "StartLimitIntervalSec":
		u.interval, err = seconds(value)
	case "StartLimitAction":
		u.limitPower = value == "poweroff-force"
	}
	return err
}

// environmentFile adds the lines of a file; one that is named with a dash may be missing.
func environmentFile(env []string, root, value string) ([]string, error) {
	name, optional := strings.CutPrefix(value, "-")
	text, err := os.ReadFile(root + name)
	if err != nil && !(optional && os.IsNotExist(err)) {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			env = append(env, line)
		}
	}
	return env, nil
}

func seconds(value string) (time.Duration, error) {
	n, err := strconv.Atoi(value)
	return time.Duration(n) * time.Second, err
}

// enable starts a unit, and keeps it up as the unit says. It returns once the program is executed.
func (m *machine) enable(name string) error {
	u, err := m.unit(name)
	if err != nil {
		return err
	}
	if u.stateDir != "" {
		if err := os.MkdirAll(u.stateDir, u.stateMode); err != nil {
			return err
		}
	}
	wait, err := m.launch(u)
	if err != nil {
		return err
	}
	m.working.Go(func() { m.keep(u, wait) })
	return nil
}

// keep starts the unit again and again.
func (m *machine) keep(u unit, wait func() error) {
	starts := []time.Time{time.Now()}
	for {
		err := wait()
		m.mu.Lock()
		again := u.always && !m.off && !m.crashed
		m.mu.Unlock()
		m.logf("%s ended, to be started again %t: %v", u.name, again, err)
		if !again {
			return
		}
		select {
		case <-m.ctx.Done():
			return
		case <-time.After(u.pause):
		}
		now := time.Now()
		if u.burst > 0 && len(starts) >= u.burst && now.Sub(starts[len(starts)-u.burst]) < u.interval {
			m.logf("%s is started too often", u.name)
			if u.limitPower {
				m.powerOff()
			}
			return
		}
		starts = append(starts, now)
		if wait, err = m.launch(u); err != nil {
			m.logf("start %s: %v", u.name, err)
			return
		}
	}
}

// launch executes the unit's program and returns what waits for its end.
func (m *machine) launch(u unit) (wait func() error, err error) {
	cmd, err := m.command(u.name+".log", m.environ(u.env...), u.exec...)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.services[u.name] = cmd.Process
	m.mu.Unlock()
	return func() error {
		err := cmd.Wait()
		m.mu.Lock()
		delete(m.services, u.name)
		m.mu.Unlock()
		return err
	}, nil
}
