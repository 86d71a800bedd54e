package delta

import (
	"math/bits"
	"slices"

	"wirelab/encoders/rangecoder"
)

const (
	numberBits     = 48 // lengths and addresses are below 1<<numberBits
	numberContexts = 64 // contexts of numbers.code
	numberLimit    = 60 // limit of Counter.Update
)

// evenCounter is a new counter with the probability 1/2.
var evenCounter = rangecoder.NewCounter(rangecoder.One/2, 0)

// codeFlag encodes v with one counter, or decodes and returns it.
func codeFlag(c *rangecoder.Coder, k *rangecoder.Counter, v bool) bool {
	return k.Code(c, rangecoder.Flag(v), numberLimit) != 0
}

// numbers is a model of non-negative numbers v, an adaptive Elias gamma code of v+1: the number of bits in
// unary, the three bits below the leading one, and the other bits with probability 1/2.
type numbers struct {
	lengths [numberContexts][numberBits + 1]rangecoder.Counter // by context and length: whether the number is longer
	top     [numberBits + 1][8]rangecoder.Counter              // by length: a tree of the three bits
}

// newNumbers returns an untrained model.
func newNumbers() *numbers {
	n := new(numbers)
	for i := range n.lengths {
		rangecoder.Fill(n.lengths[i][:], evenCounter)
	}
	for i := range n.top {
		rangecoder.Fill(n.top[i][:], evenCounter)
	}
	return n
}

// code encodes v in a context below numberContexts, or decodes and returns it: the bit length of v+1 in unary, then
// the bits below its highest one; the first three have adaptive probabilities. A decoded number is less
// than 1<<numberBits.
func (n *numbers) code(c *rangecoder.Coder, v int64, context int) int64 {
	u := uint64(v) + 1
	size := bits.Len64(u)
	length := 1
	for length < numberBits && codeFlag(c, &n.lengths[context][length], size > length) {
		length++
	}
	left, head := uint(length-1), uint64(1)
	for range min(left, 3) {
		left--
		head = head<<1 | uint64(n.top[length][head&7].Code(c, int(u>>left&1), numberLimit))
	}
	return int64(head<<left|c.Direct(u&(1<<left-1), left)) - 1
}

// hash mixes two numbers into a context. Callers with several contexts pass the number of the context as a,
// so that equal values in different contexts have different hashes.
func hash(a, b uint32) uint32 {
	h := a*0x2C1B3C6D ^ (b+0x7F4A7C15)*0x297A2D39
	return h ^ h>>15
}

// bitLength returns the number of bits of v.
func bitLength(v int) int { return bits.Len(uint(v)) }

// recentDiagonals is the number of recent diagonals. A diagonal is the address of a copy minus its
// offset in the new file.
const recentDiagonals = 64

// addressModel is a model of the address at which a copy begins: where the last copy ended, or on a recent
// diagonal, or at a distance from where the last copy ended. Counters are selected by the number of literals
// since the last copy, at most 7.
type addressModel struct {
	jumpFlags   [8][2]rangecoder.Counter // whether it begins elsewhere than where the last copy ended; by lastJumped
	recentFlags [8]rangecoder.Counter    // whether the copy is on a recent diagonal
	backFlags   [8]rangecoder.Counter    // whether the distance is negative
	recentIndex *numbers                 // index into recent
	distances   *numbers                 // magnitude of the distance, minus 1
	lastJumped  int                      // 1 if the last copy did not begin where the copy before it ended
	recent      [recentDiagonals]int64   // the diagonals used last, the newest first
}

// newAddressModel returns an untrained model.
func newAddressModel() *addressModel {
	j := &addressModel{recentIndex: newNumbers(), distances: newNumbers()}
	for i := range j.jumpFlags {
		rangecoder.Fill(j.jumpFlags[i][:], evenCounter)
	}
	rangecoder.Fill(j.recentFlags[:], evenCounter)
	rangecoder.Fill(j.backFlags[:], evenCounter)
	for i := range j.recent {
		j.recent[i] = -1 << 60 // no diagonal
	}
	return j
}

// copyFrom makes j a copy of o. It copies into the existing models of j.
func (j *addressModel) copyFrom(o *addressModel) {
	recentIndex, distances := j.recentIndex, j.distances
	*recentIndex, *distances = *o.recentIndex, *o.distances
	*j = *o
	j.recentIndex, j.distances = recentIndex, distances
}

// code encodes the address of a copy, or decodes and returns it. The last copy ended at lastEnd and was
// followed by the given number of literals; pos is the offset in the new file. A decoder ignores address. For a
// distance below 64, which takes few bits, only the three newest diagonals are used.
func (j *addressModel) code(c *rangecoder.Coder, address, lastEnd, pos int64, literals int) int64 {
	ctx := min(literals, 7)
	if !codeFlag(c, &j.jumpFlags[ctx][j.lastJumped], address != lastEnd) {
		j.lastJumped = 0
		j.moveToFront(lastEnd - pos)
		return lastEnd
	}
	j.lastJumped = 1
	distance := address - lastEnd
	index := slices.Index(j.recent[:], address-pos)
	isRecent := index >= 0 && (index <= 2 || distance <= -64 || distance >= 64)
	if codeFlag(c, &j.recentFlags[ctx], isRecent) {
		index = int(j.recentIndex.code(c, int64(index), 0)) % recentDiagonals // corrupt packets have larger ones
		address = j.recent[index] + pos
		j.moveToFront(address - pos)
		return address
	}
	back := codeFlag(c, &j.backFlags[ctx], distance < 0)
	distance = j.distances.code(c, max(distance, -distance)-1, ctx) + 1
	if back {
		distance = -distance
	}
	j.moveToFront(lastEnd + distance - pos)
	return lastEnd + distance
}

// moveToFront moves a diagonal to the front of the recent ones. If it is not among them, it is added and the
// oldest is dropped.
func (j *addressModel) moveToFront(diagonal int64) {
	i := slices.Index(j.recent[:], diagonal)
	if i < 0 {
		i = recentDiagonals - 1
	}
	copy(j.recent[1:i+1], j.recent[:i])
	j.recent[0] = diagonal
}
