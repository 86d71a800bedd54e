package remote

// windowBits is how many sequence numbers a datagram may arrive late: 0.4 s at 10,000 per second.
const windowBits = 4096

// window is a replay window (RFC 4303, section 3.4.3). It stores which of the last windowBits
// sequence numbers arrived. Older numbers are refused, because it is not known whether they
// arrived.
type window struct {
	next uint64                  // highest received number + 1; 0 if none was received
	seen [windowBits / 64]uint64 // bit n%windowBits: number n was received
}

// seqState classifies a sequence number.
type seqState uint8

const (
	unseen   seqState = iota
	repeated          // received before
	tooOld            // below the window
)

// classify returns whether a sequence number is unseen, repeated or too old. It does not change the
// window.
func (w *window) classify(seq uint32) seqState {
	n := uint64(seq)
	switch {
	case n >= w.next:
		return unseen
	case n+windowBits < w.next: // more than windowBits below next
		return tooOld
	case w.seen[n%windowBits/64]&(1<<(n%64)) != 0:
		return repeated
	}
	return unseen
}

// markSeen records that sequence number seq was received. If seq is beyond the window, the window moves up
// so that seq is its highest number.
func (w *window) markSeen(seq uint32) {
	n := uint64(seq)
	if n >= w.next+windowBits { // beyond a whole window: no earlier number remains in it
		w.seen = [windowBits / 64]uint64{}
	} else {
		for i := w.next; i < n; i++ { // skipped numbers are not received yet
			w.seen[i%windowBits/64] &^= 1 << (i % 64)
		}
	}
	w.seen[n%windowBits/64] |= 1 << (n % 64)
	w.next = max(w.next, n+1)
}
