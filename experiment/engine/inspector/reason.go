package inspector

import (
	"wirelab/experiment/container"
	"wirelab/experiment/engine/packetlog"
)

// Reason is why a packet failed or was unusually large.
type Reason uint8

// The reasons: first those for a packet that the receiver could not use, then, from becauseNoAck on,
// those for a large packet.
const (
	NoReason            Reason = iota
	BecauseLost                // the link dropped it
	BecauseLate                // it arrived after its display time
	becauseRepaired            // its datagram did not arrive, or later than the redundancy that repaired it
	becauseStale               // it arrived after a newer one, though in time for the display
	BecauseDropped             // its baseline had left the receiver's history
	becauseBaseLost            // the link lost its baseline
	becauseBaseFailed          // its baseline could not be decoded
	becauseNoBase              // the receiver lacked its baseline; the reason is not known
	becauseCorrupt             // damaged; the checksum failed
	becauseUnknown             // its codec or epoch is unknown to the receiver
	becauseRefused             // the decoder rejected undamaged bytes of its own encoder
	BecauseRefusedFrame        // the encoder rejected the frame; nothing was sent
	BecauseWrong               // the decoded frame differs from the one sent
	becauseNoAck               // large: no packet was acked yet, so it builds on the initial state
	becauseSwapped             // large: the encoder had just been swapped
	becauseSeam                // large: a reference is from before a restart of the recording
	becauseOldBase             // large: its baseline was older than usual
	becauseChanged             // large: more items than usual changed
	becauseMoreBits            // large: its changed items took more bits than usual
	numReasons
)

// String returns a short name of the reason.
func (r Reason) String() string {
	names := [numReasons]string{"nothing", "lost", "late", "repaired", "stale", "no baseline: dropped", "no baseline: lost",
		"no baseline: not decoded", "no baseline",
		"corrupt", "unknown codec", "codec error", "frame refused", "WRONG",
		"large: no ack", "large: swapped", "large: seam", "large: old baseline", "large: more changed", "large: dearer"}
	if r < numReasons {
		return names[r]
	}
	return "?"
}

// Large reports whether the reason concerns a packet's size, not its outcome.
func (r Reason) Large() bool { return r >= becauseNoAck && r < numReasons }

// failureReason returns why the receiver could not use a packet, or received it after its display time or
// after a newer packet, or by redundancy; NoReason otherwise.
func failureReason(r *packetlog.Record, in *Inside) Reason {
	switch r.Outcome {
	case packetlog.Lost:
		return BecauseLost
	case packetlog.Decoded, packetlog.Stale:
		switch {
		case r.Repair != container.NotRepaired:
			return becauseRepaired
		case r.Late > 0:
			return BecauseLate
		case r.Outcome == packetlog.Stale:
			return becauseStale
		}
	case packetlog.NoBaseline:
		return noBaseReason(in.Base)
	case packetlog.Corrupt:
		if in.Flipped > 0 {
			return becauseCorrupt
		}
		return becauseRefused
	case packetlog.UnknownCodec:
		return becauseUnknown
	case packetlog.Wrong:
		return BecauseWrong
	}
	return NoReason
}

// noBaseReason returns the reason for a packet without a baseline whose baseline has state b.
func noBaseReason(b baselineState) Reason {
	switch b {
	case BaseDropped:
		return BecauseDropped
	case BaseLost:
		return becauseBaseLost
	case BaseFailed:
		return becauseBaseFailed
	}
	return becauseNoBase
}

// A packet is a spike if its payload is at least spikeRatio times the mean of the packets before it,
// and at least spikeBytes larger than that mean. The mean must cover at least spikeWarmUp packets.
const (
	spikeRatio  = 2
	spikeBytes  = 128
	spikeWarmUp = 16
)

// isSpike reports whether a packet is much larger than the packets before it.
func (in *Inside) isSpike(r *packetlog.Record) bool {
	size, mean := float64(r.Payload), in.Usual.Payload
	return in.Usual.N >= spikeWarmUp && size >= spikeRatio*mean && size >= mean+spikeBytes
}

// spikeReason returns why a packet is large; NoReason if it is not. Causes are tested before their
// effects: with an older baseline, for example, more items have changed. An encoder counts as just swapped
// for usualPackets packets, or while the baseline has no memo of the new epoch.
func spikeReason(r *packetlog.Record, in *Inside) Reason {
	const causeRatio = 1.5 // a quantity of at least this multiple of its mean counts as a cause
	switch {
	case !in.isSpike(r):
		return NoReason
	case in.Previous != "" && (in.WithoutMemo || in.Age < usualPackets && in.Previous != r.Encoder):
		return becauseSwapped
	case r.CrossesLoop:
		return becauseSeam
	case r.Baseline == 0:
		return becauseNoAck
	case float64(r.Baseline) >= causeRatio*in.Usual.Baseline && in.AfterBaseline != fateCount{}:
		return becauseOldBase
	case float64(r.Changed) >= causeRatio*in.Usual.Changed:
		return becauseChanged
	}
	return becauseMoreBits
}

// Reasons returns the reasons that apply to the packet: at most one for its outcome and one for its
// size.
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
