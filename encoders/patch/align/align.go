// Package align finds what the blocks of a new file can be copied from, in an old file
// or in the new one so far. It does not look for equal ranges but for diagonals along
// which most bytes agree, as in programs of which only addresses changed (Percival,
// "Naive differences of executable code", 2003; Geldreich, "Mobile-friendly binary delta
// compression", 2015).
//
// It works in three steps. A sampled index finds the parts of the source that are
// similar to a block. A suffix array of the best 4 MB of them finds the longest matches,
// which seed diagonals. A dynamic program chooses for every byte the diagonal, or a
// literal, that is cheapest to code. Memory is bounded whatever the sizes: at most 32 MB
// for the index and some 40 MB for the search.
package align

import (
	"encoding/binary"
	"math/bits"

	"wirelab/encoders/patch/delta"
)

// Block is how many bytes are best planned at once.
const Block = 256 << 10

// Cell is how many bytes of the source are judged, and searched, together.
const Cell = 32 << 10

// ahead is for how many bytes beyond a block the window is filled.
const ahead = 3 * Block

// space is the source: the old file, and behind it the new one up to limit.
type space struct {
	old, new []byte
	limit    int
}

// from returns the bytes from an address to the end of its file.
func (s *space) from(address int64) []byte {
	if address < 0 {
		return nil
	}
	if address < int64(len(s.old)) {
		return s.old[address:]
	}
	address -= int64(len(s.old))
	if address < int64(s.limit) {
		return s.new[address:s.limit]
	}
	return nil
}

// whole returns the file in which an address lies, and the address of its first
// byte.
func (s *space) whole(address int64) (file []byte, base int64) {
	if address < int64(len(s.old)) {
		return s.old, 0
	}
	return s.new[:s.limit], int64(len(s.old))
}

// An Aligner plans the blocks of a new file in order.
type Aligner struct {
	// Watch, if not nil, is called for each block of the new file, from start to end,
	// with the number of its samples found in each Cell of the source, before Plan uses
	// them. The slice is the Aligner's.
	Watch func(start, end int, votes []int32)

	space
	index   *index
	window  window
	votes   []int32
	current int64 // the diagonal in force: address less position
	planned bool  // the window suits the block at hand
	seeds   []seed
	path    path
	work    work
}

// New returns an Aligner for two files, which must not change while it is used.
func New(old, new []byte) *Aligner {
	a := &Aligner{space: space{old: old, new: new}}
	a.index = newIndex(int64(len(old)) + int64(len(new)))
	a.index.add(old, 0)
	return a
}

// Same returns how many bytes of the new file from start to end are equal on the current
// diagonal, up to the first that is not, and the address of the first.
func (a *Aligner) Same(start, end int) (from int64, n int) {
	from = int64(start) + a.current
	return from, commonPrefix(a.from(from), a.new[start:end])
}

// Plan appends to ops how to make the new file from start to end. Copies are from
// the old file, or from the new one before limit; only that grows from call to
// call, in any order of blocks.
func (a *Aligner) Plan(ops []delta.Op, start, end int) []delta.Op {
	a.index.add(a.new[a.limit:start], int64(len(a.old)+a.limit))
	a.limit = start
	a.planned = false
	plan := plan{ops: ops, border: int64(len(a.old))}
	for at := start; at < end; {
		if from, n := a.Same(at, end); n >= longRun || n == end-at {
			plan.copy(from, n)
			at += n
			continue
		}
		if !a.planned {
			a.fillWindow(at, end)
			a.planned = true
		}
		stop := a.scan(at, end)
		a.choose(&plan, at, stop)
		at = stop
	}
	return plan.ops
}

// fillWindow makes sure that the window holds the parts of the source similar to the
// block. If not, it is filled for the next few blocks too, since sorting the suffixes
// takes the most time.
func (a *Aligner) fillWindow(start, end int) {
	cells := (len(a.old) + a.limit + Cell - 1) / Cell
	if cap(a.votes) < cells {
		a.votes = make([]int32, cells, cells+cells/4+64)
	}
	a.votes = a.votes[:cells]
	clear(a.votes)
	a.vote(start, end)
	// What goes on where the last copy ended is near, and likely.
	for at := int64(start) + a.current - Cell; at < int64(end)+a.current+Cell; at += Cell {
		if i := at / Cell; at >= 0 && i < int64(cells) {
			a.votes[i] += 3
		}
	}
	if a.Watch != nil {
		a.Watch(start, end, a.votes)
	}
	if a.window.covers(a.votes, choose(a.votes)) {
		return
	}
	if len(a.window.text) > 0 && allowSorted.exceeded(a.work.sorted, start) {
		return
	}
	a.vote(end, min(end+ahead, len(a.new)))
	a.window.fill(&a.space, choose(a.votes))
	a.work.sorted += int64(len(a.window.text))
}

