package probe

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"wirelab/experiment/remote/channel"
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

// Measure measures the path to the peer of a session, which must run Serve. It takes a few seconds longer than
// the plan's duration. progress is called with the completed fraction, from 0 to 1; it may be nil.
func Measure(ctx context.Context, s *channel.Session, plan Plan, progress func(share float64)) (*Path, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	m := &initiator{endpoint: newEndpoint(s, plan, plan.Up), progress: progress}
	if err := m.agree(ctx); err != nil {
		return nil, err
	}
	m.startedAt = time.Now()
	m.nextDue = m.startedAt
	// Send and receive probes for the plan's duration, receive those in flight, then fetch the results.
	if err := m.run(ctx, m.startedAt.Add(plan.Duration), sendProbes, m.receive, m.reportProgress); err != nil {
		return nil, err
	}
	if err := m.run(ctx, time.Now().Add(m.drainTime()), onlyReceive, m.receive, nil); err != nil { // nil: until the deadline
		return nil, err
	}
	if err := m.collect(ctx); err != nil {
		return nil, err
	}
	return m.newPath()
}

// initiator is the measuring side.
type initiator struct {
	*endpoint
	progress  func(share float64) // receives the completed fraction; may be nil
	startedAt time.Time           // when probes began to be sent
	agreed    bool                // the plan was accepted

	// blocks are the responder's arrivals by block. It is nil until the first block arrives; an
	// entry is nil until its block arrives.
	blocks        [][]arrival
	missingBlocks int
	peerSentCount int // probes that the responder sent
}

// resendInterval is how long to wait for an answer before a request is repeated.
const resendInterval = 200 * time.Millisecond

// maxPlanRequests is how often the plan is sent: for 10 s.
const maxPlanRequests = 50

// agree sends the plan until the responder accepts it. A probe of the responder is an acceptance
// too, because the responder sends none before it has accepted.
func (n *initiator) agree(ctx context.Context) error {
	for range maxPlanRequests {
		if err := n.session.Send(streamPlan, n.plan.append(nil)); err != nil {
			return err
		}
		done := func() bool { return n.agreed || n.hasReceived }
		if err := n.run(ctx, time.Now().Add(resendInterval), onlyReceive, n.receive, done); err != nil {
			return err
		}
		if done() {
			return nil
		}
	}
	return errPlanNotAccepted
}

// reportProgress calls progress. It returns false, because it is the done function of run, which
// must continue.
func (n *initiator) reportProgress() bool {
	if n.progress != nil {
		n.progress(float64(time.Since(n.startedAt)) / float64(n.plan.Duration))
	}
	return false
}

// drainTime is how long to wait for datagrams in flight: two round trips, from 1 to 5 s.
func (n *initiator) drainTime() time.Duration {
	wait := time.Second
	for _, t := range n.roundTrips {
		wait = max(wait, 2*t)
	}
	return min(wait, 5*time.Second)
}

// receive handles a datagram that is not a probe: the responder's copy of the plan, or a block of
// results. Malformed and repeated blocks are ignored.
func (n *initiator) receive(d *channel.Datagram) {
	switch d.Stream {
	case streamPlan:
		n.agreed = n.agreed || string(d.Data) == string(n.plan.append(nil))
	case streamResult:
		results, ok := parseBlock(d.Data, n.plan.Packets())
		if !ok || n.blocks != nil && len(n.blocks) != results.blocks {
			return // malformed, or another number of blocks than before
		}
		if n.blocks == nil {
			n.blocks, n.missingBlocks, n.peerSentCount = make([][]arrival, results.blocks), results.blocks, int(results.sentCount)
		}
		if n.blocks[results.number] == nil {
			n.blocks[results.number] = append([]arrival{}, results.arrivals...)
			n.missingBlocks--
		}
	}
}

// collect requests the responder's blocks until all have arrived. The first block also reports how
// many there are.
func (n *initiator) collect(ctx context.Context) error {
	const (
		batch         = 32 // blocks requested in one round
		maxIdleRounds = 50 // rounds without a new block, after which collect fails
	)
	for idleRounds := 0; idleRounds < maxIdleRounds; idleRounds++ {
		missingBefore, requested := n.missingBlocks, 0
		for number := range max(1, len(n.blocks)) {
			if requested < batch && (n.blocks == nil || n.blocks[number] == nil) {
				requested++
				if err := n.session.Send(streamResult, binary.BigEndian.AppendUint16(nil, uint16(number))); err != nil {
					return err
				}
			}
		}
		until := time.Now().Add(resendInterval)
		done := func() bool { return n.blocks != nil && n.missingBlocks <= max(0, missingBefore-requested) }
		if err := n.run(ctx, until, onlyReceive, n.receive, done); err != nil {
			return err
		}
		if n.blocks != nil && n.missingBlocks == 0 {
			return nil
		}
		if n.blocks != nil && n.missingBlocks != missingBefore {
			idleRounds = 0
		}
	}
	return errNoResults
}

