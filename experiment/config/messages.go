package config

import (
	"time"

	"wirelab/internal/policy"
)

// Messages describe the reliable messages that a session sends beside its snapshots.
type Messages struct {
	RateHz     int           // messages per second; 0 means none
	Size       int64         // bytes of each
	Burst      int64         // bytes of a large message; 0 means none
	BurstEvery time.Duration // interval of large messages
	Delivery   policy.Policy // one of container.Deliveries
	Pace       int64         // bit/s at which bytes of messages enter the transport; 0 means no limit
	Lanes      int           // 2: large messages have a lane of their own
}

// HasMessages reports whether messages are sent, or a stream, in which snapshots travel too.
func (c *Config) HasMessages() bool {
	m := &c.Messages
	return m.RateHz > 0 || m.Burst > 0 || m.IsStream()
}

// IsStream reports whether snapshots and messages share an ordered stream.
func (m *Messages) IsStream() bool { return m.Delivery.Name() == "stream" }
