package channel

// windowBits is how far back datagrams may come late: 0.4 s at 10,000 a second.
const windowBits = 4096

// window remembers which sequence numbers came, so that none counts twice. It holds the
// last windowBits up to the newest; what is older may have come or not, and is refused.
type window struct {
	next uint64 // one above the newest; 0: none came
	seen [windowBits / 64]uint64
}

// age is how a sequence number stands to those that came.
type age uint8

const (
	fresh age = iota
	again     // came before
	tooOld
)

func (w *window) judge(seq uint32) age {
	n := uint64(seq)
	switch {
	case n >= w.next:
		return fresh
	case n+windowBits < w.next:
		return tooOld
	case w.seen[n%windowBits/64]&(1<<(n%64)) != 0:
		return again
	}
	return fresh
}

// note remembers a fresh number.
func (w *window) note(seq uint32) {
	n := uint64(seq)
	if n >= w.next+windowBits {
		w.seen = [windowBits / 64]uint64{}
	} else {
		for i := w.next; i < n; i++ { // what was skipped has not come
			w.seen[i%windowBits/64] &^= 1 << (i % 64)
		}
	}
	w.seen[n%windowBits/64] |= 1 << (n % 64)
	w.next = max(w.next, n+1)
}
