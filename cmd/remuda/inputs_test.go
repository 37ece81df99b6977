package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// scripts are typical values of agent.script, with the expected error; "": no error.
var scripts = map[string]struct{ text, want string }{
	"Shell":       {"#!/bin/sh\ntrue\n", ""},
	"Env":         {"#!/usr/bin/env bash\ntrue\n", ""},
	"Program":     {"\x7fELF\x02\x01", ""},
	"Bare":        {"apt-get install -y make\n", "names no absolute interpreter in its first line"},
	"LateShebang": {"# my script\n#!/bin/sh\n", "names no absolute interpreter in its first line"},
	"Relative":    {"#!bash\n", "names no absolute interpreter in its first line"},
	"NoName":      {"#!\ntrue\n", "names no absolute interpreter in its first line"},
	"CRLF":        {"#!/bin/sh\r\ntrue\r\n", "has Windows line endings"},
	"CRLFLater":   {"#!/bin/sh\ntrue\r\n", "has Windows line endings"},
	"BOM":         {"\ufeff#!/bin/sh\n", "has a byte order mark"},
	"UTF16":       {"\xff\xfe#\x00!\x00", "has a byte order mark or is not text"},
	"CloudConfig": {"#cloud-config\npackages: [make]\n", "is a cloud-init file"},
	"Empty":       {" \n", "is empty"},
}

// A script that cannot run is found by config, doctor and the controller, before an instance is paid for.
func TestInputs_Script_ReviewB10(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range scripts {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(tt.text), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := checkScript("agent.script", path, []byte(tt.text)); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("checkScript = %v, want %q", err, tt.want)
			}
			if tt.want == "" {
				newCLI(nil).ends(t, exitDone, "config", "--set", "agent.script="+path)
				return
			}
			for _, verb := range []string{"config", "controller"} {
				c := newCLI(nil)
				c.ends(t, exitUsage, verb, "--set", "github.url=https://github.com/o/r", "--set", "agent.script="+path)
				contains(t, c.err.String(), "agent.script: must be a runnable script, got", tt.want)
			}
			c := newCLI(nil)
			c.files["/script"] = tt.text
			c.ends(t, exitUsage, "config", "--set", "fleet=ec2://x?region=eu-west-1", "--set", "agent.runnerUser=ci", "--set", "agent.script=/script")
			contains(t, c.err.String(), tt.want)
		})
	}
	for name, tt := range map[string]struct {
		text, want string
		mode       os.FileMode
	}{
		"Mode":          {"#!/bin/sh\n", "must be executable (chmod +x)", 0o644},
		"NoInterpreter": {"#!/opt/no/such/bash -e\n", "must name an interpreter of this machine", 0o755},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(tt.text), tt.mode); err != nil {
				t.Fatal(err)
			}
			c := newCLI(nil)
			c.ends(t, exitUsage, "config", "--set", "agent.script="+path, "--set", "agent.scrub="+path)
			contains(t, c.err.String(), "agent.script: "+tt.want, "agent.scrub: "+tt.want)
		})
	}
}

// All problems show at once: an unknown key hides neither wrong values nor wrong files.
func TestConfig_AllProblemsAtOnce_ReviewW10(t *testing.T) {
	c := newCLI(nil)
	c.files["/r.yaml"] = "limits: {idel: 5m, idle: 0s}\ncaps: {maxInstances: 0}\nclasses: {a: {cpu: 2, mem: 4}}\ngithub: {tokenFile: /token}\n"
	c.files["/token"] = "ghp_x\n# old\n"
	c.ends(t, exitUsage, "config", "--config", "/r.yaml", "--set", "lease.tl=1s", "--set", "agent.script=/no/such/script")
	contains(t, c.err.String(), `unknown key "limits.idel"`, `unknown key "lease.tl"`, "caps.maxInstances: must be at least 1", "limits.idle: must be greater than 0", "classes.a.mem: must be 512", "it has more than one line", "agent.script: must be a file of this machine")
	if strings.Contains(c.err.String(), "ghp_x") {
		t.Errorf("the token is shown: %s", c.err.String())
	}
}

// A configuration in AWS is that of another host, whose files are not here.
func TestConfig_OfAnotherHost_ReviewB10(t *testing.T) {
	c := newCLI(nil)
	c.references.Load = func(context.Context, string) (aws.Config, error) { return aws.Config{}, errors.New("no credentials") }
	c.ends(t, exitUsage, "config", "--config", "ssm:/remuda/config", "--set", "agent.script=/no/such/script")
	contains(t, c.err.String(), "not checked here, because ssm:/remuda/config configures another host")
	if strings.Contains(c.err.String(), "agent.script") {
		t.Errorf("a file of another host is judged: %s", c.err.String())
	}
}

// remuda config calls no service, even for settings that name one.
func TestConfig_NoNetwork_ReviewB10(t *testing.T) {
	dialed := false
	refuse := func(string, string) (net.Conn, error) { dialed = true; return nil, errors.New("no network") }
	was := http.DefaultTransport
	http.DefaultTransport = &http.Transport{Dial: refuse} //nolint:staticcheck // of a test
	t.Cleanup(func() { http.DefaultTransport = was })
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		if conn, err := server.Accept(); err == nil {
			dialed = true
			_ = conn.Close()
		}
	}()
	c := newCLI(nil)
	endpoint := "http://" + server.Addr().String()
	c.env = append(c.env, "AWS_ENDPOINT_URL="+endpoint, "AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b", "HTTPS_PROXY="+endpoint, "HTTP_PROXY="+endpoint)
	c.files["/script"], c.files["/app.pem"] = "#!/bin/sh\n", appPEM(t)
	for _, args := range [][]string{
		{"github.secret=ssm:/remuda/github"}, {"github.appId=5", "github.appKeyFile=/app.pem"}, {"github.runnerGroup=linux"}, {"costs.prices=aws"},
	} {
		all := []string{"config", "--set", "github.url=" + endpoint + "/octo", "--set", "store=dynamodb://t?region=eu-west-1", "--set", "pool=sqs://t?region=eu-west-1",
			"--set", "fleet=ec2://x?region=eu-west-1", "--set", "agent.runnerUser=ci", "--set", "agent.script=/script"}
		for _, set := range args {
			all = append(all, "--set", set)
		}
		c.ends(t, exitDone, all...)
	}
	if dialed {
		t.Error("config made a network call")
	}
}
