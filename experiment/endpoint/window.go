package endpoint

// seenWindow records which packets a receiver has decoded, so that it recognises late
// copies of packets that have left its history. It is a ring of bits over the last
// seenPackets sequences.
type seenWindow struct {
	bits [seenPackets / 64]uint64
	top  uint64
	any  bool
}

const seenPackets = lateWindow

func (w *seenWindow) has(seq uint64) bool {
	if !w.any || seq > w.top || w.top-seq >= seenPackets {
		return false
	}
	return w.bits[seq%seenPackets/64]>>(seq%64)&1 == 1
}

func (w *seenWindow) note(seq uint64) {
	switch {
	case !w.any:
		w.top, w.any = seq, true
	case seq > w.top:
		for n := w.top + 1; n < seq && n-w.top <= seenPackets; n++ {
			w.clear(n)
		}
		w.top = seq
	case w.top-seq >= seenPackets:
		return
	}
	w.bits[seq%seenPackets/64] |= 1 << (seq % 64)
}

func (w *seenWindow) clear(seq uint64) { w.bits[seq%seenPackets/64] &^= 1 << (seq % 64) }
