package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"wirelab/lossmodel/capture"
)

// Path is the result of a measurement.
type Path struct {
	Plan          Plan            // what both sides sent
	Up, Down      capture.Capture // packets from this machine to the peer, and from the peer
	RoundTrips    []time.Duration // round-trip times in ascending order
	Base          time.Duration   // assumed 1st percentile of the delay, equal in both directions
	BaseError     time.Duration   // half of the 95 % confidence interval of Base, if the directions are alike
	DroppedCopies int             // copies that were not stored
}

// errNoProbes is the error of Measure if the result has nothing to fit.
var errNoProbes = errors.New("no datagram arrived in at least one direction")

// drainTime is how long each side receives after its last probe.
const drainTime = 3 * time.Second

// Measure measures the path to the peer of a connection, which must run ServeMeasurement. It takes a few
// seconds longer than the plan's duration. progress is called with the completed fraction, from 0 to 1;
// it may be nil.
func Measure(ctx context.Context, c *Conn, plan Plan, progress func(share float64)) (*Path, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	m := newProber(c)
	m.plan = plan
	m.progress = progress
	c.send(&message{Plan: &plan})
	isAccepted := func(x *message) bool { return x.Plan != nil && *x.Plan == plan }
	if err := m.run(ctx, isAccepted); err != nil {
		return nil, err
	}
	m.startSending(plan.Up)
	var far *probeResults
	hasResults := func(x *message) bool { far = x.Results; return far != nil }
	if err := m.run(ctx, hasResults); err != nil {
		return nil, err
	}
	if err := far.check(len(m.SentAt), plan.Packets()); err != nil {
		return nil, err
	}
	return m.newPath(far)
}

// newPath combines the results of both sides into captures. It fails if a direction has no arrivals
// or no round trip was measured.
func (p *prober) newPath(far *probeResults) (*Path, error) {
	up := direction{p.SentAt, far.Arrivals}
	down := direction{far.SentAt, slices.DeleteFunc(p.Arrivals, func(x arrival) bool {
		return int(x.Seq) >= len(far.SentAt) // forged by the responder
	})}
	path := &Path{Plan: p.plan, RoundTrips: roundTrips(up, down), DroppedCopies: p.droppedCopies}
	if len(up.arrivals) == 0 || len(down.arrivals) == 0 || len(path.RoundTrips) == 0 {
		return nil, errNoProbes
	}
	path.Base, path.BaseError = estimateBase(&up, &down)
	upP1, _ := up.firstPercentile()
	downP1, _ := down.firstPercentile()
	path.Up = up.capture(path.Base - upP1)
	path.Down = down.capture(path.Base - downP1)
	return path, nil
}

// estimateBase returns the mean of the 1st percentiles of both directions, in which the difference of the
// clocks cancels. It is the base delay of either direction if both are equal. slack is half of the width
// of its 95 % confidence interval.
func estimateBase(up, down *direction) (base, slack time.Duration) {
	upP1, upError := up.firstPercentile()
	downP1, downError := down.firstPercentile()
	// The errors of both directions are independent, so that of the mean is half the root of the sum of
	// their squares.
	return max(0, (upP1+downP1)/2), time.Duration(math.Hypot(float64(upError), float64(downError)) / 2)
}

// direction is what is known about the probes of one direction. The two sides have different clocks.
type direction struct {
	sentAt   []time.Duration // by seq, by the sender's clock
	arrivals []arrival       // by the receiver's clock
}

// clockDelay returns the arrival by the receiver's clock minus the sending by the sender's; it may be
// negative.
func (d *direction) clockDelay(x *arrival) time.Duration { return x.At - d.sentAt[x.Seq] }

