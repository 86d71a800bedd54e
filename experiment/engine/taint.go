package engine

import (
	"wirelab/dataset/frame"
	"wirelab/experiment/endpoint"
)

// taint is what the lab knows of damage that the receiver cannot see: with the
// checksum off it decodes damaged bytes, and whatever leans on them is damaged too.
// Endpoints know nothing of it; the lane follows each packet from the bytes to the
// frames and decoders that came of it.
type taint struct {
	frames   [frame.MaxHistory + 1]taintedFrame  // of packet n at n % len
	decoders [endpoint.KeptEpochs]taintedDecoder // of epoch e at e % len
	file     bool                                // a block of the present delivery had been damaged
}

// taintedFrame is a frame that the receiver keeps.
type taintedFrame struct {
	seq, epoch uint64
	tainted    bool // it came of damaged bytes
	memo       bool // it carries a memo of its codec
}

// taintedDecoder is a decoder that the receiver keeps.
type taintedDecoder struct {
	epoch   uint64
	tainted bool // made from a damaged packet
}

// follow notes what became of a datagram, damaged or not, and reports whether that
// rests on damage.
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
		tainted = tainted || t.has(seq)
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
		t.frames[rx.Seq%uint64(len(t.frames))] = taintedFrame{seq: rx.Seq, epoch: rx.Epoch, tainted: tainted, memo: rx.Entry.Memo != nil}
	}
	return tainted
}

// has reports whether the frame kept of packet seq came of damaged bytes.
func (t *taint) has(seq uint64) bool {
	f := &t.frames[seq%uint64(len(t.frames))]
	return f.seq == seq && f.tainted
}

// clear notes that the frame kept of packet seq came out right after all.
func (t *taint) clear(seq uint64) {
	if f := &t.frames[seq%uint64(len(t.frames))]; f.seq == seq {
		f.tainted = false
	}
}

// block does the same as follow for a block of a file.
func (t *taint) block(rx *endpoint.BlockReception, damaged bool) (tainted bool) {
	tainted = t.follow(&rx.Reception, damaged)
	if rx.NewDelivery {
		t.file = false
	}
	t.file = t.file || rx.Accepted && tainted
	return tainted
}
