package engine

import "wirelab/dataset/frame"

// truths remembers the source's newest frames, so that what a display shows can
// be held against what the sender had at that very moment. It grows to the
// longest way from source to display and then allocates nothing; beyond
// maxTruths frames it forgets, and errors of displays that lag further go
// unmeasured.
type truths struct {
	ring  []frame.Frame // tick n lives at n % len(ring)
	from  uint64        // oldest tick held
	next  uint64        // the tick that comes next
	seams [64]uint64    // the newest ticks that followed a seam, n of them seen
	n     uint64
}

// add remembers the next tick's frame. Ticks before needed may be forgotten.
func (t *truths) add(f *frame.Frame, seam bool, needed uint64) {
	if seam {
		t.seams[t.n%uint64(len(t.seams))] = t.next
		t.n++
	}
	for t.from < min(needed, t.next) {
		t.from++
	}
	if t.next-t.from == uint64(len(t.ring)) {
		if len(t.ring) < maxTruths {
			t.grow()
		} else {
			t.from++
		}
	}
	t.ring[t.next%uint64(len(t.ring))].CopyFrom(f)
	t.next++
}

func (t *truths) grow() {
	ring := make([]frame.Frame, max(16, 2*len(t.ring)))
	for n := t.from; n < t.next; n++ {
		ring[n%uint64(len(ring))] = t.ring[n%uint64(len(t.ring))]
	}
	t.ring = ring
}

// get returns the frame of a tick, nil if it is not known (any more).
func (t *truths) get(tick uint64) *frame.Frame {
	if tick < t.from || tick >= t.next {
		return nil
	}
	return &t.ring[tick%uint64(len(t.ring))]
}

// seamIn reports whether the source began anew after tick from, at the latest at
// tick to: nothing moved between the two, it was put there.
func (t *truths) seamIn(from, to uint64) bool {
	kept := min(t.n, uint64(len(t.seams)))
	for i := range kept {
		if s := t.seams[i]; s > from && s <= to {
			return true
		}
	}
	return kept < t.n && from < t.seams[t.n%kept] // what was before the oldest seam kept is not known
}
