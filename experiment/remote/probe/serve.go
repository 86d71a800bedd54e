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

// probeReport is what the far end of a measurement tells.
type probeReport struct {
	Sent     int     `json:"sent"`
	Came     int     `json:"came"` // with copies
	Duration float64 `json:"duration_s"`
}

// String puts it in words.
func (r probeReport) String() string {
	return fmt.Sprintf("%d datagrams sent, %d came", r.Sent, r.Came)
}

// Times of the far end.
const (
	planWithin    = 10 * time.Second // from the beginning of the session
	resultsWithin = time.Minute      // after the plan's duration
)

// Serve is the far end of a measurement. It returns when the near end has closed the
// session, or has taken too long.
func Serve(ctx context.Context, s *channel.Session) (probeReport, error) {
	plan, err := awaitPlan(ctx, s)
	if err != nil {
		return probeReport{}, err
	}
	far := &farEnd{end: newEnd(s, plan, plan.Down)}
	deadline := time.Now().Add(plan.Duration + resultsWithin)
	err = far.pump(ctx, deadline, true, far.receive, nil)
	report := probeReport{len(far.sent), len(far.rows), plan.Duration.Seconds()}
	switch {
	case errors.Is(err, io.EOF):
		return report, nil // the near end has all it wanted
	case err == nil:
		return report, errors.New("the near end never asked for all of the results")
	}
	return report, err
}

// awaitPlan waits for a plan that makes sense, and agrees to it.
func awaitPlan(ctx context.Context, s *channel.Session) (Plan, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, planWithin, errors.New("the near end never said what to measure"))
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

// farEnd answers what the near end asks for.
type farEnd struct {
	*end
	frozen           []row // rows until the results were requested
	resultsRequested bool
	answers          int
}

// mostAnswers bounds what is sent beyond the plan: each block a few times.
const mostAnswers = 8

func (f *farEnd) receive(d *channel.Datagram) {
	switch d.Stream {
	case streamPlan: // the agreement was lost
		if agreed := f.plan.append(nil); string(agreed) == string(d.Data) && f.answers < mostAnswers*blocksOf(0) {
			f.answers++
			_ = f.session.Send(streamPlan, agreed) // an error ends pump too
		}
	case streamResult:
		if !f.resultsRequested {
			f.frozen, f.resultsRequested, f.answers = f.rows, true, 0
		}
		if len(d.Data) != 2 {
			return
		}
		number := int(binary.BigEndian.Uint16(d.Data))
		if number >= blocksOf(len(f.frozen)) || f.answers >= mostAnswers*blocksOf(len(f.frozen)) {
			return
		}
		f.answers++
		f.out = appendBlock(f.out[:0], number, uint32(len(f.sent)), f.frozen)
		_ = f.session.Send(streamResult, f.out)
	}
}
