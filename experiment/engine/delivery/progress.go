package delivery

import (
	"encoding/hex"
	"slices"
	"time"

	"wirelab/experiment/figures"
)

// maxRounds is the maximum number of stored rounds.
const maxRounds = 100

// closeRound adds the delivery of the epoch that ends at now to d.rounds, which keeps the newest
// maxRounds. It does nothing if that epoch has no packed file.
func (d *Delivery) closeRound(now time.Duration) {
	if d.packed == nil {
		return
	}
	end := now
	if d.done {
		end = d.doneAt
	}
	if len(d.rounds) >= maxRounds {
		d.rounds = slices.Clone(d.rounds[1:]) // snapshots share the old list
	}
	d.rounds = append(d.rounds, figures.Round{Encoder: d.packed.encoder, StartS: d.start.Seconds(), TimeS: (end - d.start).Seconds(),
		Done: d.done, PackedBytes: len(d.packed.data), Blocks: len(d.blocks), Resent: d.snd.Outbox().Stats().Resent})
	d.packed = nil
}

// Figures returns the figures of the current delivery at now; nil if d is nil. payload, wire and
// feedback are the bytes that the lane has sent: payload and wire of the downlink, wire of the uplink.
func (d *Delivery) Figures(now time.Duration, payload, wire, feedback int64) *figures.Transfer {
	if d == nil {
		return nil
	}
	t := &figures.Transfer{OldBytes: len(d.pair.Old.Body), NewBytes: len(d.pair.New.Body), Rounds: slices.Clip(d.rounds),
		SHA256: hex.EncodeToString(d.pair.NewSum[:]), OldSHA256: hex.EncodeToString(d.pair.OldSum[:]),
		PayloadBytes: payload, WireBytes: wire, FeedbackBytes: feedback}
	if _, ok := d.snd.LoadedEpoch(); !ok {
		return t
	}
	out := d.snd.Outbox()
	t.Blocks, t.Delivered, t.Resent, t.Spurious, t.Done, t.Failed = len(d.blocks), d.arrived, out.Stats().Resent, d.spurious, d.done, d.failed
	t.DeliveredRatio = figures.RatioFigure(float64(t.Delivered), float64(t.Blocks))
	if d.packed != nil {
		t.Encoder, t.PackedBytes = d.packed.encoder, len(d.packed.data)
	}
	t.ElapsedS = max(now-d.start, 0).Seconds()
	if d.done {
		secs := (d.doneAt - d.start).Seconds()
		t.TimeS, t.ElapsedS = &secs, secs
	}
	t.RoundTripMS, t.TimeoutMS = float64(out.RoundTrip().Microseconds())/1000, float64(out.Timeout().Microseconds())/1000
	return t
}

// AddTiming sets the times of packing and unpacking in t. It does nothing if d is nil.
func (d *Delivery) AddTiming(t *figures.Timing) {
	if d == nil {
		return
	}
	t.UnpackMS = float64(d.unpackNS) / 1e6
	if d.packed != nil {
		t.PackMS = float64(d.packed.ns) / 1e6
	}
}

// BusyUntil returns the end of the interval over which rates are computed. It is now unless the lane
// has delivered its file: then it is the end of the beat of the last datagram, even if other lanes are
// still delivering.
func (d *Delivery) BusyUntil(now time.Duration) time.Duration {
	if d == nil || !d.done || d.opt.Again {
		return now
	}
	return max(d.doneAt, d.lastSentAt+d.opt.Beat)
}

// Progress returns the bytes of the packed file that have arrived, and its size; zeros before the
// first epoch.
func (d *Delivery) Progress() (done, total int) {
	total = d.snd.Bytes()
	return min(d.arrived*d.opt.Block, total), total // the last block may be shorter than the others
}

// BlockState is the state of a block, or of a run of neighbouring blocks, taken from both endpoints.
type BlockState uint8

// The states of a block. A run of blocks has the lowest state of its undelivered blocks. If all are
// delivered, it is BlockRecovered if any of them is.
const (
	blockUnsent    BlockState = iota // never sent
	BlockInFlight                    // sent once, not arrived
	BlockResent                      // sent more than once, not arrived
	BlockDelivered                   // arrived, sent once
	BlockRecovered                   // arrived, sent more than once
)

// sent returns the state after the block is sent.
func (s BlockState) sent() BlockState {
	return [...]BlockState{blockUnsent: BlockInFlight, BlockInFlight: BlockResent, BlockResent: BlockResent,
		BlockDelivered: BlockRecovered, BlockRecovered: BlockRecovered}[s]
}

// delivered returns the state after the block has arrived.
func (s BlockState) delivered() BlockState {
	if s == BlockResent {
		return BlockRecovered
	}
	return BlockDelivered
}

// maxBlockStates is the maximum number of entries that Blocks returns.
const maxBlockStates = 2048

// Blocks returns the states of all blocks in order; nil if no file is being delivered. If there are
// more than maxBlockStates blocks, each entry stands for a run of neighbouring blocks.
func (d *Delivery) Blocks() []BlockState {
	if d == nil || len(d.blocks) == 0 {
		return nil
	}
	n := len(d.blocks)
	out := make([]BlockState, min(n, maxBlockStates))
	for i := range out {
		run := d.blocks[i*n/len(out) : (i+1)*n/len(out)]
		out[i] = run[0]
		for _, s := range run[1:] {
			// The lowest undelivered state wins. If all blocks are delivered, BlockRecovered wins over
			// BlockDelivered.
			if s < BlockDelivered && s < out[i] || s > out[i] && out[i] >= BlockDelivered {
				out[i] = s
			}
		}
	}
	return out
}

// PatchProgress is the progress of packing a file. Virtual time stands still until the file is packed.
type PatchProgress struct {
	Encoder     string // name of the codec
	Done, Total int64  // bytes of the new file
}
