package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/units"
	"wirelab/internal/words"
	"wirelab/lossmodel"
)

// Explain says in a sentence why, from what was noted about the packet. c is the
// configuration that it was sent under.
func Explain(o *inspector.Opened, why inspector.Reason, c *config.Config) string {
	e := explainer{rec: &o.Record, in: &o.Inside, rate: c.Sender.RateHz, playout: c.Receiver.Playout}
	switch why {
	case inspector.NoReason:
		return e.fine()
	case inspector.BecauseLost:
		return e.packet() + " was lost: " + e.lost()
	case inspector.BecauseLate, inspector.BecauseStale:
		return e.late()
	case inspector.BecauseDropped, inspector.BecauseBaseLost, inspector.BecauseBaseFailed, inspector.BecauseNoBase:
		return e.packet() + fmt.Sprintf(" needed snapshot %d, which ", e.in.Missing) + e.noBase(why)
	case inspector.BecauseWrong:
		return e.packet() + " was decoded without complaint, yet differs from what was sent: the encoder " + e.rec.Encoder + " is at fault"
	case inspector.BecauseRefusedFrame:
		return fmt.Sprintf("the encoder %s refused frame %d, so nothing was sent: %v", e.rec.Encoder, e.rec.Seq, e.in.Err)
	}
	if why.Large() {
		return e.large(why)
	}
	return e.damage(why)
}

// explainer puts the facts about one packet into words.
type explainer struct {
	rec     *packetlog.Record
	in      *inspector.Inside
	rate    int
	playout time.Duration
}

func (e *explainer) packet() string {
	if e.rec.Copy > 0 {
		return fmt.Sprintf("copy %d of packet %d", e.rec.Copy, e.rec.Seq)
	}
	return fmt.Sprintf("packet %d", e.rec.Seq)
}

// fine tells of a packet with which nothing is wrong.
func (e *explainer) fine() string {
	switch e.rec.Outcome {
	case packetlog.InFlight:
		return e.packet() + " is still on its way"
	case packetlog.Duplicate:
		return e.packet() + " came when the packet had been decoded already"
	}
	return e.packet() + " was decoded " + millis(e.rec.Arrived-e.rec.Sent) + " after it was sent"
}

// lost says by what.
func (e *explainer) lost() string {
	var by string
	for _, s := range e.in.Trail.All() {
		if s.Lost != lossmodel.None {
			by = "the " + s.Stage.String() + " stage "
			if s.Lost == lossmodel.Queue {
				return "the queue of the " + s.Stage.String() + " stage was full: " + fullQueue(&s)
			}
		}
	}
	if by == "" {
		by = "the link "
	}
	row := ""
	if e.in.Run > 1 {
		row = fmt.Sprintf(", the %s in a row", words.Ordinal(e.in.Run))
	}
	switch e.rec.Cause {
	case lossmodel.Burst:
		return by + "is in its bad state, in which packets are lost in bursts" + row
	case lossmodel.Fragment:
		return by + fmt.Sprintf("dropped one of the %d fragments that it was cut into", e.in.Fragments) + row
	}
	return by + "dropped it by itself" + row
}

func fullQueue(s *lossmodel.Step) string {
	if s.Room > 0 {
		return fmt.Sprintf("%s of %s bytes were taken by %s", units.Thousands(s.Ahead.Bytes), units.Thousands(s.Room), words.Count(s.Ahead.Packets, "packet"))
	}
	return words.Count(s.Ahead.Packets, "packet") + " were waiting"
}

// late says after what it came, and what held it up.
func (e *explainer) late() string {
	var b strings.Builder
	took := e.rec.Arrived - e.rec.Sent
	fmt.Fprintf(&b, "%s took %s", e.packet(), millis(took))
	if e.rec.Outcome == packetlog.Stale {
		fmt.Fprintf(&b, " and came %s after packet %d, which was sent %s later", millis(e.rec.Arrived-e.in.NewerAt), e.in.Newer,
			millis(e.in.NewerSent-e.rec.Sent))
	}
	if e.in.Late > 0 {
		fmt.Fprintf(&b, " and came %s after its time on display, which is held back by %s", millis(e.in.Late), millis(e.playout))
	}
	s := e.in.Culprit()
	if s == nil {
		return b.String() + ": nothing held it up; those after it took less"
	}
	extra := millis(s.Took - s.Usual)
	switch s.Stage {
	case lossmodel.StageRate:
		fmt.Fprintf(&b, ": it spent %s in the queue, behind %s bytes", extra, units.Thousands(s.Ahead.Bytes))
	case lossmodel.StageDelay:
		fmt.Fprintf(&b, ": jitter added %s to the latency of %s", extra, millis(s.Usual))
	case lossmodel.StageReorder:
		fmt.Fprintf(&b, ": the reorder stage held it back for %s", extra)
	case lossmodel.StageDuplicate:
		fmt.Fprintf(&b, ": it is a copy that was made to follow %s later", extra)
	default:
		fmt.Fprintf(&b, ": the %s stage added %s to the latency of %s", s.Stage, extra, millis(s.Usual))
	}
	return b.String()
}

