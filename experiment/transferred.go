package experiment

import (
	"encoding/hex"
	"time"

	"wirelab/experiment/transfer"
)

// Transfer is how a file came across: the present delivery of a lane.
type Transfer struct {
	Encoder     string  `json:"encoder"` // that packed it; empty as long as none has
	OldBytes    int     `json:"old_bytes"`
	NewBytes    int     `json:"new_bytes"`
	PackedBytes int     `json:"packed_bytes"` // what the encoder made of it: the patch
	Blocks      int     `json:"blocks"`       // datagrams that it takes at least
	Delivered   int     `json:"delivered"`    // blocks that are there
	Resent      int64   `json:"resent"`       // datagrams that carried a block again
	Needless    int64   `json:"needless"`     // of those, blocks that were there already
	Done        bool    `json:"done"`         // the file is rebuilt, and its SHA-256 agrees
	Failed      bool    `json:"failed"`       // all has come, and it is no such file
	SHA256      string  `json:"sha256"`       // of the new file
	OldSHA256   string  `json:"old_sha256"`   // of the old one
	ElapsedS    float64 `json:"elapsed_s"`    // since the first datagram left, until it was done or now
	// TimeS is how long it took from the first datagram until the file was rebuilt;
	// absent if it was not.
	TimeS       *float64 `json:"time_s,omitempty"`
	RoundTripMS float64  `json:"round_trip_ms"` // smoothed, as the sender has it
	TimeoutMS   float64  `json:"timeout_ms"`    // after which it sends a block again
	// What was sent in all, as the datagrams of Totals are, whatever round or encoder
	// they were of: payload, on the wire, and up the link.
	PayloadBytes  int64   `json:"payload_bytes"`
	WireBytes     int64   `json:"wire_bytes"`
	FeedbackBytes int64   `json:"feedback_bytes"`
	Rounds        []Round `json:"rounds,omitempty"`
}

// Round is a delivery that ended, in a session that delivers again and again.
type Round struct {
	Encoder     string  `json:"encoder"`
	StartS      float64 `json:"start_s"`
	TimeS       float64 `json:"time_s"` // until it was done, or given up
	Done        bool    `json:"done"`
	PackedBytes int     `json:"packed_bytes"`
	Blocks      int     `json:"blocks"`
	Resent      int64   `json:"resent"`
}

// maxRounds bounds how many rounds are remembered.
const maxRounds = 100

// transferred sums up the present delivery at now, and what m has counted.
func (d *delivery) transferred(now time.Duration, m *meter) *Transfer {
	if d == nil {
		return nil
	}
	t := &Transfer{OldBytes: len(d.pair.old.Body), NewBytes: len(d.pair.new.Body), Rounds: d.rounds[:len(d.rounds):len(d.rounds)],
		SHA256: hex.EncodeToString(d.pair.newSum[:]), OldSHA256: hex.EncodeToString(d.pair.oldSum[:]),
		PayloadBytes: m.payload / 8, WireBytes: m.wire / 8, FeedbackBytes: m.up / 8}
	if !d.begun() {
		return t
	}
	out := d.snd.Progress()
	t.Blocks, t.Resent, t.Needless, t.Done, t.Failed = out.Blocks(), out.Resent(), d.needless, d.done, d.failed
	if d.packed != nil {
		t.Encoder, t.PackedBytes = d.packed.encoder, len(d.packed.data)
	}
	if in, _ := d.rcv.Progress(); d.present() {
		t.Delivered = in.Held()
	}
	t.ElapsedS = max(now-d.start, 0).Seconds()
	if d.done {
		secs := (d.doneAt - d.start).Seconds()
		t.TimeS, t.ElapsedS = &secs, secs
	}
	t.RoundTripMS, t.TimeoutMS = milliseconds(out.RoundTrip()), milliseconds(out.Timeout())
	return t
}

// busyUntil returns the end of the time that rates are reckoned over. A lane whose
// file is there has nothing more to do while those beside it go on: its last datagram
// and the beat that this took count, and what the others take does not.
func (d *delivery) busyUntil(now time.Duration) time.Duration {
	if d == nil || !d.done || d.again {
		return now
	}
	return max(d.doneAt, d.left+d.beat)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// close files the epoch that ends at now among the rounds.
func (d *delivery) close(now time.Duration) {
	if !d.begun() || d.packed == nil {
		return
	}
	r := Round{Encoder: d.packed.encoder, StartS: d.start.Seconds(), Done: d.done, PackedBytes: len(d.packed.data), Blocks: d.snd.Progress().Blocks(), Resent: d.snd.Progress().Resent()}
	r.TimeS = (now - d.start).Seconds()
	if d.done {
		r.TimeS = (d.doneAt - d.start).Seconds()
	}
	if len(d.rounds) >= maxRounds {
		d.rounds = append([]Round{}, d.rounds[1:]...)
	}
	d.rounds = append(d.rounds, r)
	d.packed = nil
}

// BlockState is what is known, at both ends together, of some neighbouring blocks.
type BlockState uint8

// The states, from bad to good: of several blocks the worst that applies to any.
const (
	BlockWaiting   BlockState = iota // never sent
	BlockUnderWay                    // sent once, not there
	BlockAgain                       // sent again, not there
	BlockDelivered                   // there
	BlockLate                        // there, after it was sent more than once
)

// maxBlockStates is how many states a snapshot shows at most.
const maxBlockStates = 2048

// states returns how the blocks stand, neighbours together if they are too many.
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
	times := d.snd.Progress().Times(n)
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

// bounds of SenderConfig.Block and Window.
const (
	minBlock  = transfer.MinBlock
	maxBlock  = 1400
	maxWindow = transfer.Reach
)
