package endpoint

import (
	"fmt"
	"time"

	"wirelab/internal/units"
)

// Decision is a decision of a send-rate control: a run of snapshots that were held back for the same reason, or a
// change of its rate.
type Decision struct {
	At, Until time.Duration // of the first and the last snapshot held back; equal for a change of the rate
	Held      int           // snapshots held back; 0 for a change of the rate
	Why       DecisionReason
	// Measured and Limit are what the reason compared, at the last snapshot: times in nanoseconds. For HeldByRate
	// they are the time until the next snapshot and the rate; for CutByLoss, Measured is the share of lost packets in
	// thousandths, and Limit the number of packets, 0 if unknown.
	Measured, Limit int64
	// From and To are the rate before and after a change: bits per second, or snapshots per second for becameBad and
	// becameGood. For HeldByRate, From is the rate at the first snapshot held back.
	From, To int64
}

// DecisionReason is the reason of a Decision.
type DecisionReason uint8

// The reasons.
const (
	HeldByRate      DecisionReason = iota // the rate is used up
	heldByRoundTrip                       // conditions are bad, so fewer snapshots are sent
	heldByUnacked                         // the oldest unacked snapshot is too old
	HeldToDrain                           // the delay without a queue is to be measured
	CutByLoss                             // packets were lost
	cutByOveruse                          // the delay grows
	becameBad                             // the round trip is long
	becameGood                            // the round trip is short again
	numDecisionReasons
)

// String returns the name of the reason as in reports.
func (r DecisionReason) String() string {
	names := [numDecisionReasons]string{"rate", "round_trip", "unacked", "drain", "loss", "overuse", "bad", "good"}
	if r < numDecisionReasons {
		return names[r]
	}
	return fmt.Sprintf("reason(%d)", uint8(r))
}

// Text explains the decision in a sentence without a full stop.
func (d *Decision) Text() string {
	ms := func(ns int64) string { return units.Fixed(float64(ns)/1e6, 0) }
	kbps := func(bps int64) string { return units.Fixed(float64(bps)/1e3, 0) }
	cut := "rate cut from " + kbps(d.From) + " to " + kbps(d.To) + " kbps: "
	switch d.Why {
	case HeldByRate:
		rate := kbps(d.Limit)
		if from := kbps(d.From); d.From > 0 && from != rate {
			rate = from + " to " + rate
		}
		return "held back: the target of " + rate + " kbps was used up"
	case heldByRoundTrip:
		return "held back: fewer snapshots are sent, since the round trip is or was long; it is " + ms(d.Measured) + " ms, limit " + ms(d.Limit)
	case heldByUnacked:
		return "held back: oldest unacked snapshot is " + ms(d.Measured) + " ms old, limit " + ms(d.Limit)
	case HeldToDrain:
		return "held back until all packets in flight are acked, so that the delay without a queue can be measured"
	case CutByLoss:
		share := units.Fixed(float64(d.Measured)/10, 0) + " %"
		if d.Limit > 0 {
			return cut + fmt.Sprintf("%s of the %d packets of 200 ms were lost", share, d.Limit)
		}
		return cut + share + " of the packets were lost"
	case cutByOveruse:
		return cut + "the delay has grown for " + ms(d.Measured) + " ms, limit " + ms(d.Limit)
	case becameBad, becameGood:
		return fmt.Sprintf("%d snapshots a second instead of %d: round trip %s ms, limit %s", d.To, d.From, ms(d.Measured), ms(d.Limit))
	}
	return d.Why.String()
}

// decisionLog stores the newest decisions, and counts all.
type decisionLog struct {
	newest []Decision
	held   [numDecisionReasons]int64 // snapshots held back, by reason
	cuts   int64                     // changes that lowered the rate
}

const (
	maxDecisions = 200             // stored
	mergePeriod  = 2 * time.Second // snapshots held back for the same reason within this time are one decision
)

// add adds a decision. A snapshot held back extends the last decision if that has the same reason.
func (l *decisionLog) add(d Decision) {
	if d.Held > 0 {
		l.held[d.Why] += int64(d.Held)
		if n := len(l.newest); n > 0 {
			if last := &l.newest[n-1]; last.Held > 0 && last.Why == d.Why && d.At-last.Until < mergePeriod {
				if last.From == 0 {
					last.From = last.Limit
				}
				last.Held, last.Until, last.Measured, last.Limit = last.Held+d.Held, d.Until, d.Measured, d.Limit
				return
			}
		}
	} else if d.To < d.From {
		l.cuts++
	}
	if len(l.newest) == maxDecisions {
		l.newest = l.newest[:copy(l.newest, l.newest[1:])]
	}
	l.newest = append(l.newest, d)
}
