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
		return &Error{Key: key, Problem: "files are delivered in blocks of their own, without containers",
			Expected: "snapshots, calls or texts as data"}
	case c.HasRedundancy() && c.HasMessages() && c.Messages.IsStream():
		return &Error{Key: redundancyKey,
			Problem:  "a stream resends what is lost, so redundancy repairs nothing",
			Expected: `none, or another messages.delivery than "stream"`}
	case c.HasMessages() && c.Messages.IsStream() && c.Messages.Lanes > 1:
		return &Error{Key: "messages.lanes", Problem: "a stream has one order for everything",
			Expected: `1, or another messages.delivery than "stream"`}
	}
	return nil
}
