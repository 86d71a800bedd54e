package engine

import (
	"wirelab/dataset/frame"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/inspector"
)

// taint tracks damage that the receiver cannot detect. Without a checksum the receiver decodes
// damaged bytes, and every frame that is decoded from the result may be wrong too. taint records
// which frames and decoders of the receiver depend on damaged packets: a frame that differs from the
// sender's is tainted if it does, and wrong otherwise. taint implements playout.Verifier for the lane's
// display.
type taint struct {
	frames      [frame.MaxHistory + 1]taintedFrame    // the frame of packet n is at n % len
	decoders    [endpoint.StoredEpochs]taintedDecoder // the decoder of epoch e is at e % len
	fileTainted bool                                  // an accepted block of the current delivery is tainted
	movedBack   bool                                  // the receiver has undone a jump, whose frames may have replaced entries of frames
}

// taintedFrame is the state of a frame in the receiver's history.
type taintedFrame struct {
	seq, epoch uint64
	tainted    bool // it depends on damaged bytes
	differs    bool // it differs from the sender's
	memo       bool // it has a memo of its codec
	exact      bool // it is known to equal the source's frame
}

// taintedDecoder is the state of one of the receiver's decoders.
type taintedDecoder struct {
	epoch   uint64
	tainted bool // made from a damaged packet
}

// track records the reception of a datagram, and reports whether the result depends on damaged
// bytes, and on which. damaged means that bits of the datagram itself were flipped. The result also
// depends on damage to the references, and on damage to the packet from which the decoder was made, until
// an undamaged packet with parameters confirms the decoder.
func (t *taint) track(rx *endpoint.Reception, damaged bool) (tainted bool, by inspector.Damage) {
	t.movedBack = t.movedBack || rx.MovedBack
	if !rx.HasDecoder {
		return damaged, by
	}
	d := &t.decoders[rx.Epoch%endpoint.StoredEpochs]
	tainted = damaged
	for _, seq := range rx.Refs[:rx.NRefs] {
		if f := t.slot(seq); t.isTainted(seq) && (!by.AnyRef || f.differs) { // blame a frame that differs rather than another
			tainted, by = true, inspector.Damage{AnyRef: true, Ref: seq, MemoOnly: !f.differs}
		}
	}
	if !rx.Fresh && d.epoch == rx.Epoch { // decoded by an earlier decoder, not by one made from this packet
		d.tainted = d.tainted && (damaged || !rx.HasParams)
		tainted, by.Decoder = tainted || d.tainted, d.tainted
	}
	if rx.Replaced { // the sender still has the memos that the receiver dropped: later frames may differ
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
	return tainted, by
}

// trackBlock is like track for a block of a file, and updates t.fileTainted.
func (t *taint) trackBlock(rx *endpoint.BlockReception, damaged bool) (tainted bool) {
	tainted, _ = t.track(&rx.Reception, damaged)
	if rx.NewDelivery {
		t.fileTainted = false
	}
	t.fileTainted = t.fileTainted || rx.Accepted && tainted
	return tainted
}

// slot returns the entry for packet seq, which may currently hold another packet's frame.
func (t *taint) slot(seq uint64) *taintedFrame { return &t.frames[seq%uint64(len(t.frames))] }

// isTainted reports whether the stored frame of packet seq depends on damaged bytes.
func (t *taint) isTainted(seq uint64) bool {
	f := t.slot(seq)
	if f.seq != seq {
		return t.movedBack // unknown: its entry may have been replaced
	}
	return f.tainted
}

// Exact reports whether the stored frame of packet seq is known to equal the source's.
func (t *taint) Exact(seq uint64) bool {
	f := t.slot(seq)
	return f.seq == seq && f.exact
}

// setTainted marks the stored frame of packet seq, if it is still stored, as tainted or not.
func (t *taint) setTainted(seq uint64, tainted bool) {
	if f := t.slot(seq); f.seq == seq {
		f.tainted = tainted
	}
}

// setDiffers marks the stored frame of packet seq, if it is still stored, as different from the sender's.
func (t *taint) setDiffers(seq uint64) {
	if f := t.slot(seq); f.seq == seq {
		f.differs = true
	}
}

// setExact marks the stored frame of packet seq, if it is still stored, as equal to the source's.
func (t *taint) setExact(seq uint64) {
	if f := t.slot(seq); f.seq == seq {
		f.exact = true
	}
}
