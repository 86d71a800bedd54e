package engine

import (
	"encoding/hex"
	"time"

	"wirelab/experiment/figures"
)

// maxRounds is the most finished rounds that are kept.
const maxRounds = 100

// transferred returns the figures of the current delivery at now.
func (d *delivery) transferred(now time.Duration, m *meter) *figures.Transfer {
	if d == nil {
		return nil
	}
	t := &figures.Transfer{OldBytes: len(d.pair.old.Body), NewBytes: len(d.pair.new.Body), Rounds: d.rounds[:len(d.rounds):len(d.rounds)],
		SHA256: hex.EncodeToString(d.pair.newSum[:]), OldSHA256: hex.EncodeToString(d.pair.oldSum[:]),
		PayloadBytes: m.payload / 8, WireBytes: m.wire / 8, FeedbackBytes: m.up / 8}
	if !d.begun() {
		return t
	}
	out := d.snd.Progress()
	t.Blocks, t.Resent, t.Spurious, t.Done, t.Failed = out.Blocks(), out.Resent(), d.spurious, d.done, d.failed
	if d.packed != nil {
		t.Encoder, t.PackedBytes = d.packed.encoder, len(d.packed.data)
	}
	if in, _ := d.rcv.Progress(); d.present() {
		t.Delivered = in.Received()
	}
	t.ElapsedS = max(now-d.start, 0).Seconds()
	if d.done {
		secs := (d.doneAt - d.start).Seconds()
		t.TimeS, t.ElapsedS = &secs, secs
	}
	t.RoundTripMS, t.TimeoutMS = milliseconds(out.RoundTrip()), milliseconds(out.Timeout())
	return t
}

// busyUntil returns the end of the time over which rates are computed. For a lane
// that has delivered its file this is the end of the beat of its last datagram, even
// if other lanes are still delivering.
func (d *delivery) busyUntil(now time.Duration) time.Duration {
	if d == nil || !d.done || d.again {
		return now
	}
	return max(d.doneAt, d.left+d.beat)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// close adds the delivery that ends at now to the rounds.
func (d *delivery) close(now time.Duration) {
	if !d.begun() || d.packed == nil {
		return
	}
	r := figures.Round{Encoder: d.packed.encoder, StartS: d.start.Seconds(), Done: d.done, PackedBytes: len(d.packed.data),
		Blocks: d.snd.Progress().Blocks(), Resent: d.snd.Progress().Resent()}
	r.TimeS = (now - d.start).Seconds()
	if d.done {
		r.TimeS = (d.doneAt - d.start).Seconds()
	}
	if len(d.rounds) >= maxRounds {
		d.rounds = append([]figures.Round{}, d.rounds[1:]...)
	}
	d.rounds = append(d.rounds, r)
	d.packed = nil
}

// BlockState is the state of a block, or of a run of neighbouring blocks, as known
// from both ends.
type BlockState uint8

// The states, roughly from bad to good. Several blocks shown as one have the worst
// state of any of them.
const (
	BlockWaiting   BlockState = iota // never sent
	BlockUnderWay                    // sent once, not arrived
	BlockAgain                       // sent more than once, not arrived
	BlockDelivered                   // arrived
	BlockLate                        // arrived after it was sent more than once
)

// maxBlockStates is the most states in a snapshot.
const maxBlockStates = 2048

// states returns the states of all blocks in order. If there are too many, each entry
// stands for several neighbours.
func (d *delivery) states() []BlockState {
	if d == nil || d.snd.Progress().Blocks() == 0 {
		return nil
	}
	n := d.snd.Progress().Blocks()
	out := make([]BlockState, min(n, maxBlockStates))
	for i := range out {
		from, to := i*n/len(out), (i+1)*n/len(out)
		out[i] = d.state(from)
		for b := from + 1; b < to; b++ {
			if s := d.state(b); s < BlockDelivered && s < out[i] || s > out[i] && out[i] >= BlockDelivered {
				out[i] = s
			}
		}
	}
	return out
}

func (d *delivery) state(n int) BlockState {
	times := d.snd.Progress().SendCount(n)
	in, _ := d.rcv.Progress()
	there := d.present() && in.Has(n)
	switch {
	case there && times > 1:
		return BlockLate
	case there:
		return BlockDelivered
	case times > 1:
		return BlockAgain
	case times > 0:
		return BlockUnderWay
	}
	return BlockWaiting
}
