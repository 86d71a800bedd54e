package align

import (
	"math"
	"slices"

	"wirelab/encoders/patch/delta"
	"wirelab/encoders/rangecoder"
)

// Costs of coding in units of 1/16 bit, measured on programs and archives.
const (
	costHit     = 1       // a copied byte that is equal
	costMiss    = 7 * 16  // a copied byte that differs
	costLiteral = 5 * 16  // a literal byte
	costBreak   = 5 * 16  // the change from a copy to literals
	costBack    = 10 * 16 // the return to the last diagonal
	costNear    = 14 * 16 // the change to a diagonal less than 64 bytes away
	costMiddle  = 20 * 16 // less than 8 KB away
	costFar     = 28 * 16 // farther away
	costNew     = 20 * 16 // additional for a diagonal in the new file, because literals find matches there too

	dropBehind   = 300 * 16 // a diagonal is dropped if its cost exceeds the best by more than that
	dropPastSeed = 30 * 16  // the same bound for a diagonal beyond the range of its seed
	maxLines     = 64       // diagonals that are followed at a time
	rebaseAbove  = 1 << 29  // a cost from which on all costs are reduced
)

// jumpCost returns the cost, in 1/16 bit, of a change to a diagonal at a distance from the last one. A distance of 0
// is the return to the last diagonal after literals.
func jumpCost(distance int64) int32 {
	switch distance = max(distance, -distance); {
	case distance == 0:
		return costBack
	case distance < 64:
		return costNear
	case distance < 8192:
		return costMiddle
	}
	return costFar
}

// line is a diagonal that is followed.
type line struct {
	id       int32 // index into path.diagonals; -1 for literals
	diagonal int64
	file     []byte
	offset   int64 // what is added to a position in the new file to get the index in file
	seedEnd  int   // position in the new file up to which the seed of the diagonal reaches
	extra    int32 // cost of changing to this diagonal, in addition to jumpCost
	cost     int32 // cost of the cheapest path that ends on this diagonal
	start    int32 // position in the block at which the cheapest path came to this diagonal
}

// path finds the cheapest sequence of copies and literals for a block, by a dynamic program over positions.
// The state is the current diagonal, or literals. For each position it stores the last state of the
// cheapest path that ends there, and where that state began.
type path struct {
	choice          []int32 // by position: the last state of the cheapest path, an index into diagonals or literals
	choiceStart     []int32 // by position: the position at which that state began
	lines           []line  // followed at present
	diagonals       []int64 // all that were followed
	maxActive       int     // maximum of len(lines)
	followed        int64   // bytes compared along lines
	bestCost        int32   // cost of the cheapest path to the current position
	bestDiagonal    int64   // the last diagonal of that path
	literalLine     line    // the state of literals
	literalDiagonal int64   // the last diagonal of the cheapest path that ends in literals
	segments        []segment
}

// segment is a part of a path, from..to in the block, on one diagonal or of literals.
type segment struct{ from, to, choice int32 }

// literals is the choice that is not an index of a diagonal.
const literals = -1

// choosePath appends to the plan out the cheapest path from start to end along the current diagonal and the
// seeds, which findSeeds has set. The last diagonal of the path becomes the current one.
func (a *Aligner) choosePath(out *plan, start, end int) {
	w := &a.path
	n := end - start
	w.choice, w.choiceStart = slices.Grow(w.choice[:0], n+1)[:n+1], slices.Grow(w.choiceStart[:0], n+1)[:n+1]
	w.lines, w.diagonals = w.lines[:0], w.diagonals[:0]
	w.bestCost, w.bestDiagonal, w.literalDiagonal = 0, a.currentDiagonal, a.currentDiagonal
	w.maxActive, w.followed = maxLines, 0
	w.literalLine = line{id: literals, cost: costBreak}
	// The current diagonal costs nothing at the start, unless it begins before the source.
	if file, base := a.fileAt(int64(start) + a.currentDiagonal); int64(start)+a.currentDiagonal >= 0 {
		w.addLine(seed{diagonal: a.currentDiagonal, from: start, to: start + seedAfter, inNew: base > 0}, file,
			base, 0)
		w.lines[0].cost = 0
	}
	slices.SortStableFunc(a.seeds, func(x, y seed) int { return x.from - y.from })
	next := 0
	for i := range n {
		p := start + i
		for ; next < len(a.seeds) && a.seeds[next].from <= p; next++ {
			if s := a.seeds[next]; s.to > p {
				if allowFollowed.exceeded(a.work.followed+w.followed, p) {
					w.maxActive = limitedLines
				}
				file, base := a.old, int64(0)
				if s.inNew {
					file, base = a.new[:a.limit], int64(len(a.old))
				}
				w.addLine(s, file, base, i)
			}
		}
		w.advance(p, i, a.new[p])
	}
	a.work.followed += w.followed
	w.appendBest(a, out, start, n)
}