// vote counts for each cell of the source how many samples of the new file from
// start to end lie there.
func (a *Aligner) vote(start, end int) {
	last := -sample
	for p := start; p+sample <= end; p++ {
		a.index.each(a.new[p:p+sample], func(address int64) {
			if i := address / Cell; i < int64(len(a.votes)) {
				a.votes[i]++
				if p-last > 16 {
					a.votes[i] += 3 // a find after a gap says more than one of many
				}
				last = p
			}
		})
	}
}

// plan is a list of operations that grows. No copy goes on from one file into the
// next, at the border.
type plan struct {
	ops    []delta.Op
	border int64
}

func (l *plan) copy(from int64, n int) {
	if last := len(l.ops) - 1; last >= 0 {
		if o := &l.ops[last]; o.Literal == 0 && o.From+int64(o.Copy) == from && from != l.border {
			o.Copy += n
			return
		}
	}
	l.ops = append(l.ops, delta.Op{From: from, Copy: n})
}

func (l *plan) literal(n int) {
	if len(l.ops) == 0 {
		l.ops = append(l.ops, delta.Op{})
	}
	l.ops[len(l.ops)-1].Literal += n
}

// work counts what takes an Aligner's time. Data made to be searched in vain, such as
// long strings of two letters, would take any number of these operations for each byte;
// so whatever an Aligner has spent too much of it does less thoroughly from then on.
// Programs and archives stay below the limits.
type work struct {
	sorted   int64 // bytes of the windows whose suffixes were sorted
	compared int64 // bytes compared in searching them, and steps
	divided  int64 // bytes looked at to divide what lies between two matches
	followed int64 // bytes compared along diagonals
}

// allowance is what may be spent by a place in the new file, in full thoroughness: an
// amount from the start, and more for each byte.
type allowance struct{ start, each int64 }

var (
	allowSorted   = allowance{16 << 20, 10}
	allowCompared = allowance{8 << 20, 64}
	allowDivided  = allowance{4 << 20, 8}
	allowFollowed = allowance{4 << 20, 16}
)

const (
	fewLines  = 8       // diagonals that are followed at a time, when too many were
	nearBytes = 4 << 10 // that are divided at each end, when too many were
)

// exceeded reports whether more was spent at a place than is allowed.
func (l allowance) exceeded(spent int64, place int) bool {
	return spent > l.start+l.each*int64(place)
}

const (
	sample     = 24      // bytes that are hashed together
	maxSamples = 2 << 20 // in an index: that bounds its memory
	minEvery   = 8       // bytes from one sample to the next, or more for large files
	probes     = 4       // places looked at for a hash
)

// index holds the places of samples of the source: at regular distances a hash of the
// next few bytes. It finds the parts of the source that resemble a block.
type index struct {
	every int64
	slots []slot
}

type slot struct {
	check uint32
	place uint32 // address/every + 1; 0: free
}

// newIndex returns an index for a source of size bytes. It takes at most 32 MB.
func newIndex(size int64) *index {
	every := int64(minEvery)
	for size/every > maxSamples {
		every *= 2
	}
	n := max(size/every*2, 16)
	return &index{every, make([]slot, 1<<bits.Len64(uint64(n-1)))}
}

// add takes samples of text, which begins at an address. A content that is found
// often is remembered for the first few places only.
func (x *index) add(text []byte, address int64) {
	skip := (x.every - address%x.every) % x.every
	for i := skip; i+sample <= int64(len(text)); i += x.every {
		b := text[i : i+sample]
		if isRepetitive(b) {
			continue
		}
		h := hashOf(b)
		for t := range uint64(probes) {
			s := &x.slots[(h+t)&uint64(len(x.slots)-1)]
			if s.place == 0 {
				*s = slot{uint32(h >> 32), uint32((address+i)/x.every) + 1}
				break
			}
		}
	}
}

// each calls found with the addresses at which the bytes of b may lie.
func (x *index) each(b []byte, found func(address int64)) {
	h := hashOf(b)
	for t := range uint64(probes) {
		s := &x.slots[(h+t)&uint64(len(x.slots)-1)]
		if s.place == 0 {
			return
		}
		if s.check == uint32(h>>32) {
			found(int64(s.place-1) * x.every)
		}
	}
}

// isRepetitive reports whether a sample repeats four bytes.
func isRepetitive(b []byte) bool {
	first := binary.LittleEndian.Uint32(b)
	for i := 4; i < sample; i += 4 {
		if binary.LittleEndian.Uint32(b[i:]) != first {
			return false
		}
	}
	return true
}

func hashOf(b []byte) uint64 {
	x, y, z := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	h := x*0x9E3779B97F4A7C15 ^ y*0xC2B2AE3D27D4EB4F
	h ^= h >> 29
	h = (h ^ z) * 0x165667B19E3779F9
	return h ^ h>>32
}

// commonPrefix returns the length of the common prefix of a and b.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if d := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); d != 0 {
			return i + bits.TrailingZeros64(d)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
