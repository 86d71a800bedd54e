package engine

import (
	"cmp"
	"errors"
	"slices"

	"wirelab/experiment/endpoint"
	"wirelab/lossmodel"
)

// Reason says what was wrong with a packet: why it was of no use, or why it was
// unusually large.
type Reason uint8

// The reasons. Those for a packet that was of no use come first.
const (
	NoReason            Reason = iota
	BecauseLost                // the link dropped it
	BecauseLate                // it arrived after its display time
	BecauseStale               // it arrived after a newer one, though in time for the display
	BecauseDropped             // its baseline had left the receiver's history
	BecauseBaseLost            // the link lost its baseline
	BecauseBaseFailed          // its baseline could not be decoded
	BecauseNoBase              // the receiver lacked its baseline; the reason is not known
	BecauseChecksum            // damaged; the checksum failed
	BecauseDamaged             // damaged; the decoder rejected it
	BecauseDoubted             // its sequence number was far from the newest, and no second packet agreed
	BecauseTainted             // decoded from damaged bytes, from a frame that was, or as another packet
	BecauseUnknown             // its codec or epoch is unknown to the receiver
	BecauseRefused             // the decoder rejected undamaged bytes of its own encoder
	BecauseRefusedFrame        // the encoder rejected the frame; nothing was sent
	BecauseWrong               // the decoded frame differs from the one sent
	BecauseNoAck               // large: no packet was acked yet, so it builds on the initial state
	BecauseSwapped             // large: the encoder had just been swapped
	BecauseSeam                // large: the recording restarted, and it builds on a frame from before
	BecauseOldBase             // large: its baseline was older than usual
	BecauseChanged             // large: more items than usual changed
	BecauseMoreBits            // large: its changed items took more bits than usual
	numReasons
)

// String names the reason in a word or two.
func (r Reason) String() string {
	names := [numReasons]string{"nothing", "lost", "late", "stale", "no baseline: dropped", "no baseline: lost",
		"no baseline: not decoded", "no baseline",
		"checksum", "damaged", "doubted", "tainted", "unknown codec", "codec error", "frame refused", "WRONG",
		"large: no ack", "large: swapped", "large: seam", "large: old baseline", "large: more changed", "large: dearer"}
	if r < numReasons {
		return names[r]
	}
	return "?"
}

// Large reports whether the reason is about a packet's size and not about its
// outcome.
func (r Reason) Large() bool { return r >= BecauseNoAck && r < numReasons }

// failureReason says why a packet was of no use; NoReason if it was of use.
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
		case errors.Is(in.Err, endpoint.ErrDoubted):
			return BecauseDoubted
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

// A packet is a spike if its payload is at least spikeTimes the mean of the packets
// before it, and at least spikeBytes larger than that mean. The mean needs
// spikeWarmUp packets.
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

// spikeReason says why a packet is large. The order of the cases matters, because one
// can cause the next: with an older baseline, more items have changed.
func spikeReason(rec *PacketRecord, in *Inside) Reason {
	const more = 1.5
	switch {
	case !in.spiked(rec):
		return NoReason
	case in.Previous != "" && (in.WithoutMemo || in.Age < usualPackets && in.Previous != rec.Encoder):
		return BecauseSwapped
	case rec.Across:
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

// Reasons lists the reasons that apply to a packet: at most one for its outcome and
// one for its size.
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

// newestFirst returns the incidents that have happened, latest first.
func newestFirst(all []Incident) (list []Incident) {
	for i := range all {
		if all[i].N > 0 {
			list = append(list, all[i])
		}
	}
	slices.SortStableFunc(list, func(a, b Incident) int { return cmp.Compare(b.T, a.T) })
	return list
}

// Culprit returns the link stage that delayed a packet most, compared with what the
// stage adds to every packet; nil if no stage added anything.
func (in *Inside) Culprit() (worst *lossmodel.Step) {
	for i := range in.Trail.All() {
		s := &in.Trail.Steps[i]
		if extra := s.Took - s.Usual; extra > 0 && (worst == nil || extra > worst.Took-worst.Usual) {
			worst = s
		}
	}
	return worst
}
