// Package systemd holds the units of remuda's two daemons. The files beside it are what an operator
// reads and installs; user data carries the agent's, so that there is one place to change it.
package systemd

import _ "embed"

// AgentUnit is the file name of Agent.
const AgentUnit = "remuda-agent.service"

// Agent is the unit of the agent of an EC2 instance.
//
//go:embed remuda-agent.service
var Agent string

// ControllerUnit is the file name of Controller.
const ControllerUnit = "remuda-controller.service"

// Controller is the unit of the daemon.
//
//go:embed remuda-controller.service
var Controller string
