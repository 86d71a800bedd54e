package delivery

import (
	"encoding/hex"
	"slices"
	"time"

	"wirelab/experiment/figures"
)

// maxRounds is the maximum number of finished rounds that are kept.
const maxRounds = 100

// closeRound adds the delivery that ends at now to the rounds.
func (d *Delivery) closeRound(now time.Duration) {
	if d.packed == nil {
		return
	}
	out := d.snd.Progress()
	end := now
	if d.done {
		end = d.doneAt
	}
	if len(d.rounds) >= maxRounds {
		d.rounds = slices.Clone(d.rounds[1:]) // snapshots share the old list
	}
	d.rounds = append(d.rounds, figures.Round{Encoder: d.packed.encoder, StartS: d.start.Seconds(), TimeS: (end - d.start).Seconds(),
		Done: d.done, PackedBytes: len(d.packed.data), Blocks: out.Blocks(), Resent: out.Resent()})
	d.packed = nil
}

// Figures returns the figures of the current delivery at now; nil if d is nil. The lane has sent payload
// bytes of payload, wire bytes on the wire, and feedback bytes on the uplink's wire.
func (d *Delivery) Figures(now time.Duration, payload, wire, feedback int64) *figures.Transfer {
	if d == nil {
		return nil
	}
	t := &figures.Transfer{OldBytes: len(d.pair.Old.Body), NewBytes: len(d.pair.New.Body), Rounds: slices.Clip(d.rounds),
		SHA256: hex.EncodeToString(d.pair.NewSum[:]), OldSHA256: hex.EncodeToString(d.pair.OldSum[:]),
		PayloadBytes: payload, WireBytes: wire, FeedbackBytes: feedback}
	if !d.snd.Loaded() {
		return t
	}
	out := d.snd.Progress()
	t.Blocks, t.Resent, t.Spurious, t.Done, t.Failed = out.Blocks(), out.Resent(), d.spurious, d.done, d.failed
	if d.packed != nil {
		t.Encoder, t.PackedBytes = d.packed.encoder, len(d.packed.data)
	}
	if in, _ := d.rcv.Progress(); d.sameEpoch() {
		t.Delivered = in.Received()
	}
	t.ElapsedS = max(now-d.start, 0).Seconds()
	if d.done {
		secs := (d.doneAt - d.start).Seconds()
		t.TimeS, t.ElapsedS = &secs, secs
	}
	t.RoundTripMS, t.TimeoutMS = float64(out.RoundTrip().Microseconds())/1000, float64(out.Timeout().Microseconds())/1000
	return t
}

// AddTiming adds how long the packed file took to make and to unpack.
func (d *Delivery) AddTiming(t *figures.Timing) {
	if d == nil {
		return
	}
	t.UnpackMS = float64(d.unpackNS) / 1e6
	if d.packed != nil {
		t.PackMS = float64(d.packed.ns) / 1e6
	}
}

// BusyUntil returns the end of the time over which rates are computed. For a lane that has
// delivered its file this is the end of the beat of its last datagram, even if other lanes are
// still delivering.
func (d *Delivery) BusyUntil(now time.Duration) time.Duration {
	if d == nil || !d.done || d.opt.Again {
		return now
	}
	return max(d.doneAt, d.lastSentAt+d.opt.Beat)
}

// Progress returns how many bytes of the packed file have arrived and how many there are.
func (d *Delivery) Progress() (done, total int) {
	if !d.snd.Loaded() {
		return 0, 0
	}
	total, block := d.snd.Bytes()
	if in, _ := d.rcv.Progress(); d.sameEpoch() {
		done = min(in.Received()*block, total) // the last block may be short
	}
	return done, total
}

// BlockState is the state of a block, or of a run of neighbouring blocks, as known from both
// ends.
type BlockState uint8

// The states. Several blocks shown as one have the first of their undelivered states, or, if all
// are delivered, BlockRecovered if one of them is.
const (
	blockUnsent    BlockState = iota // never sent
	BlockInFlight                    // sent once, not arrived
	BlockResent                      // sent more than once, not arrived
	BlockDelivered                   // arrived
	BlockRecovered                   // arrived after it was sent more than once
)

// maxBlockStates is the maximum number of states in a snapshot.
const maxBlockStates = 2048

// Blocks returns the states of all blocks in order; nil if no file is delivered. If there are more than
// maxBlockStates, each entry stands for several neighbours.
func (d *Delivery) Blocks() []BlockState {
	if d == nil || d.snd.Progress().Blocks() == 0 {
		return nil
	}
	n := d.snd.Progress().Blocks()
	out := make([]BlockState, min(n, maxBlockStates))
	for i := range out {
		from, to := i*n/len(out), (i+1)*n/len(out)
		out[i] = d.blockState(from)
		for b := from + 1; b < to; b++ {
			if s := d.blockState(b); s < BlockDelivered && s < out[i] || s > out[i] && out[i] >= BlockDelivered {
				out[i] = s
			}
		}
	}
	return out
}

// blockState returns the state of block n, from 0.
func (d *Delivery) blockState(n int) BlockState {
	sendCount := d.snd.Progress().SendCount(n)
	in, _ := d.rcv.Progress()
	arrived := d.sameEpoch() && in.Has(n)
	switch {
	case arrived && sendCount > 1:
		return BlockRecovered
	case arrived:
		return BlockDelivered
	case sendCount > 1:
		return BlockResent
	case sendCount > 0:
		return BlockInFlight
	}
	return blockUnsent
}

// Making is the progress of a patch in the making. Virtual time stands still until it is done.
type Making struct {
	Encoder     string
	Done, Total int64 // bytes of the new file
}
