package engine

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/window"
	"wirelab/lossmodel"
)

// Path carries the datagrams of a lane in one direction: a modelled link (*lossmodel.Link) or
// a socket. No method blocks.
type Path interface {
	// Send sends a datagram at now. The datagram and its copies arrive with the same tag. A modelled
	// link reports at once which of them are lost and when the others arrive, except of those that wait
	// in a queue (Verdict.Waiting). A real network cannot, and sets Verdict.Pending.
	Send(now time.Duration, datagram []byte, tag uint64) lossmodel.Verdict
	// Next returns when the next datagram arrives, or earlier; false if none is known to be in flight.
	Next() (at time.Duration, ok bool)
	// Receive returns the next datagram that arrives at or before now, or was dropped after Send
	// (Delivery.Lost); false if none exists. Its data are valid until the next call of any method.
	Receive(now time.Duration) (lossmodel.Delivery, bool)
}

// A lane's receiver may run on another machine, the peer. The lane then also runs a receiver in this
// process, on the datagrams that the peer reports as arrived, in the same order. The display and the
// inspector use the local receiver. The outcomes are the peer's: it reports the outcome and the
// frame's fingerprint for each datagram, and the lane compares the fingerprint with the sender's frame.

// Network connects the sender and the receiver of the first lane over a real network.
type Network interface {
	// Begin sends the configuration of the session to the peer, and waits until the peer is ready.
	Begin(ctx context.Context, s *frame.Schema, initial *frame.Frame, c *config.Config) error
	// Connect returns the downlink and the uplink. Datagrams pass through the modelled links down and up as
	// well, in this process.
	Connect(down, up *lossmodel.Link) (RemotePath, Path)
}

// NetworkError is returned if a session over a network could not begin or continue.
type NetworkError struct {
	To      string // address of the peer
	Problem string
}

func (e *NetworkError) Error() string { return e.To + ": " + e.Problem }

// RemotePath is a path to a receiver on another machine, the peer. Receive returns the datagrams that the
// peer reports as arrived.
type RemotePath interface {
	Path
	// Reported returns the peer's report of the datagram that Receive returned last, valid until the next
	// call of Receive; nil if a modelled link lost or damaged that datagram before it was sent.
	Reported() *RemoteReport
	// RoundTrip removes and returns the oldest round-trip time not yet read; false if none exists.
	RoundTrip() (time.Duration, bool)
	// Counts returns the newest counts of the peer's display, and the lab's own traffic so far.
	Counts() (meters.DisplayCounts, meters.LabTraffic)
}

// RemoteReport is the peer's report of a datagram that arrived there.
type RemoteReport struct {
	Packets   []PacketReport // of its packets, in the order of container.Opened; of itself if it is no container
	Delivered Fingerprint    // DeliverySum of what it completed: messages and, in a stream, packets
	// Arrived is the estimated time of arrival. The clocks of the machines are not synchronised, so the
	// fastest datagram is assumed to have taken no time. Slower is how much longer this one took.
	Arrived, Slower time.Duration
	ReportedAt      time.Duration // when this report was received; the lane gets it later, at an even pace
}

// PacketReport is the peer's report of a packet.
type PacketReport struct {
	Container uint16 // low 16 bits of the number of the container in which the packet was sent; 0 without containers
	Outcome   endpoint.Outcome
	Decoded   bool        // the peer decoded a frame
	Frame     Fingerprint // of that frame
	Number    uint16      // low 16 bits of the sequence number that the receiver assigned to the packet
}

// packet returns the report of the packet that was sent in the container with this number; nil if it has
// none.
func (r *RemoteReport) packet(container uint16) *PacketReport {
	for i := range r.Packets {
		if r.Packets[i].Container == container {
			return &r.Packets[i]
		}
	}
	return nil
}

// paths are the network paths of a lane.
type paths struct {
	down, up         Path
	downLink, upLink *lossmodel.Link // the modelled links: down and up, or parts of them
	peer             RemotePath      // down, if the receiver is on another machine; else nil
	remote           meters.Remote   // unused if peer is nil
	reportDelay      window.Minimum  // from an arrival at the peer until the receiver in this process gets the datagram
}

// connect connects sender and receiver by modelled links.
func (l *lane) connect(down, up *lossmodel.Link) {
	l.paths = paths{down: down, up: up, downLink: down, upLink: up}
}

// connectNew connects sender and receiver by new modelled links. Unless network is nil, the receiver is the
// peer of network, and datagrams pass through the modelled links and the network.
func (l *lane) connectNew(c *config.Config, network Network) error {
	seed := cmp.Or(c.LinkSeed, c.Seed)
	down, err := lossmodel.NewLinkWith(c.ReadTrace, c.Down, seed, "down")
	if err != nil {
		return config.ErrorAt("down", err)
	}
	up, err := lossmodel.NewLinkWith(c.ReadTrace, c.Up, seed, "up")
	if err != nil {
		return config.ErrorAt("up", err)
	}
	if l.inspector != nil {
		down.RecordTrails() // records the effect of each stage on each packet
	}
	l.connect(down, up)
	l.setTraffic(0, c.Traffic)
	if network == nil {
		return nil
	}
	l.paths.peer, l.paths.up = network.Connect(down, up)
	l.paths.down = l.paths.peer
	if l.messenger != nil {
		l.messenger.sum = &DeliverySum{} // is compared with the sums that the peer reports
	}
	return nil
}

// next returns when the next datagram arrives in either direction; never if none is known to be in flight.
func (p *paths) next() time.Duration {
	return min(orNever(p.down.Next()), orNever(p.up.Next()))
}

// checkNetwork returns an error if a session of c is impossible over the session's network, if any.
func (s *Session) checkNetwork(c *config.Config) error {
	containerKey, usesContainers := c.HasContainers()
	switch {
	case s.opt.Network == nil:
		return nil
	case s.isFile:
		return &config.Error{Key: "data.source", Problem: "files are delivered over modelled links only: the peer does not have the old file",
			Expected: "snapshots or messages"}
	case usesContainers && !s.start.MayUseContainers():
		return &config.Error{Key: containerKey, Problem: "the receiver behind a real network opens containers only if the session began so",
			Expected: fmt.Sprintf("a new run with %s", containerKey)}
	case c.Receiver.PlayoutCompare != "":
		return &config.Error{Key: "receiver.playout_compare", Problem: "the receiver at the other end of a real network runs one playout policy only",
			Expected: "receiver.playout, or modelled links without --to and --udp"}
	case len(c.Shadows) > 0:
		return &config.Error{Key: "shadow", Problem: "a real network cannot lose and delay the packets of two encoders alike",
			Expected: "one encoder, or modelled links without --to and --udp"}
	}
	return nil
}