// addLine begins to follow the diagonal of a seed at position i of the block, or follows it up to the end of
// the seed if it is followed already. base is the address of the first byte of file. If too many diagonals are
// followed, those whose seeds end first are dropped.
func (w *path) addLine(s seed, file []byte, base int64, i int) {
	for j := range w.lines {
		if x := &w.lines[j]; x.diagonal == s.diagonal && x.offset == s.diagonal-base {
			x.seedEnd = max(x.seedEnd, s.to)
			return
		}
	}
	for len(w.lines) >= w.maxActive {
		worst := 0
		for j := range w.lines {
			if w.lines[j].seedEnd < w.lines[worst].seedEnd {
				worst = j
			}
		}
		w.dropLine(worst)
	}
	extra := int32(rangecoder.Flag(s.inNew)) * costNew
	w.diagonals = append(w.diagonals, s.diagonal)
	w.lines = append(w.lines, line{
		id: int32(len(w.diagonals) - 1), diagonal: s.diagonal, file: file, offset: s.diagonal - base,
		seedEnd: s.to, extra: extra, cost: w.bestCost + extra + jumpCost(s.diagonal-w.bestDiagonal), start: int32(i),
	})
}

// dropLine stops following line j.
func (w *path) dropLine(j int) {
	w.lines[j] = w.lines[len(w.lines)-1]
	w.lines = w.lines[:len(w.lines)-1]
}

// advance adds byte c, at position p of the new file and i of the block, to the cost of every diagonal in w.lines
// and of the literals. It stores the cheapest of them in w.choice, and where its run began in w.choiceStart. It
// drops diagonals that left their file or have become too expensive.
func (w *path) advance(p, i int, c byte) {
	w.followed += int64(len(w.lines))
	// The cheapest way to code all bytes up to c.
	newBest, choice, segmentStart, newDiagonal := int32(math.MaxInt32), int32(literals), int32(0), w.bestDiagonal
	for j := 0; j < len(w.lines); j++ {
		x := &w.lines[j]
		fileIndex := int64(p) + x.offset
		if fileIndex < 0 || fileIndex >= int64(len(x.file)) || x.cost > w.bestCost+dropBehind ||
			p >= x.seedEnd && x.cost > w.bestCost+dropPastSeed {
			w.dropLine(j)
			j-- // dropLine moved the last line to j
			continue
		}
		if p < x.seedEnd { // is it cheaper to change to this diagonal here?
			if switchCost := w.bestCost + x.extra + jumpCost(x.diagonal-w.bestDiagonal); switchCost < x.cost {
				x.cost, x.start = switchCost, int32(i)
			}
		}
		if x.file[fileIndex] == c {
			x.cost += costHit
		} else {
			x.cost += costMiss
		}
		if x.cost < newBest {
			newBest, choice, segmentStart, newDiagonal = x.cost, x.id, x.start, x.diagonal
		}
	}
	if switchCost := w.bestCost + costBreak; switchCost < w.literalLine.cost {
		w.literalLine.cost, w.literalLine.start, w.literalDiagonal = switchCost, int32(i), w.bestDiagonal
	}
	w.literalLine.cost += costLiteral
	if w.literalLine.cost < newBest {
		newBest, choice, segmentStart, newDiagonal = w.literalLine.cost, literals, w.literalLine.start, w.literalDiagonal
	}
	w.bestCost, w.bestDiagonal = newBest, newDiagonal
	w.choice[i+1], w.choiceStart[i+1] = choice, segmentStart
	if newBest > rebaseAbove {
		w.rebase()
	}
}

// rebase subtracts the best cost from all costs, so that they do not overflow.
func (w *path) rebase() {
	for j := range w.lines {
		w.lines[j].cost -= w.bestCost
	}
	w.literalLine.cost -= w.bestCost
	w.bestCost = 0
}

// appendBest follows the cheapest sequence of diagonals and literals back from the end of the block, by w.choice
// and w.choiceStart, and appends it to the plan. start is the position of the block in the new file, n its size.
func (w *path) appendBest(a *Aligner, out *plan, start, n int) {
	w.segments = w.segments[:0]
	for i := int32(n); i > 0; i = w.choiceStart[i] {
		w.segments = append(w.segments, segment{w.choiceStart[i], i, w.choice[i]})
	}
	slices.Reverse(w.segments)
	for _, g := range w.segments {
		size := int(g.to - g.from)
		if g.choice == literals {
			out.addLiterals(size)
			continue
		}
		a.currentDiagonal = w.diagonals[g.choice]
		out.addCopy(int64(start)+int64(g.from)+a.currentDiagonal, size)
	}
}

// Cut splits operations into those of the first n bytes of the new file, head, and the rest. An operation that
// crosses the cut is split in two. Cut overwrites ops and may return parts of it.
func Cut(ops []delta.Op, n int) (head, rest []delta.Op) {
	for i, o := range ops {
		if o.Copy+o.Literal < n {
			n -= o.Copy + o.Literal
			continue
		}
		head = append(head, ops[:i]...)
		if o.Copy > n {
			ops[i] = delta.Op{From: o.From + int64(n), Copy: o.Copy - n, Literal: o.Literal}
			return append(head, delta.Op{From: o.From, Copy: n}), ops[i:]
		}
		head = append(head, delta.Op{From: o.From, Copy: o.Copy, Literal: n - o.Copy})
		o.Literal -= n - o.Copy
		if o.Literal > 0 {
			ops[i] = delta.Op{From: o.From + int64(o.Copy), Literal: o.Literal}
			return head, ops[i:]
		}
		return head, ops[i+1:]
	}
	return ops, nil
}
