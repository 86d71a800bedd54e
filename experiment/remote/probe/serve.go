package probe

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"wirelab/experiment/remote/channel"
)

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

// Timeouts of the serving side.
const (
	planTimeout    = 10 * time.Second // from the start of the session
	resultsTimeout = time.Minute      // after the plan's duration
)

// Serve answers one measurement. It returns when the initiator has closed the session, or after
// the plan's duration and resultsTimeout.
func Serve(ctx context.Context, s *channel.Session) (probeReport, error) {
	plan, err := awaitPlan(ctx, s)
	if err != nil {
		return probeReport{}, err
	}
	r := &responder{endpoint: newEndpoint(s, plan, plan.Down)}
	r.isResponder = true
	deadline := time.Now().Add(plan.Duration + resultsTimeout)
	err = r.run(ctx, deadline, sendProbes, r.receive, nil) // nil: until the session ends or the deadline
	report := probeReport{len(r.sentAt), len(r.arrivals), plan.Duration.Seconds()}
	switch {
	case errors.Is(err, io.EOF):
		return report, nil // the initiator closed the session
	case err == nil:
		return report, errors.New("timeout: the peer did not fetch all results")
	}
	return report, err
}

// awaitPlan waits for a plan and accepts it. An invalid plan is an error. Other datagrams are
// ignored.
func awaitPlan(ctx context.Context, s *channel.Session) (Plan, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, planTimeout, errors.New("timeout: no measurement plan received"))
	defer cancel()
	for {
		d, err := s.Receive(ctx, nil)
		if err != nil {
			return Plan{}, cmp.Or(context.Cause(ctx), err)
		}
		if d.Stream != streamPlan {
			continue
		}
		plan, err := parsePlan(d.Data)
		if err != nil {
			return Plan{}, err
		}
		return plan, s.Send(streamPlan, d.Data)
	}
}

// responder is the serving side of a measurement.
type responder struct {
	*endpoint
	result           []arrival // arrivals when the results were first requested
	resultsRequested bool      // the initiator has requested results: result is valid
	answers          int       // plan acceptances that were repeated; since the first request, blocks sent
}

// maxAnswers limits the answers, so that the responder cannot be made to send without end: on average
// each block, and before that the acceptance, is sent at most this often.
const maxAnswers = 8

// receive handles a datagram that is not a probe: a repeated plan is accepted again, and a
// requested block is sent. The first request ends the measurement: later arrivals are not in the
// results. Beyond maxAnswers requests are ignored.
func (f *responder) receive(d *channel.Datagram) {
	switch d.Stream {
	case streamPlan: // the acceptance was lost
		if agreed := f.plan.append(nil); string(agreed) == string(d.Data) && f.answers < maxAnswers {
			f.answers++
			_ = f.session.Send(streamPlan, agreed) // a closed session also ends run
		}
	case streamResult:
		if !f.resultsRequested {
			f.result, f.resultsRequested, f.answers = f.arrivals, true, 0
		}
		if len(d.Data) != 2 {
			return
		}
		number := int(binary.BigEndian.Uint16(d.Data))
		if number >= blockCount(len(f.result)) || f.answers >= maxAnswers*blockCount(len(f.result)) {
			return
		}
		f.answers++
		f.out = appendBlock(f.out[:0], number, uint32(len(f.sentAt)), f.result)
		_ = f.session.Send(streamResult, f.out)
	}
}
