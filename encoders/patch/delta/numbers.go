package delta

import (
	"math/bits"

	"wirelab/encoders/rangecoder"
)

const (
	numberBits     = 48 // lengths and addresses are below 1<<numberBits
	numberContexts = 64
	numberLimit    = 60
)

// numbers is a model of numbers from zero up: how many bits v+1 has in unary, by
// context, the three bits below the leading one by that length, and the others
// directly.
type numbers struct {
	more [numberContexts][numberBits + 1]rangecoder.Counter
	top  [numberBits + 1][8]rangecoder.Counter
}

func newNumbers() *numbers {
	n := new(numbers)
	even := rangecoder.NewCounter(rangecoder.One/2, 0)
	for i := range n.more {
		rangecoder.Fill(n.more[i][:], even)
	}
	for i := range n.top {
		rangecoder.Fill(n.top[i][:], even)
	}
	return n
}

// code codes v in a context below numberContexts. What a reader gets is below
// 1<<numberBits.
func (n *numbers) code(c *rangecoder.Coder, v int64, ctx int) int64 {
	u := uint64(v) + 1
	size := bits.Len64(u)
	length := 1
	for length < numberBits && n.more[ctx][length].Code(c, flag(size > length), numberLimit) != 0 {
		length++
	}
	left, head := uint(length-1), uint64(1)
	for range min(left, 3) {
		left--
		head = head<<1 | uint64(n.top[length][head&7].Code(c, int(u>>left&1), numberLimit))
	}
	return int64(head<<left|c.Direct(u&(1<<left-1), left)) - 1
}

// flag returns 1 for true.
func flag(v bool) int {
	if v {
		return 1
	}
	return 0
}

// Diagonals that were in force last, as addresses less positions.
const recentDiagonals = 64

// jumps is a model of where in the source a copy begins: where the last one
// ended, on a diagonal that was in force before, or so far from there.
type jumps struct {
	stays   [8][2]rangecoder.Counter
	returns [8]rangecoder.Counter
	back    [8]rangecoder.Counter
	which   *numbers
	far     *numbers
	moved   int // whether the last one did not stay
	recent  [recentDiagonals]int64
}

func newJumps() *jumps {
	j := &jumps{which: newNumbers(), far: newNumbers()}
	even := rangecoder.NewCounter(rangecoder.One/2, 0)
	for i := range j.stays {
		rangecoder.Fill(j.stays[i][:], even)
	}
	rangecoder.Fill(j.returns[:], even)
	rangecoder.Fill(j.back[:], even)
	for i := range j.recent {
		j.recent[i] = -1 << 60
	}
	return j
}

func (j *jumps) copyFrom(o *jumps) {
	which, far := j.which, j.far
	*which, *far = *o.which, *o.far
	*j = *o
	j.which, j.far = which, far
}

// code codes address to. The last copy ended at from, of the new file pos bytes
// are there, and literals of them followed the last copy.
func (j *jumps) code(c *rangecoder.Coder, to, from, pos int64, literals int) int64 {
	ctx := min(literals, 7)
	if j.stays[ctx][j.moved].Code(c, flag(to != from), numberLimit) == 0 {
		j.moved = 0
		j.touch(from - pos)
		return from
	}
	j.moved = 1
	distance := to - from
	at := j.find(to - pos)
	known := at >= 0 && (at <= 2 || distance <= -64 || distance >= 64)
	if j.returns[ctx].Code(c, flag(known), numberLimit) != 0 {
		at = int(j.which.code(c, int64(at), 0)) % recentDiagonals
		to = j.recent[at] + pos
		j.touch(to - pos)
		return to
	}
	back := j.back[ctx].Code(c, flag(distance < 0), numberLimit) != 0
	if distance < 0 {
		distance = -distance
	}
	distance = j.far.code(c, distance-1, ctx) + 1
	if back {
		distance = -distance
	}
	j.touch(from + distance - pos)
	return from + distance
}

// find returns the place of a diagonal among the recent ones, or -1.
func (j *jumps) find(diagonal int64) int {
	for i, d := range j.recent {
		if d == diagonal {
			return i
		}
	}
	return -1
}

// touch moves a diagonal to the front.
func (j *jumps) touch(diagonal int64) {
	i := j.find(diagonal)
	if i < 0 {
		i = recentDiagonals - 1
	}
	copy(j.recent[1:i+1], j.recent[:i])
	j.recent[0] = diagonal
}