// noBase says what became of the baseline.
func (e *explainer) noBase(why inspector.Reason) string {
	forged := ""
	if e.in.AckDamaged {
		forged = "; the sender took it for held because of a damaged ack, which no checksum caught"
	}
	switch why {
	case inspector.BecauseDropped:
		return fmt.Sprintf("the receiver had dropped %s before: its history holds %s and %s", millis(e.rec.Arrived-e.in.DroppedAt),
			words.Count(e.in.History, "frame"), e.roundTrip())
	case inspector.BecauseBaseLost:
		return "the link had lost" + forged
	case inspector.BecauseBaseFailed:
		return "came but could not be decoded itself" + forged
	}
	if e.in.Base == inspector.BasePending {
		return "was still under way" + forged
	}
	return "the receiver does not hold" + forged
}

// roundTrip says why the baseline is as old as it is.
func (e *explainer) roundTrip() string {
	back, s := int(e.rec.Seq-e.in.Missing), e.in.AfterBaseline
	if gone := s.Lost + s.Failed + s.AckLost; gone > 0 && e.in.Missing == e.rec.Seq-uint64(e.rec.Baseline) {
		frames := int((e.in.BaseAcked-e.in.BaseSent)*time.Duration(e.rate)/time.Second) + 1
		if e.in.BaseAcked > 0 && back > frames+1 {
			return fmt.Sprintf("%d have passed, though the round trip takes %d: %s", back, frames, sinceWords(s))
		}
	}
	return fmt.Sprintf("the round trip takes %d", back)
}

// sinceWords says what became of the packets after a baseline.
func sinceWords(s inspector.FateCounts) string {
	var parts []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, strconv.Itoa(n)+" "+many)
		}
	}
	add(s.Lost, "was lost", "were lost")
	add(s.Failed, "could not be decoded", "could not be decoded")
	add(s.AckLost, "had its ack lost", "had their acks lost")
	add(s.InFlight, "is under way, or its ack is", "are under way, or their acks are")
	return "of the packets since " + strings.Join(parts, ", ")
}

// damage says what was damaged and who noticed.
func (e *explainer) damage(why inspector.Reason) string {
	bits := fmt.Sprintf("%s of %s were flipped", words.Count(e.in.Flipped, "bit"), units.Thousands(int64(e.in.Header+e.rec.Payload)*8))
	if e.in.Flipped == 1 {
		bits = strings.Replace(bits, "were", "was", 1)
	}
	switch why {
	case inspector.BecauseChecksum:
		return e.packet() + " was thrown away: " + bits + " on the way, and the checksum says so"
	case inspector.BecauseDamaged:
		return e.packet() + " could not be read: " + bits + " on the way, and with no checksum the decoder got them: " + errText(e.in.Err)
	case inspector.BecauseDoubted:
		cause := "packets are missing before it"
		if e.in.Flipped > 0 {
			cause = bits + " on the way"
		}
		return e.packet() + fmt.Sprintf(" came as number %d, far from the newest, and no second packet agreed: %s", e.in.TakenFor, cause)
	case inspector.BecauseTainted:
		if e.in.Flipped == 0 && e.in.TakenFor != e.rec.Seq {
			return e.packet() + fmt.Sprintf(" was taken for packet %d: damaged numbers had moved the receiver, and the checksum is off",
				e.in.TakenFor)
		}
		if e.in.Flipped == 0 {
			return e.packet() + fmt.Sprintf(" came unhurt, but builds on snapshot %d, which comes of damaged bytes: the checksum is off",
				e.rec.Seq-uint64(e.rec.Baseline))
		}
		return e.packet() + " was decoded although " + bits + " on the way: the checksum is off"
	case inspector.BecauseUnknown:
		return e.packet() + " is of an encoding that the receiver cannot decode: " + errText(e.in.Err)
	}
	return e.packet() + ", which nothing had damaged, was refused by the decoder of " + e.rec.Encoder + ": " + errText(e.in.Err)
}

func errText(err error) string {
	if err == nil {
		return "it does not say why"
	}
	return strings.TrimPrefix(err.Error(), "experiment: ")
}
