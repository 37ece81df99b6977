//go:build unix

package procfleet

import "slices"

// TypeInfo is an instance type that the fleet offers. Sizes are only claimed: nothing limits a
// machine to them.
type TypeInfo struct {
	Name     string
	CPU      int      // vCPUs
	Mem      int      // MiB
	Zones    []string // default: one zone, "local"
	Capacity int      // machines of this type that may live at once; 0: any number
}

const localZone = "local"

// catalogue has the real sizes of EC2's types (EC2 Instance Types Guide). The order is the order of
// preference. Burstable ones are there to be refused.
var catalogue = []TypeInfo{
	{Name: "c6i.large", CPU: 2, Mem: 4096},
	{Name: "c7g.large", CPU: 2, Mem: 4096},
	{Name: "m5.large", CPU: 2, Mem: 8192},
	{Name: "m6i.large", CPU: 2, Mem: 8192},
	{Name: "r6i.large", CPU: 2, Mem: 16384},
	{Name: "t3.micro", CPU: 2, Mem: 1024},
	{Name: "t3.large", CPU: 2, Mem: 8192},
	{Name: "c6i.xlarge", CPU: 4, Mem: 8192},
	{Name: "m5.xlarge", CPU: 4, Mem: 16384},
	{Name: "m6i.xlarge", CPU: 4, Mem: 16384},
	{Name: "r6i.xlarge", CPU: 4, Mem: 32768},
	{Name: "c6i.2xlarge", CPU: 8, Mem: 16384},
	{Name: "m6i.2xlarge", CPU: 8, Mem: 32768},
	{Name: "c6i.4xlarge", CPU: 16, Mem: 32768},
	{Name: "m6i.4xlarge", CPU: 16, Mem: 65536},
}

// Catalogue returns the types that a fleet without Options.Types offers.
func Catalogue() []TypeInfo { return slices.Clone(catalogue) }

func (t TypeInfo) zones() []string {
	if len(t.Zones) == 0 {
		return []string{localZone}
	}
	return t.Zones
}

// burstable reports whether the type is of EC2's T family (t3.large, t4g.micro): its CPU is a share
// that runs out, so it is never offered (S70).
func (t TypeInfo) burstable() bool {
	return len(t.Name) > 1 && t.Name[0] == 't' && t.Name[1] >= '0' && t.Name[1] <= '9'
}
