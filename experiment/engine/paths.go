package engine

import (
	"context"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/meters"
	"wirelab/lossmodel"
)

// Path carries the datagrams of a lane in one direction: a modelled link (*lossmodel.Link) or
// a socket. No method blocks.
type Path interface {
	// Send sends a datagram at now. Whatever arrives of it carries the same tag. A model knows
	// the fate of the datagram and of its copies at once. A real network does not, and sets
	// Open: the fate is known when the datagram arrives, or never.
	Send(now time.Duration, datagram []byte, tag uint64) lossmodel.Verdict
	// Next returns when the next datagram arrives; false if none is known to be in flight.
	Next() (at time.Duration, ok bool)
	// Receive returns the next datagram that arrives at or before now, if any. Its data are valid
	// until the next call of any method.
	Receive(now time.Duration) (lossmodel.Delivery, bool)
}

// A lane's receiver may be at the other end of a real network. The lane then runs the same
// receiver here too, on the datagrams that are reported to have arrived there, in that order:
// it shows and explains what the far receiver does. What counts is what the far end reports of
// each datagram, and its fingerprints of the frames are compared with the true ones.

// Network connects the ends of the first lane.
type Network interface {
	// Begin sends the far end what both are configured with, and waits until it is ready.
	Begin(ctx context.Context, s *frame.Schema, initial *frame.Frame, c *config.Config) error
	// Connect returns the paths in both directions; the modelled links are their near parts. The
	// path to the receiver is a FarEnd.
	Connect(down, up *lossmodel.Link) (Path, Path)
}

// NetworkError is why a session over a network could not begin, or not continue.
type NetworkError struct {
	To      string // where the far end is, or was
	Problem string
}

// Error implements error.
func (e *NetworkError) Error() string { return e.To + ": " + e.Problem }

// FarEnd is a path to a receiver elsewhere. A delivery of it is a datagram that arrived there,
// as soon as that is known here.
type FarEnd interface {
	Path
	// Reported returns what the far end reported of the delivery that Receive returned last;
	// false for one that was damaged before it left.
	Reported() (Delivery, bool)
	// RoundTrip removes and returns the oldest round-trip time not yet read; false if there is none.
	RoundTrip() (time.Duration, bool)
	// Counts returns the newest counts of the far end's display, and what the lab itself added
	// to the game's traffic.
	Counts() (meters.DisplayCounts, meters.LabTraffic)
}

// Delivery is what the far end reports of a datagram that arrived there.
type Delivery struct {
	Outcome endpoint.Outcome
	Decoded bool        // there is a frame
	Frame   Fingerprint // of that frame
	Number  uint16      // the low bits of the sequence number that it was taken for
	// Arrived is the time of arrival, as if the fastest datagram had taken no time from the
	// socket to there. Slower is how much longer this one took than the fastest.
	Arrived, Slower time.Duration
	ReportedAt      time.Duration // when the report came; the lane gets it later, at an even pace
}

// paths are the network paths of a lane.
type paths struct {
	down, up         Path
	downLink, upLink *lossmodel.Link // the modelled links among them, else nil
	far              FarEnd          // down, if the receiver is at its other end; else nil
	remote           meters.Remote   // unused if far is nil
}

// connect sets the network paths between the ends.
func (l *lane) connect(down, up Path) {
	l.paths.down, l.paths.up = down, up
	l.paths.downLink, _ = down.(*lossmodel.Link)
	l.paths.upLink, _ = up.(*lossmodel.Link)
}

// connectNew connects the ends by new modelled links, and by the network, if any.
func (l *lane) connectNew(c *config.Config, network Network) error {
	down, err := lossmodel.NewLinkWith(c.ReadTrace, c.Down, c.Seed, "down")
	if err != nil {
		return config.ErrorAt("down", err)
	}
	up, err := lossmodel.NewLinkWith(c.ReadTrace, c.Up, c.Seed, "up")
	if err != nil {
		return config.ErrorAt("up", err)
	}
	if l.inspector != nil {
		down.Watch()
	}
	l.connect(down, up)
	if network == nil {
		return nil
	}
	l.paths.down, l.paths.up = network.Connect(down, up)
	l.paths.far, _ = l.paths.down.(FarEnd)
	l.rcv.Guard(true) // as the receiver at the far end
	return nil
}

// next returns when the next datagram arrives at either end; false if none is known to be in
// flight.
func (p *paths) next() (time.Duration, bool) {
	down, okDown := p.down.Next()
	up, okUp := p.up.Next()
	if !okDown || (okUp && up < down) {
		return up, okUp
	}
	return down, okDown
}

// checkNetwork returns why a session of c cannot have its receiver elsewhere; nil if it can, or
// if the receiver is here.
func (s *Session) checkNetwork(c *config.Config) error {
	switch {
	case s.opt.Network == nil:
		return nil
	case s.delivers:
		return &config.Error{Key: "data.source", Problem: "files are delivered over modelled links only: the far end has no old file",
			Expected: "snapshots or messages"}
	case len(c.Shadows) > 0:
		return &config.Error{Key: "shadow", Problem: "a network treats no two encoders alike",
			Expected: "one encoder, or modelled links without --to and --udp"}
	}
	return nil
}
