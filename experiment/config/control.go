package config

import (
	"time"

	"wirelab/experiment/endpoint"
	"wirelab/internal/policy"
)

// controlKey is the key of the policy that decides which snapshots are sent.
const controlKey = "sender.control"

// noControl is the value of a control for none.
const noControl = "off"

// controlRow returns the row of sender.control.
func controlRow() Row {
	r := scalarRow(controlKey, endpoint.Controls.Expected()+`, or "off"`, func(c *Config) any { return controlText(c.Sender.Control) }, nil)
	r.Set = func(c *Config, v any) error {
		p, err := parseControl(v)
		if err == nil {
			c.Sender.Control = p
		}
		return ErrorAt(controlKey, err)
	}
	r.Help = "policy that decides which snapshots are sent"
	return r
}

// parseControl parses a policy of endpoint.Controls; noControl is the zero Policy.
func parseControl(v any) (policy.Policy, error) {
	text, _ := v.(string)
	if text == noControl {
		return policy.Policy{}, nil
	}
	return endpoint.Controls.Parse(text)
}

// controlText returns the text for parseControl.
func controlText(p policy.Policy) string {
	if p == (policy.Policy{}) {
		return noControl
	}
	return p.String()
}

// LaneControl returns the policy that decides which snapshots of a lane are sent: that of e, or else sender.control.
func (c *Config) LaneControl(e Encoder) policy.Policy {
	if e.Control == "" {
		return c.Sender.Control
	}
	p, err := parseControl(e.Control)
	if err != nil {
		panic("config: the control of an encoder was checked before: " + err.Error())
	}
	return p
}

// SendInterval returns the time between two snapshots that can be sent.
func (c *Config) SendInterval() time.Duration {
	return time.Duration(c.Sender.Every) * time.Second / time.Duration(c.Sender.RateHz)
}
