package align

const (
	longRun  = 4 << 10  // equal bytes that are copied without further thought
	endsScan = 16 << 10 // equal bytes for which the search is left off
	surplus  = 8        // by which a match must beat the diagonal in force
	reach    = 64       // bytes before a seed at which its diagonal is tried
	beyond   = 8 << 10  // bytes after its match up to which it is
	maxRun   = 4 << 10  // bytes of a match that are counted
)

// seed is a diagonal that may be worth following from one place to another.
type seed struct {
	diagonal int64
	from, to int
	inNew    bool
}

// diagonal is one that is in force, with the file it leads through.
type diagonal struct {
	by   int64 // address less position
	file []byte
	base int64 // address of the file's first byte
}

func (a *Aligner) diagonal(by int64, p int) diagonal {
	file, base := a.whole(int64(p) + by)
	return diagonal{by, file, base}
}

// hit returns 1 if byte c of the new file, at p, is right on the diagonal, else 0.
func (d *diagonal) hit(p int, c byte) int {
	if i := int64(p) + d.by - d.base; i >= 0 && i < int64(len(d.file)) && d.file[i] == c {
		return 1
	}
	return 0
}

// scan looks for seeds from start to end. It returns where it left off: at end, or
// a little into a long run of equal bytes. As in bsdiff, a match counts if it is
// longer than what the diagonal in force gets right there, and what lies between
// is divided among the two.
func (a *Aligner) scan(start, end int) (stop int) {
	a.seeds = a.seeds[:0]
	now, since := a.diagonal(a.current, start), start
	held := start // the end of the last match on the diagonal in force
	for p := start; p < end; {
		address, n, better := a.nextMatch(&now, &p, end)
		if n == 0 {
			break
		}
		next := now
		if better {
			next = a.diagonal(address-int64(p), p)
		} else if p-held <= beyond/2 {
			p += n
			held = p
			continue
		} // else the diagonal in force comes back after much that was not like it
		to, from := a.divide(&now, &next, since, p)
		a.seed(&now, start, since, to)
		now, since = next, from
		if n >= maxRun && commonPrefix(a.from(address), a.new[p:end]) >= endsScan {
			a.seed(&now, start, since, p+n)
			return min(end, p+1024)
		}
		p += n
		held = p
	}
	to, _ := a.divide(&now, &diagonal{}, since, end)
	a.seed(&now, start, since, to)
	return end
}

// nextMatch moves p to the next match that counts and returns it, and whether it is
// better than the current diagonal.
func (a *Aligner) nextMatch(now *diagonal, p *int, end int) (address int64, n int, better bool) {
	score, counted := 0, *p
	for *p < end {
		address, n = a.find(*p, end, now.by)
		for ; counted < *p+n; counted++ {
			score += now.hit(counted, a.new[counted])
		}
		if n > score+surplus {
			return address, n, true
		}
		if n == score && n != 0 {
			return address, n, false
		}
		skip := 1
		if allowCompared.exceeded(a.work.compared, *p) {
			skip = min(1+n/8, end-*p) // the next places are in this match too
		}
		for ; skip > 0; skip-- {
			if *p < counted {
				score -= now.hit(*p, a.new[*p])
			}
			*p++
		}
		counted = max(counted, *p)
	}
	return 0, 0, false
}

// divide returns how far the diagonal in force since a place continues towards p, where
// the next takes over, and from where on the next may be: as far as more bytes are
// right than wrong, and where both are, where it is best to change.
func (a *Aligner) divide(now, next *diagonal, since, p int) (to, from int) {
	n := p - since
	if allowDivided.exceeded(a.work.divided, p) {
		n = min(n, nearBytes)
	}
	a.work.divided += int64(n)
	forward := extend(n, func(i int) int { return now.hit(since+i, a.new[since+i]) })
	back := extend(n, func(i int) int { return next.hit(p-1-i, a.new[p-1-i]) })
	to, from = since+forward, p-back
	if to <= from {
		return to, from
	}
	score, best, at := 0, 0, from
	for i := from; i < to; i++ {
		score += now.hit(i, a.new[i]) - next.hit(i, a.new[i])
		if score > best {
			best, at = score, i+1
		}
	}
	return at, at
}

// extend returns how many of n bytes to take so that most are hits.
func extend(n int, hit func(i int) int) (length int) {
	score, best := 0, 0
	for i := range n {
		score += 2*hit(i) - 1
		if score > best {
			best, length = score, i+1
		}
	}
	return length
}

// seed notes a diagonal that was found to be good from one place to another.
func (a *Aligner) seed(d *diagonal, start, from, to int) {
	if to > from {
		a.seeds = append(a.seeds, seed{d.by, max(start, from-reach, int(d.base-d.by)), to + beyond, d.base > 0})
	}
}

// find returns the longest match of the new file at p.
func (a *Aligner) find(p, end int, diagonal int64) (address int64, n int) {
	on := a.from(int64(p) + diagonal)
	if n := commonPrefix(on[:min(len(on), probe)], a.new[p:end]); n == probe {
		return int64(p) + diagonal, commonPrefix(on[:min(len(on), maxRun)], a.new[p:end])
	}
	address, n = a.window.longest(a.new[p:end], &a.work.compared)
	if n == probe {
		b := a.from(address)
		n = commonPrefix(b[:min(len(b), maxRun)], a.new[p:end])
		a.work.compared += int64(n)
	}
	return address, n
}
