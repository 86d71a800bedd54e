package delta

import (
	"math/bits"
	"slices"

	"wirelab/encoders/rangecoder"
)

const (
	numberBits     = 48 // lengths and addresses are below 1<<numberBits
	numberContexts = 64
	numberLimit    = 60
)

// even is a counter that has seen nothing.
var even = rangecoder.NewCounter(rangecoder.One/2, 0)

// codeFlag codes a decision with one counter.
func codeFlag(c *rangecoder.Coder, k *rangecoder.Counter, v bool) bool {
	return k.Code(c, rangecoder.Flag(v), numberLimit) != 0
}

// numbers is a model of numbers from zero up (an adaptive Elias gamma code of v+1): the length
// in unary, by context, the three bits below the leading one by that length, and the others
// directly.
type numbers struct {
	more [numberContexts][numberBits + 1]rangecoder.Counter
	top  [numberBits + 1][8]rangecoder.Counter
}

func newNumbers() *numbers {
	n := new(numbers)
	for i := range n.more {
		rangecoder.Fill(n.more[i][:], even)
	}
	for i := range n.top {
		rangecoder.Fill(n.top[i][:], even)
	}
	return n
}

// code codes v in a context below numberContexts. A reader returns less than 1<<numberBits.
func (n *numbers) code(c *rangecoder.Coder, v int64, ctx int) int64 {
	u := uint64(v) + 1
	size := bits.Len64(u)
	length := 1
	for length < numberBits && codeFlag(c, &n.more[ctx][length], size > length) {
		length++
	}
	left, head := uint(length-1), uint64(1)
	for range min(left, 3) {
		left--
		head = head<<1 | uint64(n.top[length][head&7].Code(c, int(u>>left&1), numberLimit))
	}
	return int64(head<<left|c.Direct(u&(1<<left-1), left)) - 1
}

// hash mixes two numbers into a context.
func hash(a, b uint32) uint32 {
	h := a*0x2C1B3C6D ^ (b+0x7F4A7C15)*0x297A2D39
	return h ^ h>>15
}

// class returns the number of bits of v.
func class(v int) int { return bits.Len(uint(v)) }

// recentDiagonals is the number of diagonals kept. A diagonal is the address of a copy less its
// position in the new file.
const recentDiagonals = 64

// jumps is a model of the address at which a copy begins: where the last copy ended, on a recent
// diagonal, or at a distance from where the last copy ended.
type jumps struct {
	moves   [8][2]rangecoder.Counter // by literals before, and moved
	returns [8]rangecoder.Counter
	back    [8]rangecoder.Counter
	which   *numbers
	far     *numbers
	moved   int // 1 if the last copy did not begin where the one before ended
	recent  [recentDiagonals]int64
}

func newJumps() *jumps {
	j := &jumps{which: newNumbers(), far: newNumbers()}
	for i := range j.moves {
		rangecoder.Fill(j.moves[i][:], even)
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

// code codes address to. The last copy ended at address from and was followed by literals
// bytes; pos is the position in the new file.
func (j *jumps) code(c *rangecoder.Coder, to, from, pos int64, literals int) int64 {
	ctx := min(literals, 7)
	if !codeFlag(c, &j.moves[ctx][j.moved], to != from) {
		j.moved = 0
		j.touch(from - pos)
		return from
	}
	j.moved = 1
	distance := to - from
	at := slices.Index(j.recent[:], to-pos)
	known := at >= 0 && (at <= 2 || distance <= -64 || distance >= 64)
	if codeFlag(c, &j.returns[ctx], known) {
		at = int(j.which.code(c, int64(at), 0)) % recentDiagonals
		to = j.recent[at] + pos
		j.touch(to - pos)
		return to
	}
	back := codeFlag(c, &j.back[ctx], distance < 0)
	distance = j.far.code(c, max(distance, -distance)-1, ctx) + 1
	if back {
		distance = -distance
	}
	j.touch(from + distance - pos)
	return from + distance
}

// touch moves a diagonal to the front.
func (j *jumps) touch(diagonal int64) {
	i := slices.Index(j.recent[:], diagonal)
	if i < 0 {
		i = recentDiagonals - 1
	}
	copy(j.recent[1:i+1], j.recent[:i])
	j.recent[0] = diagonal
}
