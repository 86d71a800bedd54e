package remote

import (
	"errors"
	"fmt"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/playout"
)

// message is what the control connection carries in either direction, encoded by package gob. At most one of
// the pointers is set; none in a sign of life.
type message struct {
	Session uint8 // number of the session within the connection; 0 in a measurement

	Setup   *setup           // to the receiver: begins a session and ends the one before
	Status  *status          // to the sender: answers a setup
	Report  *report          // to the sender: arrivals and display counters
	Display *displaySettings // to the receiver: settings of its display
	Plan    *Plan            // begins a measurement; the responder returns it to accept
	Results *probeResults    // of the responder, at the end of a measurement
}

// status is the receiver's answer to a setup.
type status struct {
	Refused string // why the receiver refuses the session; empty if it is ready
}

// report describes datagrams that arrived at the receiver since the last report.
type report struct {
	Records []record
	Display meters.DisplayCounts // counters of the display since the session began
}

// record describes one datagram that arrived at the receiver.
type record struct {
	Number    uint32                // number of the datagram
	ArrivedAt time.Duration         // by the receiver's clock, since the session began there
	Packets   []engine.PacketReport // of the packets of a container, or of the packet that the datagram is
	Delivered engine.Fingerprint    // DeliverySum of what a container or segment completed; zero if nothing
}

// displaySettings are settings and state of the sender that the receiver's display follows. They are sent
// when they change.
type displaySettings struct {
	Timing string        // playout delay or policy; see playout.ParseTiming
	SendNS time.Duration // time between two packets, for a policy
	// Behind is how far virtual time is behind the wall clock since the start, by pauses or on a slow machine. It
	// is negative if frames were stepped.
	Behind time.Duration
	Paused bool // virtual time stands still
}

// Limits of messages.
const (
	maxTimingBytes   = 200 // text of a playout policy
	maxReportRecords = 1024
	maxPacketReports = 32 // packets of a container
	// maxAge exceeds the length of any session. Times are checked against it so that sums cannot overflow.
	maxAge = 100 * 365 * 24 * time.Hour
)

// errProtocol means that a message of the peer is invalid, although the peer has the token.
var errProtocol = errors.New("invalid message")

// check returns an errProtocol if a value of the report is out of range.
func (r *report) check() error {
	d := &r.Display
	counters := min(d.Shown, d.Starved, d.Freezes, d.Longest, d.Late)
	if len(r.Records) > maxReportRecords || counters < 0 {
		return fmt.Errorf("%w: report", errProtocol)
	}
	for i := range r.Records {
		x := &r.Records[i]
		isValid := x.ArrivedAt >= 0 && x.ArrivedAt <= maxAge && len(x.Packets) <= maxPacketReports
		for j := range x.Packets {
			isValid = isValid && x.Packets[j].Outcome <= endpoint.UnknownCodec
		}
		if !isValid {
			return fmt.Errorf("%w: record of datagram %d", errProtocol, x.Number)
		}
	}
	return nil
}

// set sets the playout delay or policy to that of c, and reports whether anything changed.
func (s *displaySettings) set(c *config.Config) (changed bool) {
	before := *s
	s.Timing = c.Playout().String()
	s.SendNS = c.SendInterval()
	return *s != before
}

// timing returns the playout delay or policy, or an errProtocol if a value is out of range.
func (s *displaySettings) timing() (playout.Timing, error) {
	isValid := s.SendNS > 0 && s.SendNS <= time.Minute && s.Behind.Abs() <= maxAge
	if !isValid || len(s.Timing) > maxTimingBytes {
		return playout.Timing{}, fmt.Errorf("%w: settings of the display are out of range", errProtocol)
	}
	timing, err := playout.ParseTiming(s.Timing)
	if err != nil {
		err = fmt.Errorf("%w: %.200v", errProtocol, err)
	}
	return timing, err
}
