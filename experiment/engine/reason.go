package engine

import (
	"cmp"
	"slices"

	"wirelab/lossmodel"
)

// Reason is a kind of trouble with a packet: why it was of no use, or why it is so
// large.
type Reason uint8

// The reasons. Those of failures come first.
const (
	NoReason            Reason = iota
	BecauseLost                // the link dropped it
	BecauseLate                // it came after its time on display
	BecauseStale               // it came after a newer one, though in time for the display
	BecauseDropped             // its baseline had left the receiver's history
	BecauseBaseLost            // its baseline never came
	BecauseBaseFailed          // its baseline could not be decoded
	BecauseNoBase              // it lacks its baseline, and no more is known
	BecauseChecksum            // damaged, and the checksum said so
	BecauseDamaged             // damaged, unnoticed until the decoder could not read it
	BecauseTainted             // decoded from damaged bytes, or from a frame that was
	BecauseUnknown             // of an encoder or an epoch that the receiver does not know
	BecauseRefused             // the decoder would not have what its encoder wrote
	BecauseRefusedFrame        // the encoder would not have the frame: nothing was sent
	BecauseWrong               // decoded to something else than was sent
	BecauseNoAck               // large: no ack had come, so it builds on the initial state
	BecauseSwapped             // large: another encoder had just begun
	BecauseSeam                // large: the recording had begun anew
	BecauseOldBase             // large: its baseline was older than usual
	BecauseChanged             // large: more items than usual changed
	BecauseMoreBits            // large: its changed items cost more than usual
	numReasons
)

// String names the reason in a word or two.
func (r Reason) String() string {
	names := [numReasons]string{"nothing", "lost", "late", "stale", "no baseline: dropped", "no baseline: lost", "no baseline: not decoded", "no baseline",
		"checksum", "damaged", "tainted", "unknown codec", "codec error", "frame refused", "WRONG",
		"large: no ack", "large: swapped", "large: seam", "large: old baseline", "large: more changed", "large: dearer"}
	if r < numReasons {
		return names[r]
	}
	return "?"
}

// Large reports whether the trouble is a packet's size and not its end.
func (r Reason) Large() bool { return r >= BecauseNoAck && r < numReasons }

// failureReason says why a packet that ended was of no use; NoReason if it was.
func failureReason(rec *PacketRecord, in *Inside) Reason {
	switch rec.Outcome {
	case Lost:
		return BecauseLost
	case Decoded, Stale:
		switch {
		case in.Late > 0:
			return BecauseLate
		case rec.Outcome == Stale:
			return BecauseStale
		}
	case NoBaseline:
		return noBaseReason(in.Base)
	case Corrupt:
		switch {
		case in.Flipped > 0 && in.Err == nil:
			return BecauseChecksum
		case in.Flipped > 0:
			return BecauseDamaged
		}
		return BecauseRefused
	case Tainted:
		return BecauseTainted
	case UnknownCodec:
		return BecauseUnknown
	case Wrong:
		return BecauseWrong
	}
	return NoReason
}

func noBaseReason(h BaselineState) Reason {
	switch h {
	case BaseDropped:
		return BecauseDropped
	case BaseLost:
		return BecauseBaseLost
	case BaseFailed:
		return BecauseBaseFailed
	}
	return BecauseNoBase
}

// What makes a packet a spike: so many times the mean of those before it, and so
// many bytes more, once there are enough of them.
const (
	spikeTimes  = 2
	spikeBytes  = 128
	spikeWarmUp = 16
)

// spiked reports whether a packet is much larger than those before it.
func (in *Inside) spiked(rec *PacketRecord) bool {
	size, mean := float64(rec.Payload), in.Usual.Payload
	return in.Usual.N >= spikeWarmUp && size >= spikeTimes*mean && size >= mean+spikeBytes
}

// spikeReason says why a packet is large. What comes first explains what comes
// after it: with an old baseline more has changed.
func spikeReason(rec *PacketRecord, in *Inside) Reason {
	const more = 1.5
	switch {
	case !in.spiked(rec):
		return NoReason
	case in.Previous != "" && (in.WithoutMemo || in.Age < usualPackets && in.Previous != rec.Encoder):
		return BecauseSwapped
	case rec.Seam:
		return BecauseSeam
	case rec.Baseline == 0:
		return BecauseNoAck
	case float64(rec.Baseline) >= more*in.Usual.Baseline && in.AfterBaseline != FateCounts{}:
		return BecauseOldBase
	case float64(rec.Changed) >= more*in.Usual.Changed:
		return BecauseChanged
	}
	return BecauseMoreBits
}

// Reasons lists what there is to explain about a packet: at most its end and its
// size.
func (o *Opened) Reasons() (list []Reason) {
	if o.Gone {
		return nil
	}
	for _, r := range []Reason{failureReason(&o.Record, &o.Inside), spikeReason(&o.Record, &o.Inside)} {
		if r != NoReason {
			list = append(list, r)
		}
	}
	return list
}

// newestFirst picks the incidents that happened and puts the latest first.
func newestFirst(all []Incident) (list []Incident) {
	for i := range all {
		if all[i].N > 0 {
			list = append(list, all[i])
		}
	}
	slices.SortStableFunc(list, func(a, b Incident) int { return cmp.Compare(b.T, a.T) })
	return list
}

// culprit is the stage that made a packet late: the one that added most to what
// every packet takes. nil if none added anything.
func (in *Inside) Culprit() (worst *lossmodel.Step) {
	for i := range in.Trail.All() {
		s := &in.Trail.Steps[i]
		if extra := s.Took - s.Usual; extra > 0 && (worst == nil || extra > worst.Took-worst.Usual) {
			worst = s
		}
	}
	return worst
}
