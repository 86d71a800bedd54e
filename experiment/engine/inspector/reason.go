package inspector

import (
	"errors"

	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/packetlog"
)

// Reason is what was wrong with a packet: why it was of no use, or why it was unusually large.
type Reason uint8

// The reasons: first those for a packet that was of no use, then those for a large one.
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
	BecauseTainted             // decoded from damaged bytes, from a tainted frame, or as another packet
	BecauseUnknown             // its codec or epoch is unknown to the receiver
	BecauseRefused             // the decoder rejected undamaged bytes of its own encoder
	BecauseRefusedFrame        // the encoder rejected the frame; nothing was sent
	BecauseWrong               // the decoded frame differs from the one sent
	BecauseNoAck               // large: no packet was acked yet, so it builds on the initial state
	BecauseSwapped             // large: the encoder had just been swapped
	BecauseSeam                // large: the recording restarted, and it builds on a frame from before
	BecauseOldBase             // large: its baseline was older than usual
	BecauseChanged             // large: more items than usual changed
	becauseMoreBits            // large: its changed items took more bits than usual
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

// failureReason returns why a packet was of no use; NoReason if it was of use.
func failureReason(r *packetlog.Record, in *Inside) Reason {
	switch r.Outcome {
	case packetlog.Lost:
		return BecauseLost
	case packetlog.Decoded, packetlog.Stale:
		switch {
		case in.Late > 0:
			return BecauseLate
		case r.Outcome == packetlog.Stale:
			return BecauseStale
		}
	case packetlog.NoBaseline:
		return noBaseReason(in.Base)
	case packetlog.Corrupt:
		switch {
		case errors.Is(in.Err, endpoint.ErrDoubted):
			return BecauseDoubted
		case in.Flipped > 0 && in.Err == nil:
			return BecauseChecksum
		case in.Flipped > 0:
			return BecauseDamaged
		}
		return BecauseRefused
	case packetlog.Tainted:
		return BecauseTainted
	case packetlog.UnknownCodec:
		return BecauseUnknown
	case packetlog.Wrong:
		return BecauseWrong
	}
	return NoReason
}

func noBaseReason(b baselineState) Reason {
	switch b {
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
func (in *Inside) spiked(r *packetlog.Record) bool {
	size, mean := float64(r.Payload), in.Usual.Payload
	return in.Usual.N >= spikeWarmUp && size >= spikeTimes*mean && size >= mean+spikeBytes
}

// spikeReason returns why a packet is large; NoReason if it is not. The order of the cases
// matters, because one can cause the next: with an older baseline, more items have changed.
func spikeReason(r *packetlog.Record, in *Inside) Reason {
	const more = 1.5
	switch {
	case !in.spiked(r):
		return NoReason
	case in.Previous != "" && (in.WithoutMemo || in.Age < usualPackets && in.Previous != r.Encoder):
		return BecauseSwapped
	case r.Across:
		return BecauseSeam
	case r.Baseline == 0:
		return BecauseNoAck
	case float64(r.Baseline) >= more*in.Usual.Baseline && in.AfterBaseline != fateCounts{}:
		return BecauseOldBase
	case float64(r.Changed) >= more*in.Usual.Changed:
		return BecauseChanged
	}
	return becauseMoreBits
}

// Reasons lists the reasons that apply to a packet: at most one for its outcome and one for
// its size.
func (o *Opened) Reasons() (list []Reason) {
	if o.Gone {
		return nil
	}
	for _, r := range [...]Reason{failureReason(&o.Record, &o.Inside), spikeReason(&o.Record, &o.Inside)} {
		if r != NoReason {
			list = append(list, r)
		}
	}
	return list
}
