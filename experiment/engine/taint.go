package engine

import (
	"wirelab/dataset/frame"
	"wirelab/experiment/endpoint"
)

// taint tracks damage that the receiver cannot see. With the checksum off, the receiver decodes
// damaged bytes, and every frame that is decoded from such a frame may be wrong too. The lane
// records which frames and decoders came from damaged packets. It is the playout.Verifier of the
// lane's display.
type taint struct {
	frames   [frame.MaxHistory + 1]taintedFrame  // of packet n at n % len
	decoders [endpoint.KeptEpochs]taintedDecoder // of epoch e at e % len
	file     bool                                // a block of the current delivery had been damaged
}

// taintedFrame is the state of a frame in the receiver's history.
type taintedFrame struct {
	seq, epoch uint64
	tainted    bool // decoded from damaged bytes
	memo       bool // it carries a memo of its codec
	exact      bool // it equals the source's frame that was sent
}

// taintedDecoder is the state of one of the receiver's decoders.
type taintedDecoder struct {
	epoch   uint64
	tainted bool // made from a damaged packet
}

// follow records the reception of a datagram, and reports whether the result depends on damaged
// bytes.
func (t *taint) follow(rx *endpoint.Reception, damaged bool) (tainted bool) {
	if !rx.HasDecoder {
		return damaged
	}
	d := &t.decoders[rx.Epoch%endpoint.KeptEpochs]
	tainted = damaged
	if !rx.Fresh && d.epoch == rx.Epoch {
		d.tainted = d.tainted && (damaged || !rx.HasParams)
		tainted = tainted || d.tainted
	}
	for _, seq := range rx.Refs[:rx.NRefs] {
		tainted = tainted || t.Tainted(seq)
	}
	if rx.Replaced {
		for i := range t.frames {
			if f := &t.frames[i]; f.epoch == rx.Epoch && f.memo {
				f.memo, f.tainted = false, true
			}
		}
	}
	if rx.Installed {
		*d = taintedDecoder{rx.Epoch, damaged}
	}
	if rx.Entry != nil {
		*t.slot(rx.Seq) = taintedFrame{seq: rx.Seq, epoch: rx.Epoch, tainted: tainted, memo: rx.Entry.Memo != nil}
	}
	return tainted
}

// followBlock does what follow does, for a block of a file.
func (t *taint) followBlock(rx *endpoint.BlockReception, damaged bool) (tainted bool) {
	tainted = t.follow(&rx.Reception, damaged)
	if rx.NewDelivery {
		t.file = false
	}
	t.file = t.file || rx.Accepted && tainted
	return tainted
}

func (t *taint) slot(seq uint64) *taintedFrame { return &t.frames[seq%uint64(len(t.frames))] }

// Tainted reports whether the stored frame of packet seq depends on damaged bytes.
func (t *taint) Tainted(seq uint64) bool {
	f := t.slot(seq)
	return f.seq == seq && f.tainted
}

// Exact reports whether the stored frame of packet seq is known to equal the source's.
func (t *taint) Exact(seq uint64) bool {
	f := t.slot(seq)
	return f.seq == seq && f.exact
}

// setTainted marks the stored frame of packet seq as damaged, or as correct.
func (t *taint) setTainted(seq uint64, tainted bool) {
	if f := t.slot(seq); f.seq == seq {
		f.tainted = tainted
	}
}

// setExact notes that the stored frame of packet seq equals the source's.
func (t *taint) setExact(seq uint64) {
	if f := t.slot(seq); f.seq == seq {
		f.exact = true
	}
}
