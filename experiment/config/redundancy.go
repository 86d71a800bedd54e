package config

import "wirelab/internal/policy"

// HasRedundancy reports whether redundancy protects packets.
func (c *Config) HasRedundancy() bool {
	p := c.Sender.Redundancy
	return p != policy.Policy{} && p.Name() != "none"
}

// HasContainers reports whether packets are sent in containers or in a stream, and the key that requires it.
func (c *Config) HasContainers() (key string, ok bool) {
	switch {
	case c.HasRedundancy():
		return redundancyKey, true
	case c.HasMessages():
		return "messages", true
	}
	return "", false
}

// MayUseContainers reports whether the receiver of a run with this configuration must expect containers: if
// sender.redundancy is not off, or if messages are sent.
func (c *Config) MayUseContainers() bool {
	return c.Sender.Redundancy != policy.Policy{} || c.HasMessages()
}

// checkContainers checks that the other settings allow containers.
func (c *Config) checkContainers() error {
	key, ok := c.HasContainers()
	switch {
	case !ok:
		return nil
	case c.HasFileData():
		return refuse(key, "files are delivered in blocks of their own, without containers",
			"snapshots, calls or texts as data")
	case c.HasRedundancy() && c.Messages.IsStream():
		return refuse(redundancyKey, "a stream resends what is lost, so redundancy repairs nothing",
			`none, or another messages.delivery than "stream"`)
	case c.Messages.IsStream() && c.Messages.Lanes > 1:
		return refuse("messages.lanes", "a stream has one order for everything",
			`1, or another messages.delivery than "stream"`)
	}
	return nil
}
