package config

import (
	"iter"
	"time"

	"wirelab/internal/policy"
)

// LaneControls returns the policies that decide which snapshots of the lanes are sent, with the key of
// each. It leaves out lanes that send every snapshot because none is set.
func (c *Config) LaneControls() iter.Seq2[string, policy.Policy] {
	return func(yield func(string, policy.Policy) bool) {
		for i, lane := range c.Lanes() {
			if p := lane.Sender.Control; p != (policy.Policy{}) && !yield(c.LaneKey(i, controlKey), p) {
				return
			}
		}
	}
}

// checkControls checks that the other settings allow the controls.
func (c *Config) checkControls() error {
	for key := range c.LaneControls() {
		if c.Messages.IsStream() {
			return refuse(key, "a stream has its own congestion control, and acks of its own",
				`off, or another messages.delivery than "stream"`)
		}
	}
	return nil
}

// SendInterval returns the time between two snapshots that can be sent.
func (c *Config) SendInterval() time.Duration {
	return time.Duration(c.Sender.Every) * time.Second / time.Duration(c.Sender.RateHz)
}
