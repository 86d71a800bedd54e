package align

import (
	"math"
	"slices"

	"wirelab/encoders/patch/delta"
	"wirelab/encoders/rangecoder"
)

// Costs of coding in 1/16 bit, measured on programs and archives.
const (
	costHit     = 1      // a copied byte that is right
	costMiss    = 7 * 16 // and one that is not
	costLiteral = 5 * 16
	costBreak   = 5 * 16 // that literals follow
	costBack    = 10 * 16
	costNear    = 14 * 16 // a new diagonal, by its distance
	costMiddle  = 20 * 16
	costFar     = 28 * 16
	costNew     = 20 * 16 // on top, if it leads through the new file, where literals find matches too

	dropBehind   = 300 * 16 // behind the best, at which a diagonal is given up
	dropPastSeed = 30 * 16  // the same beyond its seed's reach
	maxLines     = 64       // diagonals that are followed at a time
	rebaseAbove  = 1 << 29
)

// jump returns the cost of a change of diagonals.
func jump(by int64) int32 {
	switch by = max(by, -by); {
	case by == 0:
		return costBack
	case by < 64:
		return costNear
	case by < 8192:
		return costMiddle
	}
	return costFar
}

// line is a diagonal that is followed.
type line struct {
	id       int32 // in path.diagonals
	diagonal int64
	file     []byte
	offset   int64 // from a position to the place in file
	to       int
	extra    int32 // cost to come to it, on top of jump
	cost     int32 // of the best way that ends on it
	start    int32 // where that way came to it
}

// path finds the cheapest path through a block by a dynamic program over positions. Its
// state is the current diagonal, or literals. For each position it stores the last
// choice of the best path there, and since where.
type path struct {
	how       []int32 // id of a diagonal, or literals
	since     []int32
	lines     []line
	diagonals []int64
	most      int   // lines at a time
	followed  int64 // lines, byte by byte
	best      int32 // cost of the best way so far
	real      int64 // the diagonal that was last in force on it
	lit       line  // literals, which the path left
	litReal   int64 // this diagonal
	segments  []segment
}

// segment is a part of a path on one diagonal, or of literals.
type segment struct{ from, to, how int32 }

const literals = -1 // the id of no diagonal

// choose appends to the plan the cheapest way from start to end along the seeds.
func (a *Aligner) choose(l *plan, start, end int) {
	w := &a.path
	n := end - start
	w.how, w.since = slices.Grow(w.how[:0], n+1)[:n+1], slices.Grow(w.since[:0], n+1)[:n+1]
	w.lines, w.diagonals = w.lines[:0], w.diagonals[:0]
	w.best, w.real, w.litReal = 0, a.current, a.current
	w.most, w.followed = maxLines, 0
	w.lit = line{id: literals, cost: costBreak}
	if file, base := a.whole(int64(start) + a.current); int64(start)+a.current >= 0 {
		w.follow(a, seed{diagonal: a.current, from: start, to: start + beyond, inNew: base > 0}, file, base, 0)
		w.lines[0].cost = 0
	}
	slices.SortStableFunc(a.seeds, func(x, y seed) int { return x.from - y.from })
	next := 0
	for i := range n {
		p := start + i
		for ; next < len(a.seeds) && a.seeds[next].from <= p; next++ {
			if s := a.seeds[next]; s.to > p {
				if allowFollowed.exceeded(a.work.followed+w.followed, p) {
					w.most = fewLines
				}
				file, base := a.old, int64(0)
				if s.inNew {
					file, base = a.new[:a.limit], int64(len(a.old))
				}
				w.follow(a, s, file, base, i)
			}
		}
		w.step(p, i, a.new[p])
	}
	a.work.followed += w.followed
	w.trace(a, l, start, n)
}

// follow takes up the diagonal of a seed at position i of the block.
func (w *path) follow(a *Aligner, s seed, file []byte, base int64, i int) {
	for j := range w.lines {
		if x := &w.lines[j]; x.diagonal == s.diagonal && x.offset == s.diagonal-base {
			x.to = max(x.to, s.to)
			return
		}
	}
	for len(w.lines) >= w.most {
		worst := 0
		for j := range w.lines {
			if w.lines[j].to < w.lines[worst].to {
				worst = j
			}
		}
		w.drop(worst)
	}
	extra := int32(rangecoder.Flag(s.inNew)) * costNew
	w.diagonals = append(w.diagonals, s.diagonal)
	w.lines = append(w.lines, line{
		id: int32(len(w.diagonals) - 1), diagonal: s.diagonal, file: file, offset: s.diagonal - base,
		to: s.to, extra: extra, cost: w.best + extra + jump(s.diagonal-w.real), start: int32(i),
	})
}

func (w *path) drop(j int) {
	w.lines[j] = w.lines[len(w.lines)-1]
	w.lines = w.lines[:len(w.lines)-1]
}

// step goes on by byte c of the new file, at p, the i-th of the block.
func (w *path) step(p, i int, c byte) {
	w.followed += int64(len(w.lines))
	cost, how, since, real := int32(math.MaxInt32), int32(literals), int32(0), w.real
	for j := 0; j < len(w.lines); j++ {
		x := &w.lines[j]
		at := int64(p) + x.offset
		if at < 0 || at >= int64(len(x.file)) || x.cost > w.best+dropBehind || p >= x.to && x.cost > w.best+dropPastSeed {
			w.drop(j)
			j--
			continue
		}
		if p < x.to {
			if s := w.best + x.extra + jump(x.diagonal-w.real); s < x.cost {
				x.cost, x.start = s, int32(i)
			}
		}
		if x.file[at] == c {
			x.cost += costHit
		} else {
			x.cost += costMiss
		}
		if x.cost < cost {
			cost, how, since, real = x.cost, x.id, x.start, x.diagonal
		}
	}
	if s := w.best + costBreak; s < w.lit.cost {
		w.lit.cost, w.lit.start, w.litReal = s, int32(i), w.real
	}
	w.lit.cost += costLiteral
	if w.lit.cost < cost {
		cost, how, since, real = w.lit.cost, literals, w.lit.start, w.litReal
	}
	w.best, w.real = cost, real
	w.how[i+1], w.since[i+1] = how, since
	if cost > rebaseAbove {
		w.rebase()
	}
}

// rebase keeps costs small.
func (w *path) rebase() {
	for j := range w.lines {
		w.lines[j].cost -= w.best
	}
	w.lit.cost -= w.best
	w.best = 0
}

// trace follows the best path back and appends it to the plan.
func (w *path) trace(a *Aligner, l *plan, start, n int) {
	w.segments = w.segments[:0]
	for i := int32(n); i > 0; i = w.since[i] {
		w.segments = append(w.segments, segment{w.since[i], i, w.how[i]})
	}
	slices.Reverse(w.segments)
	for _, g := range w.segments {
		size := int(g.to - g.from)
		if g.how == literals {
			l.literal(size)
			continue
		}
		a.current = w.diagonals[g.how]
		l.copy(int64(start)+int64(g.from)+a.current, size)
	}
}

// Cut splits operations into those of the first n bytes and the rest. It overwrites the
// list.
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
