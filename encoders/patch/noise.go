package patch

import (
	"encoding/binary"
	"slices"
	"sort"

	"wirelab/encoders/patch/delta"
)

// minNoise is how many bytes of noise are worth being told apart: some ten bytes are
// lost by that, and of noise the models make a tenth more until they know it for noise.
const minNoise = 256

const (
	noiseBits  = 14
	noiseEvery = 4 // bytes from one place that is noted to the next
)

// noiseFinder finds literals that no model would tell in fewer bytes.
type noiseFinder struct {
	seen  []uint32 // places of eight bytes of noise, modulo 1<<32, by their hash
	spans []span
}

// span is a run of literals: where it is in the new file, whether its bytes are evenly
// spread, and how many of them are found twice.
type span struct {
	from, to int
	even     bool
	twice    int
}

// find returns where, among the literals of operations that begin at a place in a file,
// there is noise: bytes evenly spread that the operations tell only once. It is valid
// until the next call.
func (f *noiseFinder) find(file []byte, start int, ops []delta.Op) []span {
	f.spans = f.spans[:0]
	at := start
	for _, o := range ops {
		at += o.Copy + o.Literal
		if o.Literal >= minNoise {
			f.spans = append(f.spans, span{from: at - o.Literal, to: at, even: looksRandom(file[at-o.Literal : at])})
		}
	}
	if !slices.ContainsFunc(f.spans, func(s span) bool { return s.even }) {
		return nil
	}
	for i := range f.spans {
		f.count(file, start, i)
	}
	return slices.DeleteFunc(f.spans, func(s span) bool { return !s.even || s.twice*64 >= s.to-s.from })
}

// count looks for the bytes of a span in itself and in those before it.
func (f *noiseFinder) count(file []byte, start, which int) {
	if f.seen == nil {
		f.seen = make([]uint32, 1<<noiseBits)
	}
	s := &f.spans[which]
	for i := s.from; i+8 <= s.to; i++ {
		w := binary.LittleEndian.Uint64(file[i:])
		place := &f.seen[w*0x9E3779B97F4A7C15>>(64-noiseBits)]
		back := int(uint32(i) - *place)
		if back > 0 && back <= i-start && binary.LittleEndian.Uint64(file[i-back:]) == w {
			s.twice++
			if k := sort.Search(which, func(k int) bool { return f.spans[k].to > i-back }); k < which {
				f.spans[k].twice++
			}
		}
		if i%noiseEvery == 0 {
			*place = uint32(i)
		}
	}
}

// looksRandom reports whether no model of a byte by its neighbours would tell a
// block in fewer bytes: the bytes, and their differences over a few distances, are
// as evenly spread as chance has it. It saves the time to find that out by coding.
func looksRandom(b []byte) bool {
	for _, distance := range []int{0, 1, 2, 3, 4, 8} {
		var counts [256]uint64
		for i := distance; i < len(b); i++ {
			d := b[i]
			if distance > 0 {
				d -= b[i-distance]
			}
			counts[d]++
		}
		var squares uint64
		for _, c := range counts {
			squares += c * c
		}
		// Of n bytes that are random the squares sum up to n*n/256 + n on average.
		n := uint64(len(b) - distance)
		if squares > n*n/256+n*n/(256*64)+n*3/2 {
			return false
		}
	}
	return true
}
