package userdata

import (
	_ "embed"
	"strings"

	"github.com/remuda-run/remuda/deploy/systemd"
	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// host is the part of the script for the controller's host that is no function.
//
//go:embed host.sh
var host string

// command is how a unit starts the controller. The stack's host names its configuration in its environment.
var command = lazyregexp.New(`(?m)^(ExecStart=.* controller) .*$`)

// Host returns the user data of the controller's host but its first lines, which set name, region and bucket. It waits for
// the program that `remuda init --publish` puts into the bucket, and keeps the controller running.
func Host() string {
	unit := command().ReplaceAllString(comment().ReplaceAllString(systemd.Controller, ""), "$1")
	return "# shellcheck disable=SC2016\nservice=" + quote(unit) + "\n" + comment().ReplaceAllString(fetch, "") + comment().ReplaceAllString(host, "")
}

// HostHead returns the lines that come before Host. What is given must be safe between single quotes.
func HostHead(name, region, bucket string) string {
	return strings.Join([]string{"#!/bin/bash", "name='" + name + "'", "region='" + region + "'", "bucket='" + bucket + "'", ""}, "\n")
}
