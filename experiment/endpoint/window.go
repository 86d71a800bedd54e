package endpoint

// seenWindow records which of the last seenPackets packets a receiver has decoded. It recognises late
// copies of packets that are no longer in the history.
type seenWindow struct {
	bits [seenPackets / 64]uint64 // the bit of packet n is at n % seenPackets
	top  uint64                   // newest decoded packet
	any  bool                     // a packet was decoded
}

// seenPackets is the length of a seenWindow: unwrap returns no sequence number further behind.
const seenPackets = maxBehind

// has reports whether packet seq was decoded. It returns false for packets before the window.
func (w *seenWindow) has(seq uint64) bool {
	if !w.any || seq > w.top || w.top-seq >= seenPackets {
		return false
	}
	return w.bits[seq%seenPackets/64]>>(seq%64)&1 == 1
}

// record records that packet seq was decoded. The bits are a ring. If seq is newer than all packets before,
// record clears the bits of the packets that it skips.
func (w *seenWindow) record(seq uint64) {
	switch {
	case !w.any:
		w.top, w.any = seq, true
	case seq > w.top: // the bits after w.top still stand for packets that have left the window
		for n := w.top + 1; n < seq && n-w.top <= seenPackets; n++ {
			w.clear(n)
		}
		w.top = seq
	case w.top-seq >= seenPackets: // too old: its bit stands for a newer packet
		return
	}
	w.bits[seq%seenPackets/64] |= 1 << (seq % 64)
}

// clear clears the bit of packet seq.
func (w *seenWindow) clear(seq uint64) { w.bits[seq%seenPackets/64] &^= 1 << (seq % 64) }
