// Package align plans how the blocks of a new file are copied from an old file and from the new file
// before the block. It searches not for equal ranges but for diagonals along which most bytes agree, as
// in programs in which only addresses changed (Percival, "Naive differences of executable code", 2003;
// Geldreich, "Mobile-friendly binary delta compression", 2015). A diagonal is the set of pairs of an
// address in the source and a position in the new file with the same difference.
//
// It works in three steps. A sampled index finds the parts of the source that are similar to a block.
// A suffix array of the best 4 MB of them finds the longest matches, which are seeds of diagonals. A
// dynamic program chooses for every byte the diagonal, or a literal, that is cheapest to code. Memory
// is bounded for files of any size: at most 32 MB for the index and some 40 MB for the search.
package align

import (
	"encoding/binary"
	"math/bits"

	"wirelab/encoders/patch/delta"
)

// Block is the recommended size of a block, in bytes.
const Block = 256 << 10

// cell is the unit of the source, in bytes, whose similarity to a block is measured.
const cell = 32 << 10

// lookahead is the number of bytes after a block for which the window is chosen too.
const lookahead = 3 * Block

// space is the address space of the source: the old file, and after it the new file up to limit.
type space struct {
	old, new []byte
	limit    int // start of the block that is planned: copies are from before it
}

// bytesAt returns the bytes from an address to the end of its file; nil if the address is in no file. Addresses
// count the bytes of the old file and then those of the new file before limit.
func (s *space) bytesAt(address int64) []byte {
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

// fileAt returns the file that contains an address, and the address of its first byte. Addresses below 0 count as
// those of the old file, addresses past the end as those of the new file.
func (s *space) fileAt(address int64) (file []byte, base int64) {
	if address < int64(len(s.old)) {
		return s.old, 0
	}
	return s.new[:s.limit], int64(len(s.old))
}

// An Aligner plans the blocks of a new file in order.
type Aligner struct {
	space
	index           *index
	window          window
	votes           []int32 // by cell of the source: its similarity to the block, see countVotes
	currentDiagonal int64   // diagonal of the last copy: address minus position in the new file
	windowReady     bool    // whether prepareWindow was called for the current block
	seeds           []seed
	path            path
	work            work
}

// New returns an Aligner for two files, which must not change while it is used.
func New(old, new []byte) *Aligner {
	a := &Aligner{space: space{old: old, new: new}}
	a.index = newIndex(int64(len(old)) + int64(len(new)))
	a.index.add(old, 0)
	return a
}

// EqualRun returns the number n of bytes of the new file, from start and before end, that equal the source
// on the diagonal of the last copy, up to the first that differs. from is the address in the source of the
// first of them.
func (a *Aligner) EqualRun(start, end int) (from int64, n int) {
	from = int64(start) + a.currentDiagonal
	return from, commonPrefix(a.bytesAt(from), a.new[start:end])
}

// Plan appends to ops the operations that make the new file from start to end. Copies are from the old
// file, or from the new file before start. Calls must be in the order of the new file; parts between two
// calls may be left out.
func (a *Aligner) Plan(ops []delta.Op, start, end int) []delta.Op {
	a.index.add(a.new[a.limit:start], int64(len(a.old)+a.limit))
	a.limit = start
	a.windowReady = false
	plan := plan{ops: ops, oldSize: int64(len(a.old))}
	for pos := start; pos < end; {
		if from, n := a.EqualRun(pos, end); n >= longRun || n == end-pos {
			plan.addCopy(from, n)
			pos += n
			continue
		}
		if !a.windowReady { // once for each call, and only if a search is necessary
			a.prepareWindow(pos, end)
			a.windowReady = true
		}
		stop := a.findSeeds(pos, end)
		a.choosePath(&plan, pos, stop)
		pos = stop
	}
	return plan.ops
}

// prepareWindow makes the window cover the parts of the source that are similar to the block from start to
// end. If it has to be filled again, the cells are chosen for the next blocks too, because sorting its suffixes
// takes the most time. If that work exceeds its allowance, the window is unchanged.
func (a *Aligner) prepareWindow(start, end int) {
	cells := (len(a.old) + a.limit + cell - 1) / cell
	if cap(a.votes) < cells {
		a.votes = make([]int32, cells, cells+cells/4+64)
	}
	a.votes = a.votes[:cells]
	clear(a.votes)
	a.countVotes(start, end)
	// The cells around the current diagonal are likely to be needed.
	for address := int64(start) + a.currentDiagonal - cell; address < int64(end)+a.currentDiagonal+cell; address += cell {
		if i := address / cell; address >= 0 && i < int64(cells) {
			a.votes[i] += 3 // as many as a few samples: other cells must be clearly better
		}
	}
	if a.window.covers(a.votes, chooseCells(a.votes)) {
		return
	}
	if len(a.window.text) > 0 && allowSorted.exceeded(a.work.sorted, start) {
		return
	}
	a.countVotes(end, min(end+lookahead, len(a.new)))
	a.window.fill(&a.space, chooseCells(a.votes))
	a.work.sorted += int64(len(a.window.text))
}

// countVotes adds to the votes of each cell the samples of the new file from start to end that occur there: 1
// for each, and 4 for the first after a gap of more than 16 bytes.
func (a *Aligner) countVotes(start, end int) {
	lastFound := -sample
	for p := start; p+sample <= end; p++ {
		a.index.lookup(a.new[p:p+sample], func(address int64) {
			if i := address / cell; i < int64(len(a.votes)) {
				a.votes[i]++
				if p-lastFound > 16 {
					a.votes[i] += 3 // the first match after a gap is stronger evidence than one of many
				}
				lastFound = p
			}
		})
	}
}

// plan is a list of operations. No copy continues from the old file into the new one, which begins at address
// oldSize.
type plan struct {
	ops     []delta.Op
	oldSize int64
}

// addCopy adds a copy of n bytes, by extending the last operation if possible. No copy crosses from the old file
// into the new one, which begins at address p.oldSize.
func (p *plan) addCopy(from int64, n int) {
	if last := len(p.ops) - 1; last >= 0 {
		if o := &p.ops[last]; o.Literal == 0 && o.From+int64(o.Copy) == from && from != p.oldSize {
			o.Copy += n
			return
		}
	}
	p.ops = append(p.ops, delta.Op{From: from, Copy: n})
}

// addLiterals adds n literals to the last operation. An operation without a copy begins an empty plan.
func (p *plan) addLiterals(n int) {
	if len(p.ops) == 0 {
		p.ops = append(p.ops, delta.Op{})
	}
	p.ops[len(p.ops)-1].Literal += n
}

// work counts the operations that take most of an Aligner's time. Some data, such as long strings of two
// letters, would need any number of them for each byte. When an Aligner has exceeded an allowance, it does
// that part of the search less thoroughly. Programs and archives stay below the allowances.
type work struct {
	sorted   int64 // bytes of the windows whose suffixes were sorted
	compared int64 // bytes compared in searching the windows, plus the number of search steps
	divided  int64 // bytes compared to divide the range between two matches
	followed int64 // bytes compared along diagonals
}

// allowance is the amount of work that may be spent before a position of the new file is reached: initial
// plus perByte for each byte.
type allowance struct{ initial, perByte int64 }

var (
	allowSorted   = allowance{16 << 20, 10}
	allowCompared = allowance{8 << 20, 64}
	allowDivided  = allowance{4 << 20, 8}
	allowFollowed = allowance{4 << 20, 16}
)

const (
	limitedLines  = 8       // maximum number of diagonals followed at a time, beyond allowFollowed
	limitedDivide = 4 << 10 // maximum number of bytes divided at each end, beyond allowDivided
)

// exceeded reports whether the work spent before a position of the new file exceeds the allowance.
func (a allowance) exceeded(spent int64, position int) bool {
	return spent > a.initial+a.perByte*int64(position)
}

const (
	sample      = 24      // bytes of a sample
	maxSamples  = 2 << 20 // samples in an index, which bounds its memory
	minInterval = 8       // smallest distance between samples in bytes; larger for large files
	maxProbes   = 4       // slots examined for a hash
)

// index is a hash table of samples of the source: sequences of bytes at regular distances. It finds the
// parts of the source that resemble a block.
type index struct {
	interval int64  // bytes from one sample to the next
	slots    []slot // open addressing
}

// slot is a sample in an index.
type slot struct {
	check    uint32 // the upper half of the sample's hash
	position uint32 // 1 + the sample's address divided by interval; 0 if the slot is free
}

// newIndex returns an index for a source of up to size bytes. It takes at most 32 MB.
func newIndex(size int64) *index {
	interval := int64(minInterval)
	for size/interval > maxSamples {
		interval *= 2
	}
	n := max(size/interval*2, 16)
	return &index{interval, make([]slot, 1<<bits.Len64(uint64(n-1)))}
}

// add adds the samples of text, which begins at the given address: those at multiples of x.interval. A sample
// is left out if it is repetitive or if all maxProbes slots for its hash are taken, so of many equal samples
// only the first few are stored.
func (x *index) add(text []byte, address int64) {
	first := (x.interval - address%x.interval) % x.interval
	for i := first; i+sample <= int64(len(text)); i += x.interval {
		b := text[i : i+sample]
		if isRepetitive(b) {
			continue
		}
		h := hashSample(b)
		for probe := range uint64(maxProbes) {
			s := &x.slots[(h+probe)&uint64(len(x.slots)-1)]
			if s.position == 0 {
				*s = slot{uint32(h >> 32), uint32((address+i)/x.interval) + 1} // position 0 marks an empty slot
				break
			}
		}
	}
}

// lookup calls found with the addresses at which sample b probably occurs; a collision of hashes is possible.
func (x *index) lookup(b []byte, found func(address int64)) {
	h := hashSample(b)
	for probe := range uint64(maxProbes) {
		s := &x.slots[(h+probe)&uint64(len(x.slots)-1)]
		if s.position == 0 {
			return
		}
		if s.check == uint32(h>>32) {
			found(int64(s.position-1) * x.interval)
		}
	}
}

// isRepetitive reports whether a sample consists of the same four bytes again and again.
func isRepetitive(b []byte) bool {
	first := binary.LittleEndian.Uint32(b)
	for i := 4; i < sample; i += 4 {
		if binary.LittleEndian.Uint32(b[i:]) != first {
			return false
		}
	}
	return true
}

// hashSample hashes the 24 bytes of a sample. The multipliers are constants of xxHash, and 2^64 divided by the
// golden ratio.
func hashSample(b []byte) uint64 {
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
			return i + bits.TrailingZeros64(d)/8 // plus the equal bytes of this word
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
