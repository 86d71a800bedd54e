package config

import (
	"fmt"
	"time"

	"wirelab/experiment/container"
	"wirelab/internal/policy"
	"wirelab/internal/units"
)

// Messages describe the reliable messages that a session sends beside its snapshots.
type Messages struct {
	RateHz     int           // messages per second; 0 means none
	Size       int64         // bytes of each
	Burst      int64         // bytes of a large message; 0 means none
	BurstEvery time.Duration // interval of large messages
	Delivery   policy.Policy // one of container.Deliveries; zero if it was not set
	Pace       int64         // bit/s at which bytes of messages enter the transport; 0 means no limit
	Lanes      int           // 2: large messages have a lane of their own
}

// defaultMessages are the settings of messages in an empty file.
var defaultMessages = Messages{Size: 200, BurstEvery: 10 * time.Second, Lanes: 1}

// HasMessages reports whether messages are sent. Setting only their delivery selects how snapshots travel.
func (c *Config) HasMessages() bool {
	m := &c.Messages
	return m.RateHz > 0 || m.Burst > 0 || m.Delivery.Name() != ""
}

// Policy returns the policy of delivery.
func (m *Messages) Policy() policy.Policy {
	if m.Delivery.Name() == "" {
		return container.Deliveries.Default("resend")
	}
	return m.Delivery
}

// IsStream reports whether snapshots and messages share an ordered stream.
func (m *Messages) IsStream() bool { return m.Delivery.Name() == "stream" }

// messageSettings returns the rows of [messages].
func messageSettings() []scalarSetting {
	rows := []Row{
		intRow("messages.rate_hz", "0 (none) to 1000 messages a second", 0, 1000, func(c *Config) *int { return &c.Messages.RateHz }),
		sizeRow("messages.size", "", func(c *Config) *int64 { return &c.Messages.Size }),
		sizeRow("messages.burst", `, or "off"`, func(c *Config) *int64 { return &c.Messages.Burst }),
		scalarRow("messages.burst_every", `a time from 100ms to 1h, such as "10s"`, func(c *Config) any { return c.Messages.BurstEvery.String() },
			func(c *Config, v any) bool {
				return setDuration(&c.Messages.BurstEvery, v, 100*time.Millisecond, time.Hour)
			}),
		policyRow("messages.delivery", container.Deliveries, container.Deliveries.Default("resend").String(), func(c *Config) *policy.Policy { return &c.Messages.Delivery }),
		scalarRow("messages.pace", `a rate from 8kbit to 1gbit, such as "500kbit", or "off"`, func(c *Config) any {
			if c.Messages.Pace == 0 {
				return "off"
			}
			return units.FormatRate(c.Messages.Pace)
		}, setPace),
		intRow("messages.lanes", "1, or 2: large messages have a lane of their own", 1, container.MaxLanes,
			func(c *Config) *int { return &c.Messages.Lanes }),
	}
	needs := map[string][]string{
		"messages.size":        {"messages.rate_hz"},
		"messages.burst_every": {"messages.burst"},
		"messages.lanes":       {"messages.burst"},
		"messages.pace":        {"messages.rate_hz or messages.burst"},
	}
	settings := make([]scalarSetting, len(rows))
	for i, r := range rows {
		r.Needs = needs[r.Key]
		settings[i] = scalarSetting{Row: r, omit: func(c *Config) bool { return !c.HasMessages() }}
	}
	return settings
}

// sizeRow returns the row of a size of messages. orOff continues the sentence about the expected values; if it is not
// empty, 0 is "off".
func sizeRow(key, orOff string, field func(c *Config) *int64) Row {
	return scalarRow(key, fmt.Sprintf(`a size from 1B to %s, such as "200B"`, units.FormatSize(container.MaxMessage))+orOff,
		func(c *Config) any {
			if *field(c) == 0 {
				return "off"
			}
			return units.FormatSize(*field(c))
		},
		func(c *Config, v any) bool {
			if v == "off" && orOff != "" {
				*field(c) = 0
				return true
			}
			n, ok := units.ParseSize(fmt.Sprint(v))
			ok = ok && n >= 1 && n <= container.MaxMessage
			if ok {
				*field(c) = n
			}
			return ok
		})
}

// setPace sets the pace of messages to v, "off" or a rate from 8 kbit/s to 1 gbit/s, and reports whether v is valid.
func setPace(c *Config, v any) bool {
	if v == "off" {
		c.Messages.Pace = 0
		return true
	}
	n, ok := units.ParseRate(fmt.Sprint(v))
	ok = ok && n >= 8000 && n <= 1_000_000_000
	if ok {
		c.Messages.Pace = n
	}
	return ok
}

// policyRow returns the row of a setting that is a policy. unset is its text while the field is zero.
func policyRow(key string, policies policy.Set, unset string, field func(c *Config) *policy.Policy) Row {
	r := scalarRow(key, policies.Expected(), func(c *Config) any {
		if p := field(c); p.Name() != "" {
			return p.String()
		}
		return unset
	}, nil)
	r.Set = func(c *Config, v any) error {
		var text string
		if !setText(&text, v) {
			return &Error{Key: key, Problem: quoteValue(v) + " " + invalidValue, Expected: r.Expected}
		}
		p, err := policies.Parse(text)
		if err == nil {
			*field(c) = p
		}
		return ErrorAt(key, err)
	}
	r.Options = policies.Options()
	r.DisplayText = func(c *Config) string {
		if p := field(c); p.Name() != "" {
			return p.Label()
		}
		return unset
	}
	return r
}
