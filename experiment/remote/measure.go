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

// Errors of Measure.
var (
	errPlanNotAccepted = errors.New("the peer did not accept the measurement plan")
	errNoResults       = errors.New("the peer did not return its results")
	errNoProbes        = errors.New("no datagram arrived in at least one direction")
)

// Timeouts of a measurement.
const (
	planTimeout    = 10 * time.Second // until a plan is sent or accepted
	resultsTimeout = time.Minute      // until the results are read, after the plan's duration
)

// Measure measures the path to the peer of a connection, which must run ServeMeasurement. It takes a few
// seconds longer than the plan's duration. progress is called with the completed fraction, from 0 to 1;
// it may be nil.
func Measure(ctx context.Context, c *Conn, plan Plan, progress func(share float64)) (*Path, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	m := &initiator{prober: newProber(c, plan, plan.Up), progress: progress}
	c.send(&message{Plan: &plan})
	isAccepted := func() bool { return m.agreed }
	if err := m.run(ctx, time.Now().Add(planTimeout), onlyReceive, m.handle, isAccepted); err != nil {
		return nil, err
	}
	if !m.agreed {
		return nil, errPlanNotAccepted
	}
	m.startedAt = time.Now()
	m.nextDue = m.startedAt
	// Send and receive probes for the plan's duration, receive those in flight, then fetch the results.
	if err := m.run(ctx, m.startedAt.Add(plan.Duration), sendProbes, m.handle, m.reportProgress); err != nil {
		return nil, err
	}
	if err := m.drain(ctx); err != nil {
		return nil, err
	}
	c.send(&message{Fetch: true})
	hasResults := func() bool { return m.results != nil }
	if err := m.run(ctx, time.Now().Add(resultsTimeout), onlyReceive, m.handle, hasResults); err != nil {
		return nil, err
	}
	if m.results == nil {
		return nil, errNoResults
	}
	return m.newPath()
}

// initiator is the measuring side.
type initiator struct {
	*prober
	progress  func(share float64) // receives the completed fraction; may be nil
	startedAt time.Time           // when probes began to be sent
	agreed    bool                // the plan was accepted
	results   *probeResults       // of the responder; nil until they arrive
}

// reportProgress calls progress. It returns false, because it is the done function of run, which
// must continue.
func (n *initiator) reportProgress() bool {
	if n.progress != nil {
		n.progress(float64(time.Since(n.startedAt)) / float64(n.plan.Duration))
	}
	return false
}

// drain receives probes in flight until none arrives for a second, for at most 5 s.
func (n *initiator) drain(ctx context.Context) error {
	for range 5 {
		before := len(n.Arrivals)
		err := n.run(ctx, time.Now().Add(time.Second), onlyReceive, n.handle, nil) // nil: until the deadline
		if err != nil || len(n.Arrivals) == before {
			return err
		}
	}
	return nil
}

// handle handles the responder's acceptance of the plan and its results.
func (n *initiator) handle(m *message) error {
	switch {
	case m.Plan != nil:
		n.agreed = *m.Plan == n.plan
	case m.Results != nil:
		n.results = m.Results
		return m.Results.check(len(n.SentAt), n.plan.Packets())
	}
	return nil
}

// newPath combines the results of both sides into captures. It fails if a direction has no arrivals
// or no round trip was measured.
func (n *initiator) newPath() (*Path, error) {
	up := direction{n.SentAt, n.results.Arrivals}
	down := direction{n.results.SentAt, slices.DeleteFunc(n.Arrivals, func(x arrival) bool {
		return int(x.Seq) >= len(n.results.SentAt) // forged by the responder
	})}
	p := &Path{Plan: n.plan, RoundTrips: roundTrips(up, down), DroppedCopies: n.droppedCopies}
	if len(up.arrivals) == 0 || len(down.arrivals) == 0 || len(p.RoundTrips) == 0 {
		return nil, errNoProbes
	}
	p.Base, p.BaseError = estimateBase(&up, &down)
	upP1, _ := up.firstPercentile()
	downP1, _ := down.firstPercentile()
	p.Up, p.Down = up.capture(p.Base-upP1), down.capture(p.Base-downP1)
	return p, nil
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
		c.Packets = append(c.Packets, capture.Packet{Seq: uint64(x.Seq), Copy: int(x.Copy), Sent: d.sentAt[x.Seq],
			Took: d.clockDelay(x) + shift})
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

// ServeMeasurement answers one measurement. It returns when the initiator has closed the connection, or after
// the plan's duration and resultsTimeout.
func ServeMeasurement(ctx context.Context, c *Conn) (probeReport, error) {
	var plan *Plan
	waiting := &prober{conn: c}
	isPlanned := func() bool { return plan != nil }
	err := waiting.run(ctx, time.Now().Add(planTimeout), onlyReceive, func(m *message) error {
		plan = m.Plan
		return nil
	}, isPlanned)
	if err == nil && plan == nil {
		err = errors.New("timeout: no measurement plan received")
	}
	if err == nil {
		err = plan.Check()
	}
	if err != nil {
		return probeReport{}, err
	}
	r := &responder{prober: newProber(c, *plan, plan.Down)}
	c.send(&message{Plan: plan})
	deadline := time.Now().Add(plan.Duration + resultsTimeout)
	err = r.run(ctx, deadline, sendProbes, r.handle, nil) // nil: until the connection ends or the deadline
	report := probeReport{len(r.SentAt), len(r.Arrivals), plan.Duration.Seconds()}
	switch {
	case errors.Is(err, io.EOF):
		return report, nil // the initiator closed the connection
	case err == nil:
		return report, errors.New("timeout: the peer did not fetch the results")
	}
	return report, err
}

// responder is the serving side of a measurement.
type responder struct{ *prober }

// handle answers the request for the results. Later arrivals are not in the results.
func (r *responder) handle(m *message) error {
	if m.Fetch {
		r.conn.send(&message{Results: &probeResults{SentAt: slices.Clone(r.SentAt), Arrivals: slices.Clone(r.Arrivals)}})
	}
	return nil
}
