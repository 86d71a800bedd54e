package adaptive

import "slices"

// A tally says how often each byte followed each context: a sorted list without
// repetition of entries that hold context, byte and count. That is all that the
// protocol gathers, exchanges by name and mixes into models.
//
// In an entry context and byte stand above, the count below. A count that is full
// stays so, at both ends alike.
type tally []uint32

// packing says where in an entry the count ends: contexts of one byte leave it 16
// bits, contexts of two 8.
type packing struct {
	order int
	shift uint
}

func packingOf(order int) packing {
	if order < 2 {
		return packing{order, 16}
	}
	return packing{order, 8}
}

func (p packing) key(e uint32) uint32       { return e >> p.shift }
func (p packing) count(e uint32) uint32     { return e & (1<<p.shift - 1) }
func (p packing) make(key, n uint32) uint32 { return key<<p.shift | min(n, 1<<p.shift-1) }

// start is the context in which a message begins: as after the end of a sentence.
const start = '.' | ' '<<8

// context returns the key of byte b after the last two bytes (the latest above).
func (p packing) context(last uint32, b byte) uint32 { return contextKey(p.order, last, b) }

// contextKey is the key of b in a context of so many bytes.
func contextKey(order int, last uint32, b byte) uint32 {
	switch order {
	case 0:
		return uint32(b)
	case 1:
		return last>>8&0xff<<8 | uint32(b)
	}
	return last&0xffff<<8 | uint32(b)
}

// after returns the last two bytes once b has come: the latest in the upper byte.
func after(last uint32, b byte) uint32 { return last>>8&0xff | uint32(b)<<8 }

// of counts a message, in dst's memory.
func (p packing) of(dst tally, message []byte) tally {
	dst = dst[:0]
	last := uint32(start)
	for _, b := range message {
		dst = append(dst, p.make(p.context(last, b), 1))
		last = after(last, b)
	}
	slices.Sort(dst)
	n := 0
	for _, e := range dst {
		if n > 0 && p.key(dst[n-1]) == p.key(e) {
			dst[n-1] = p.make(p.key(e), p.count(dst[n-1])+1)
			continue
		}
		dst[n] = e
		n++
	}
	return dst[:n]
}

// add adds b to a, in a's memory: from the end, where there is room.
func (p packing) add(a, b tally) tally {
	i, j := len(a)-1, len(b)-1
	a = room(a, p.fresh(a, b))
	for to := len(a) - 1; j >= 0; to-- {
		switch {
		case i >= 0 && p.key(a[i]) > p.key(b[j]):
			a[to] = a[i]
			i--
		case i >= 0 && p.key(a[i]) == p.key(b[j]):
			a[to] = p.make(p.key(b[j]), p.count(a[i])+p.count(b[j]))
			i, j = i-1, j-1
		default:
			a[to] = b[j]
			j--
		}
	}
	return a
}

// fresh counts the keys of b that a has not.
func (p packing) fresh(a, b tally) int {
	n, i := 0, 0
	for _, e := range b {
		for i < len(a) && p.key(a[i]) < p.key(e) {
			i++
		}
		if i == len(a) || p.key(a[i]) != p.key(e) {
			n++
		}
	}
	return n
}

// room makes a list n longer. It grows by little at a time: a client's memory is
// bounded, and lists soon stop growing.
func room(t tally, n int) tally {
	const step = 64
	if want := len(t) + n; want > cap(t) {
		t = append(make(tally, 0, (want+step-1)/step*step), t...)
	}
	return t[:len(t)+n]
}

// limit makes a tally no longer than most, by halving every count and dropping what
// is left of none: what came once and long ago goes first.
func (p packing) limit(t tally, most int, total uint32) tally {
	for len(t) > most || p.total(t) > total {
		n := 0
		for _, e := range t {
			if half := p.count(e) / 2; half > 0 {
				t[n] = p.make(p.key(e), half)
				n++
			}
		}
		t = t[:n]
	}
	return t
}

func (p packing) total(t tally) uint32 {
	sum := uint32(0)
	for _, e := range t {
		sum += p.count(e)
	}
	return sum
}

// hash is a fingerprint of a tally (FNV-1a by words).
func (t tally) hash(h uint32) uint32 {
	for _, e := range t {
		h = (h ^ e) * 16777619
		h ^= h >> 15
	}
	return h
}
