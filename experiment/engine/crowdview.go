package engine

import (
	"time"

	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
)

// CrowdView is the part of a snapshot for one sender with many receivers. Such a snapshot has no lanes.
type CrowdView struct {
	Clients   []figures.CrowdClient // of each client, over the newest 2 s of Samples; in the order of their numbers
	Recent    *figures.Crowd        // quantiles of Clients; Worst is the largest value
	Totals    figures.Totals        // of the run; Totals.Crowd is nil
	Samples   []CrowdSample         // oldest first; bounded
	Encodings []CrowdEncoding       // of the newest tick, by age
	TickTime  time.Duration         // between two packets to a client
	HasUplink bool                  // the packets to all clients share a link
	Selected  int                   // number of the client that live.Command.Client selected, from 1, or of the one with the longest round trip; 0 if none is in the game
	Packets   []packetlog.Record    // the newest packets of that client, oldest first
	Client    *Snapshot             // of a session that repeats that client, without lanes until it is at the present; nil if NoClient is set
	NoClient  string                // why no session repeats the selected client
}

// CrowdSample contains sums over the ticks of a sample period of a crowd.
type CrowdSample struct {
	T         time.Duration // end of the period
	Ticks     int           // with packets
	Encodings int
	ByAge     [CrowdAges]int32 // packets by the age of their baseline in packets: 0 is the initial state, the last element counts also older ones
	Packets   int              // sent to all clients
	Lost      int
	WireBits  int64
	Wait      time.Duration // the longest wait of a packet for the server's uplink; 0 without one
	CPU       CrowdCPU
}

// CrowdAges is the number of ages that a CrowdSample distinguishes.
const CrowdAges = 33

// CrowdCPU contains the durations of parts of the work in nanoseconds. They are measured with the wall
// clock, so they are not reproducible and not part of digests. All but Elapsed are sums over cores.
// Choose is 0 without a budget.
type CrowdCPU struct{ Choose, Encode, Server, Clients, Decode, Elapsed int64 }

// OfServer returns the work that a server has; the rest is the simulation's.
func (c *CrowdCPU) OfServer() int64 { return c.Choose + c.Encode + c.Server }

// Add adds sign times the durations of o.
func (c *CrowdCPU) Add(o *CrowdCPU, sign int64) {
	c.Choose += sign * o.Choose
	c.Encode += sign * o.Encode
	c.Server += sign * o.Server
	c.Clients += sign * o.Clients
	c.Decode += sign * o.Decode
	c.Elapsed += sign * o.Elapsed
}

// CrowdEncoding is one payload of a tick.
type CrowdEncoding struct {
	Age     int // of the baseline in packets; 0 means the initial state
	Clients int // that get it
	Payload int // bytes
}