// roundTrips returns the round-trip times in ascending order. A probe of the responder answers the newest
// probe of the initiator that arrived before it was sent. The time between the two is not part of the
// round trip.
func roundTrips(up, down direction) (trips []time.Duration) {
	arrivedAt := map[int]time.Duration{} // of the responder's probes, by seq
	for _, x := range down.arrivals {
		if x.Copy == 0 {
			arrivedAt[int(x.Seq)] = x.At
		}
	}
	next := 0                 // index of the next arrival at the responder
	newest := (*arrival)(nil) // with the highest Seq so far
	for seq, sentAt := range down.sentAt {
		for ; next < len(up.arrivals) && up.arrivals[next].At <= sentAt; next++ {
			if x := &up.arrivals[next]; newest == nil || x.Seq > newest.Seq {
				newest = x
			}
		}
		at, hasArrived := arrivedAt[seq]
		if newest == nil || !hasArrived {
			continue
		}
		held := sentAt - newest.At
		if trip := at - up.sentAt[newest.Seq] - held; trip >= 0 {
			trips = append(trips, trip)
		}
	}
	slices.Sort(trips)
	return trips
}

// firstPercentile returns the 1st percentile of the clock delays and half of the width of its 95 %
// confidence interval. There must be arrivals. The interval is distribution-free: the number of
// samples below a quantile is binomial, so its bounds are order statistics 1.96 standard deviations
// away. The minimum would vary more.
func (d *direction) firstPercentile() (p1, halfWidth time.Duration) {
	delays := make([]time.Duration, len(d.arrivals))
	for i := range d.arrivals {
		delays[i] = d.clockDelay(&d.arrivals[i])
	}
	slices.Sort(delays)
	n := float64(len(delays))
	at := func(rank float64) time.Duration { return delays[min(max(int(rank), 0), len(delays)-1)] }
	margin := 1.96 * math.Sqrt(n*0.01*0.99) // 1.96 standard deviations of the binomial distribution
	return at(n / 100), (at(n/100+margin) - at(n/100-margin)) / 2
}

// capture returns the capture of the direction, ordered by seq, with shift added to the clock delays. Probes
// without an arrival are lost.
func (d *direction) capture(shift time.Duration) capture.Capture {
	c := capture.Capture{HasSent: true, HasDelay: true}
	arrived := make([]bool, len(d.sentAt))
	for i := range d.arrivals {
		x := &d.arrivals[i]
		arrived[x.Seq] = true
		c.Packets = append(c.Packets, capture.Packet{Seq: uint64(x.Seq), Copy: int(x.Copy),
			Sent: d.sentAt[x.Seq], Took: d.clockDelay(x) + shift})
	}
	for seq, ok := range arrived {
		if !ok {
			c.Packets = append(c.Packets, capture.Packet{Seq: uint64(seq), Sent: d.sentAt[seq], Lost: true})
		}
	}
	slices.SortStableFunc(c.Packets, func(a, b capture.Packet) int { return cmp.Compare(a.Seq, b.Seq) })
	return c
}

// probeReport are the totals of a served measurement.
type probeReport struct {
	Sent     int     `json:"sent"`       // probes that this side sent
	Received int     `json:"came"`       // probes that arrived here, including copies
	Duration float64 `json:"duration_s"` // duration of the plan in seconds
}

// String returns a one-line summary.
func (r probeReport) String() string {
	return fmt.Sprintf("%d datagrams sent, %d received", r.Sent, r.Received)
}

// ServeMeasurement answers one measurement. It returns when the initiator has closed the connection.
func ServeMeasurement(ctx context.Context, c *Conn) (probeReport, error) {
	p := newProber(c)
	isPlan := func(m *message) bool {
		if m.Plan != nil {
			p.plan = *m.Plan
		}
		return m.Plan != nil
	}
	if err := p.run(ctx, isPlan); err != nil {
		return probeReport{}, err
	}
	if err := p.plan.Check(); err != nil {
		return probeReport{}, err
	}
	c.send(&message{Plan: &p.plan})
	p.startSending(p.plan.Down)
	p.end = time.After(p.plan.Duration + drainTime)
	never := func(*message) bool { return false }
	err := p.run(ctx, never)
	report := probeReport{len(p.SentAt), len(p.Arrivals), p.plan.Duration.Seconds()}
	if err == nil {
		c.send(&message{Results: &p.probeResults})
		p.end = nil
		err = (&prober{conn: c}).run(ctx, never) // what arrives now is not in the results
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return report, err
}