// newPath combines the arrivals of both sides into captures. It fails if a direction has no arrivals
// or no round trip was measured.
func (n *initiator) newPath() (*Path, error) {
	up := slices.Concat(n.blocks...)
	if n.plan.short() { // the responder did not know when the probes were sent
		up = slices.DeleteFunc(up, func(r arrival) bool { return int(r.seq) >= len(n.sentAt) })
		for i := range up {
			up[i].clockDelay -= n.sentAt[up[i].seq]
		}
	}
	if len(up) == 0 || len(n.arrivals) == 0 || len(n.roundTrips) == 0 {
		return nil, errNoProbes
	}
	slices.Sort(n.roundTrips)
	peerSentAt := fillSendTimes(n.peerSentAt[:n.peerSentCount], n.plan.Interval)
	p := &Path{Plan: n.plan, RoundTrips: n.roundTrips, DroppedCopies: n.droppedCopies}
	p.Base, p.BaseError = estimateBase(up, n.arrivals) // the base delay of a direction, and its uncertainty
	p.Up, p.Down = newCapture(up, p.Base, n.sentAt), newCapture(n.arrivals, p.Base, peerSentAt)
	return p, nil
}

// estimateBase returns the mean of the 1st percentiles of both directions, in which the
// difference of the clocks cancels. It is the base delay of either direction if both are equal. slack
// is half of the width of its 95 % confidence interval. The 1st percentile is used because it varies
// less than the minimum.
func estimateBase(up, down []arrival) (base, slack time.Duration) {
	upP1, upError := firstPercentile(up)
	downP1, downError := firstPercentile(down)
	// The errors of both directions are independent, so that of the mean is half the root of the sum of their squares.
	return max(0, (upP1+downP1)/2), time.Duration(math.Hypot(float64(upError), float64(downError)) / 2)
}

// firstPercentile returns the 1st percentile of the clock delays and half of the width of its 95 %
// confidence interval. There must be arrivals. The interval is distribution-free: the number of
// samples below a quantile is binomial, so its bounds are order statistics 1.96 standard deviations
// away.
func firstPercentile(arrivals []arrival) (p1, halfWidth time.Duration) {
	delays := make([]time.Duration, len(arrivals))
	for i, r := range arrivals {
		delays[i] = r.clockDelay
	}
	slices.Sort(delays)
	n := float64(len(delays))
	at := func(rank float64) time.Duration { return delays[min(max(int(rank), 0), len(delays)-1)] }
	margin := 1.96 * math.Sqrt(n*0.01*0.99) // 1.96 standard deviations of the binomial distribution
	return at(n / 100), (at(n/100+margin) - at(n/100-margin)) / 2
}

// fillSendTimes estimates the send times of probes that did not arrive. sentAt contains the send times by
// sequence number; 0 means unknown. Probes are sent one interval apart, so an unknown time is extrapolated
// from the probe before or, for the probes before the first known time, from that time.
// fillSendTimes modifies and returns sentAt.
func fillSendTimes(sentAt []time.Duration, interval time.Duration) []time.Duration {
	firstKnown := max(0, slices.IndexFunc(sentAt, func(t time.Duration) bool { return t > 0 }))
	for seq := range sentAt {
		if sentAt[seq] == 0 {
			base := max(firstKnown, seq-1) // the probe whose time is extrapolated
			sentAt[seq] = sentAt[base] + time.Duration(seq-base)*interval
		}
	}
	return sentAt
}

// newCapture returns the capture of one direction, ordered by seq. sent are the send times by seq;
// probes without an arrival are lost. Delays are shifted so that their 1st percentile is base,
// because the offset between the clocks is unknown.
func newCapture(arrivals []arrival, base time.Duration, sent []time.Duration) capture.Capture {
	c := capture.Capture{HasSent: true, HasDelay: true}
	p1, _ := firstPercentile(arrivals)
	arrived := make([]bool, len(sent))
	for _, r := range arrivals {
		if int(r.seq) >= len(sent) {
			continue // invalid: the sender reports that it sent fewer probes
		}
		arrived[r.seq] = arrived[r.seq] || r.copyNumber == 0
		c.Packets = append(c.Packets, capture.Packet{Seq: uint64(r.seq), Copy: int(r.copyNumber), Sent: sent[r.seq],
			Took: r.clockDelay - p1 + base})
	}
	for seq, ok := range arrived {
		if !ok {
			c.Packets = append(c.Packets, capture.Packet{Seq: uint64(seq), Sent: sent[seq], Lost: true})
		}
	}
	slices.SortStableFunc(c.Packets, func(a, b capture.Packet) int { return cmp.Compare(a.Seq, b.Seq) })
	return c
}
