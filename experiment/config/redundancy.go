package config

import (
	"wirelab/experiment/container"
	"wirelab/internal/setting"
)

// redundancyKey is the key of Config.Sender.Redundancy.
const redundancyKey = "sender.redundancy"

// redundancyRow returns the row of sender.redundancy.
func redundancyRow() Row {
	names := container.Redundancies
	r := scalarRow(redundancyKey, names.Expected(), func(c *Config) any {
		if c.Sender.Redundancy.Name() == "" {
			return "none"
		}
		return c.Sender.Redundancy.String()
	}, nil)
	r.Set = func(c *Config, v any) error {
		var text string
		if !setText(&text, v) {
			return &Error{Key: redundancyKey, Problem: quoteValue(v) + " " + invalidValue, Expected: r.Expected}
		}
		p, err := names.Parse(text)
		if err == nil {
			c.Sender.Redundancy = p
		}
		return ErrorAt(redundancyKey, err)
	}
	r.Help = "redundancy that repairs lost packets: repeats of the packets before, or parities of groups of packets. " +
		"Each costs bandwidth, also on a line that has none to spare"
	r.Options = names.Options()
	r.DisplayText = func(c *Config) string {
		if c.Sender.Redundancy.Name() == "" {
			return "none"
		}
		return c.Sender.Redundancy.Label()
	}
	r.Step = func(c *Config, n int) (any, bool) {
		const changed = true
		return setting.Cycle(r.Options, c.Sender.Redundancy.Name(), n), changed
	}
	return r
}

// HasContainers reports whether packets are sent in containers.
func (c *Config) HasContainers() bool {
	name := c.Sender.Redundancy.Name()
	return name != "" && name != "none"
}

// checkContainers checks that the links and the data allow containers.
func (c *Config) checkContainers() error {
	switch {
	case !c.HasContainers():
		return nil
	case c.hasFileData():
		return &Error{Key: redundancyKey, Problem: "files are resent, not repaired", Expected: "none, or snapshots, calls or messages as data"}
	case !c.Down.Corrupt.Checksum || !c.Up.Corrupt.Checksum:
		return &Error{Key: redundancyKey, Problem: "containers rely on the checksum of UDP, which is off", Expected: "none, or down.checksum = true and up.checksum = true"}
	}
	return nil
}
