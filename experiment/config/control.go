package config

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"wirelab/internal/policy"
)

// LaneControls returns the policies that decide which snapshots of the lanes are sent, with the key of each. It leaves out
// lanes that send every snapshot because none is set.
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
		if c.HasMessages() && c.Messages.IsStream() {
			return &Error{Key: key, Problem: "a stream has its own congestion control, and acks of its own", Expected: `off, or another messages.delivery than "stream"`}
		}
	}
	return nil
}

// idleControls returns warnings about controls that can hold nothing back.
func (c *Config) idleControls() (out []string) {
	for key, p := range c.LaneControls() {
		parameter := map[string]string{"good-bad": "bad", "ack-clock": "least"}[p.Name()]
		if parameter == "" || p.Int(parameter)*int64(c.Sender.Every) < int64(c.Sender.RateHz) {
			continue
		}
		text := fmt.Sprintf("%s: %s holds nothing back, because %s=%d is not below the snapshots per second that could be sent (sender.rate_hz = %d, sender.every = %d)",
			key, p.Name(), parameter, p.Int(parameter), c.Sender.RateHz, c.Sender.Every)
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// SendInterval returns the time between two snapshots that can be sent.
func (c *Config) SendInterval() time.Duration {
	return time.Duration(c.Sender.Every) * time.Second / time.Duration(c.Sender.RateHz)
}
