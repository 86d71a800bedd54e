package datagram

import "encoding/binary"

// Sources of contexts: the last units, and these.
const (
	srcRest   = history + iota // bytes to come
	srcRef                     // the same unit of the reference
	srcRef2                    // of the reference before that
	srcAny                     // of the last message of the kind
	srcDiff                    // difference of the unit before from the reference's
	srcSame                    // which of the four units before agree, and the sign of the difference
	srcNext                    // the reference's next unit
	srcMean                    // the unit of the field's prediction
	srcWrong                   // difference of the field so far from its prediction
	srcMissed                  // residual of the field before
	sources
)

// recipe is a context of some bits of each of n sources.
type recipe struct {
	n    uint8
	part [maxParts]part
}

type part struct{ source, mask uint8 }

// hash returns the hash of the recipe's context.
func (r *recipe) hash(seed uint32, src *[sources]byte) uint32 {
	for _, p := range r.part[:r.n] {
		seed = (seed+uint32(src[p.source]&p.mask)+1)*0x2c1b3c6d ^ seed>>15
	}
	return mix32(seed)
}

// gather fills the sources for the next unit.
func (w *walk) gather() {
	b := w.units[w.done : w.done+history]
	binary.LittleEndian.PutUint64(w.src[:], binary.BigEndian.Uint64(b[8:]))
	binary.LittleEndian.PutUint64(w.src[8:], binary.BigEndian.Uint64(b))
	w.src[srcRest] = byte(min(w.n-w.pos, 255))
	w.num.begin(w)
	w.src[srcMean], w.src[srcWrong], w.src[srcMissed] = w.num.mean(), w.num.wrong(), w.num.missed()
	if w.any.units == nil && w.ref.units == nil {
		clear(w.src[srcRef:srcMean])
		return
	}
	at := w.here()
	w.src[srcRef], w.src[srcRef2], w.src[srcAny], w.src[srcNext] = w.ref.at(at), w.ref2.at(at), w.any.at(at), w.ref.at(at+1)
	same, diff := byte(0), byte(0)
	if at > 0 {
		for i := range 4 {
			if b[history-1-i] == w.ref.at(at-1-i) {
				same |= 1 << i
			}
		}
		diff = b[history-1] - w.ref.at(at-1)
		same |= diff >> 7 << 4
	}
	w.src[srcSame], w.src[srcDiff] = same, diff
}
