package align

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"

	"wirelab/encoders/rangecoder"
)

const (
	maxCells      = 128 // maximum number of cells in a window: 4 MB
	maxCompare    = 512 // longest prefix that is compared in a search of the suffix array
	maxFilterBits = 25  // logarithm of the filter's size: eight bits for each byte of the largest window
)

// window is the part of the source that is searched thoroughly for one block: the cells that are most
// similar to it, one after the other, and their suffix array.
type window struct {
	text    []byte
	parts   []part  // the parts of text, in order
	order   []int32 // the suffix array of text
	scratch *scratch
	cells   []bool   // by cell of the source: whether it is in the window
	filter  []uint64 // a bit for each hash of eight bytes: they may occur in text
	shift   uint     // number of bits by which a hash is shifted to index the bits of filter
}

// part is a contiguous part of the source in a window.
type part struct {
	offset  int // where the part begins in window.text
	address int64
	size    int
}

// covers reports whether the window is good enough for a block. votes are the similarities of the cells to
// the block, wanted the cells that a new window would have. The window must have half of the votes of these
// cells, and nine tenths of the votes of cells with more than twice the median. If no cell stands out, one
// part of the source is as good as another, and sorting its suffixes would not pay.
func (w *window) covers(votes []int32, wanted []bool) bool {
	var haveVotes, wantedVotes, haveBestVotes, bestVotes int64
	bestAbove := 2 * median(votes)
	for i, v := range votes {
		inWindow := i < len(w.cells) && w.cells[i]
		if inWindow {
			haveVotes += int64(v)
		}
		if wanted[i] {
			wantedVotes += int64(v)
			if v > bestAbove {
				bestVotes += int64(v)
				haveBestVotes += int64(v) * int64(rangecoder.Flag(inWindow))
			}
		}
	}
	return len(w.cells) > 0 && haveVotes*2 >= wantedVotes && haveBestVotes*10 >= bestVotes*9
}

// median returns the median of values; 0 if values is empty.
func median(values []int32) int32 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}

// chooseCells chooses the cells of the source for the window of a block: those with the most votes, and the
// neighbours of cells with more than 200 votes, which are clearly similar; at most maxCells. votes holds the
// similarity of each cell to the block; the result is true for the chosen cells. Cells without votes are chosen
// only as neighbours.
func chooseCells(votes []int32) []bool {
	order := make([]int, 0, len(votes))
	for i, v := range votes {
		if v > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(votes[b]) - int(votes[a]) })
	wanted, left := make([]bool, len(votes)), maxCells
	choose := func(i int) {
		if left > 0 && i >= 0 && i < len(wanted) && !wanted[i] {
			wanted[i] = true
			left--
		}
	}
	for _, i := range order {
		choose(i)
		if votes[i] > 200 {
			choose(i - 1)
			choose(i + 1)
		}
	}
	return wanted
}

// fill fills the window with the wanted cells of s, sorts their suffixes, and sets the filter. The window keeps
// wantedCells.
func (w *window) fill(s *space, wantedCells []bool) {
	w.cells = wantedCells
	if w.text == nil { // allocate the largest size at once: growing would leave garbage
		maxSize := int(min(maxCells*cell, int64(len(s.old)+len(s.new))))
		w.text, w.order, w.scratch = make([]byte, 0, maxSize), make([]int32, maxSize), newScratch(maxSize)
	}
	w.text, w.parts = w.text[:0], w.parts[:0]
	for i, wanted := range wantedCells {
		if wanted {
			w.appendCell(s, int64(i)*cell)
		}
	}
	w.order = w.order[:len(w.text)]
	sortSuffixes(w.text, w.order, 256, w.scratch)
	if w.filter == nil {
		size := min(max(bits.Len(uint(cap(w.text)-1))+3, 6), maxFilterBits)
		w.filter, w.shift = make([]uint64, 1<<size/64), uint(64-size)
	}
	clear(w.filter) // a bit for each hash of eight bytes: 1 if eight bytes of the text have the hash
	for i := 0; i+8 <= len(w.text); i++ {
		h := hash8(w.text[i:]) >> w.shift
		w.filter[h>>6] |= 1 << (h & 63)
	}
}

// appendCell appends the cell at an address. A cell may contain the end of the old file and the start of the
// new one.
func (w *window) appendCell(s *space, address int64) {
	for end := address + cell; address < end; {
		b := s.bytesAt(address)
		if len(b) == 0 {
			return
		}
		b = b[:min(int64(len(b)), end-address)]
		// Extend the last part if it ends here, but not from the old file into the new one.
		if last := len(w.parts) - 1; last >= 0 && w.parts[last].address+int64(w.parts[last].size) == address &&
			address != int64(len(s.old)) {
			w.parts[last].size += len(b)
		} else {
			w.parts = append(w.parts, part{len(w.text), address, len(b)})
		}
		w.text = append(w.text, b...)
		address += int64(len(b))
	}
}

// hash8 hashes eight bytes.
func hash8(b []byte) uint64 {
	return binary.LittleEndian.Uint64(b) * 0x9E3779B97F4A7C15
}

// longestPrefix returns the address in the source of the longest prefix of t that occurs in the window, and
// its length n, at most maxCompare. A prefix of fewer than eight bytes is usually not found (n is 0), because the
// filter then rejects t. The work is added to compared.
func (w *window) longestPrefix(t []byte, compared *int64) (address int64, n int) {
	if len(t) < 8 || len(w.text) < 8 {
		return 0, 0
	}
	if h := hash8(t) >> w.shift; w.filter[h>>6]>>(h&63)&1 == 0 {
		return 0, 0
	}
	pos, n := w.search(t[:min(len(t), maxCompare)], compared)
	i := sort.Search(len(w.parts), func(i int) bool { return w.parts[i].offset > pos }) - 1
	p := w.parts[i] // the part that contains pos; a match must not cross its end
	return p.address + int64(pos-p.offset), min(n, p.offset+p.size-pos)
}

// search returns the position in text of the suffix with the longest common prefix with t, and the length n
// of that prefix. The work is added to compared.
func (w *window) search(t []byte, compared *int64) (pos, n int) {
	lo, hi := 0, len(w.order)-1
	var lowPrefix, highPrefix int // lower bounds of the common prefixes of t and the suffixes at lo and hi
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		prefix := min(lowPrefix, highPrefix)
		s := w.text[w.order[mid]:]
		prefix = min(prefix, len(s))
		extra := commonPrefix(s[prefix:], t[prefix:])
		prefix += extra
		*compared += int64(extra) + 1
		switch {
		case prefix == len(t):
			return int(w.order[mid]), prefix
		case prefix < len(s) && s[prefix] > t[prefix]:
			hi, highPrefix = mid, prefix
		default:
			lo, lowPrefix = mid, prefix
		}
	}
	a, b := commonPrefix(w.text[w.order[lo]:], t), commonPrefix(w.text[w.order[hi]:], t)
	if a > b {
		return int(w.order[lo]), a
	}
	return int(w.order[hi]), b
}
