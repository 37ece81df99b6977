package reconciler

import "github.com/remuda-run/remuda/store"

// capacity is how many instances the caps allow beside those that live, are being launched or are wanted.
type capacity struct {
	*tenure
	*records
	waiting *waiting
	batch   *batch
	budget  *budget
}

// freed wakes the requests and floors that wait for room under a cap, if there may be room now. The callers are all places that free
// capacity.
func (c *capacity) freed() {
	for _, class := range c.waiting.classes() {
		wanted, wantedOfClass := c.batch.total(class)
		c.waiting.capacityFreed(class, c.allowedBeside(class, wanted, wantedOfClass))
	}
	c.feed()
}

// feed wakes the floors that wait for room or for requests to finish. The waiting line calls feed whenever a request needs fewer instances.
func (c *capacity) feed() {
	for _, class := range c.floors.hungry() {
		c.queues.floors.AddAfter(class, floorPause)
	}
}

// left returns how many more instances the caps allow, not counting what id itself has asked for.
func (c *capacity) left(id store.RequestID, class string) int {
	wanted, wantedOfClass := c.batch.total(class)
	own := c.batch.pending(id)
	return c.allowedBeside(class, wanted-own, wantedOfClass-own)
}

// allowed returns how many more instances the caps allow beside those that live or are being launched.
func (c *capacity) allowed(class string) int { return c.allowedBeside(class, 0, 0) }

// allowedBeside is allowed with so many more that others asked for, in all and of the class.
func (c *capacity) allowedBeside(class string, more, moreOfClass int) int {
	total, ofClass := c.used(class)
	left := c.budget.most() - total - more
	if own := c.cfg.Classes[class].Cap; own > 0 {
		left = min(left, own-ofClass-moreOfClass)
	}
	return left
}

// tightest returns the setting of the cap that leaves a class the least room, and the value of the cap.
func (c *capacity) tightest(class string) (setting string, allows int) {
	setting, allows = "caps.maxInstances", c.cfg.MaxInstances
	if most := c.budget.most(); most < allows {
		setting, allows = "the cap of budget.degrade", most
	}
	total, ofClass := c.used(class)
	wanted, wantedOfClass := c.batch.total(class)
	if own := c.cfg.Classes[class].Cap; own > 0 && own-ofClass-wantedOfClass < allows-total-wanted {
		setting, allows = "classes."+class+".cap", own
	}
	return setting, allows
}

// used counts the instances that live or are being launched, in all and of class.
func (c *capacity) used(class string) (total, ofClass int) {
	// Read the launches before the instances. An instance that is recorded between the two reads counts twice. In the other order it would
	// not count.
	for _, l := range append(c.batch.underWay(), c.launches.openLaunches()...) {
		n := c.unrecorded(l)
		total += n
		if l.ResourceClass == class {
			ofClass += n
		}
	}
	all, same := c.instances.live(class)
	return total + all, ofClass + same
}

// inAll is what the cap on all instances leaves, own what that of a class does, if it has one.
func (c *capacity) inAll() int {
	total, _ := c.used("")
	return c.budget.most() - total
}

func (c *capacity) own(class string) (left int, bounded bool) {
	_, ofClass := c.used(class)
	most := c.cfg.Classes[class].Cap
	return most - ofClass, most > 0
}

// unwait takes a request out of the line and out of the coming launch.
func (c *capacity) unwait(id store.RequestID) {
	c.waiting.leave(id)
	if c.batch.leave(id) {
		c.freed()
	}
}
