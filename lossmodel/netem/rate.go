package netem

import "time"

// lineTime returns how long the line takes for a packet, in nanoseconds, by the
// kernel's widths of integers: an overhead that leaves less than nothing lasts
// for ages, and what would last beyond the horizon is cut there.
func (p *Params) lineTime(wire int) int64 {
	size := uint64(wire) + uint64(int64(p.Rate.Overhead))
	if p.Rate.CellSize > 0 {
		cells := uint32(size) / p.Rate.CellSize
		if size > uint64(cells*p.Rate.CellSize) {
			cells++
		}
		size = uint64(cells * (p.Rate.CellSize + uint32(p.Rate.CellOverhead)))
	}
	return int64(min(size*uint64(time.Second)/p.Rate.Bytes, 2*horizon))
}

// waiting is the packets that have not left: a 4-ary heap of when they do.
type waiting struct {
	leaves []int64
	latest int64 // of the times to send of those that wait
	peak   int   // the most there were
}

func (w *waiting) len() int { return len(w.leaves) }

// last returns the latest time to send of those that wait.
func (w *waiting) last() (int64, bool) { return w.latest, len(w.leaves) > 0 }

// leave removes what has left by now.
func (w *waiting) leave(now int64) {
	for len(w.leaves) > 0 && w.leaves[0] < now {
		w.pop()
	}
}

func (w *waiting) add(send, leaves int64) {
	if len(w.leaves) == 0 || send > w.latest {
		w.latest = send
	}
	w.leaves = append(w.leaves, leaves)
	w.peak = max(w.peak, len(w.leaves))
	s := w.leaves
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 4
		if leaves >= s[up] {
			break
		}
		s[i] = s[up]
		i = up
	}
	s[i] = leaves
}

// pop removes the first.
func (w *waiting) pop() {
	n := len(w.leaves) - 1
	moved := w.leaves[n]
	s := w.leaves[:n]
	w.leaves = s
	i := 0
	for {
		first := 4*i + 1
		if first >= n {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, n); c++ {
			if s[c] < s[least] {
				least = c
			}
		}
		if s[least] >= moved {
			break
		}
		s[i] = s[least]
		i = least
	}
	if n > 0 {
		s[i] = moved
	}
}
