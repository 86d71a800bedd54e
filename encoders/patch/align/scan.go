package align

const (
	longRun        = 4 << 10  // number of equal bytes that are copied without a search
	scanStop       = 16 << 10 // number of equal bytes at which findSeeds stops
	minGain        = 8        // a match counts if it equals more bytes than the current diagonal, by more than this
	seedBefore     = 64       // bytes before a match at which its diagonal is tried
	seedAfter      = 8 << 10  // bytes after a match up to which its diagonal is tried
	maxMatchLength = 4 << 10  // length in bytes at which matches are cut
)

// seed is a diagonal that may be worth following between two positions of the new file.
type seed struct {
	diagonal int64 // address minus position in the new file
	from, to int
	inNew    bool // the diagonal is in the new file, not in the old one
}

// diagonal is a diagonal of the source with the file that it goes through.
type diagonal struct {
	offset int64 // address minus position in the new file
	file   []byte
	base   int64 // address of the file's first byte
}

// newDiagonal returns the diagonal of an offset; p is a position on it.
func (a *Aligner) newDiagonal(offset int64, p int) diagonal {
	file, base := a.fileAt(int64(p) + offset)
	return diagonal{offset, file, base}
}

// matches returns 1 if byte c of the new file, at position p, equals the source on the diagonal, else 0.
func (d *diagonal) matches(p int, c byte) int {
	if i := int64(p) + d.offset - d.base; i >= 0 && i < int64(len(d.file)) && d.file[i] == c {
		return 1
	}
	return 0
}

// findSeeds sets a.seeds to the seeds from start to end. It returns the position where it stopped: end, or
// a little into a long run of equal bytes. As in bsdiff, a match counts if clearly more of its bytes
// are equal than on the current diagonal in the same range, and the range between two matches is divided
// between their diagonals.
func (a *Aligner) findSeeds(start, end int) (stop int) {
	a.seeds = a.seeds[:0]
	current, currentFrom := a.newDiagonal(a.currentDiagonal, start), start
	lastMatchEnd := start // end of the last match on the current diagonal
	for p := start; p < end; {
		address, n, onNewDiagonal := a.nextMatch(&current, &p, end)
		if n == 0 {
			break
		}
		next := current
		if onNewDiagonal {
			next = a.newDiagonal(address-int64(p), p)
		} else if p-lastMatchEnd <= seedAfter/2 { // the current diagonal continues after a short difference
			p += n
			lastMatchEnd = p
			continue
		}
		// The match is on a new diagonal, or on the current one after a long difference. Divide the range before it.
		to, from := a.divide(&current, &next, currentFrom, p)
		a.addSeed(&current, start, currentFrom, to)
		current, currentFrom = next, from
		if n >= maxMatchLength && commonPrefix(a.bytesAt(address), a.new[p:end]) >= scanStop {
			a.addSeed(&current, start, currentFrom, p+n)
			return min(end, p+1024) // Plan copies the rest of the run without a search
		}
		p += n
		lastMatchEnd = p
	}
	// After the last match the current diagonal alone is extended: an empty file matches nothing.
	to, _ := a.divide(&current, &diagonal{}, currentFrom, end)
	a.addSeed(&current, start, currentFrom, to)
	return end
}

// nextMatch advances p to the next match that counts and returns its address and length; n is 0 if there is
// none before end. onNewDiagonal is false if the bytes of the match are equal on the
// current diagonal too, which then continues.
func (a *Aligner) nextMatch(current *diagonal, p *int, end int) (address int64, n int, onNewDiagonal bool) {
	score, countedTo := 0, *p // number of equal bytes on the current diagonal in *p..countedTo
	for *p < end {
		address, n = a.longestMatch(*p, end, current.offset)
		for ; countedTo < *p+n; countedTo++ {
			score += current.matches(countedTo, a.new[countedTo])
		}
		if n > score+minGain {
			return address, n, true
		}
		if n == score && n != 0 {
			return address, n, false
		}
		skip := 1
		if allowCompared.exceeded(a.work.compared, *p) {
			skip = min(1+n/8, end-*p) // to save work: the next positions are in this match too
		}
		for ; skip > 0; skip-- {
			if *p < countedTo {
				score -= current.matches(*p, a.new[*p])
			}
			*p++
		}
		countedTo = max(countedTo, *p)
	}
	return 0, 0, false
}

// divide divides the range start..end between two diagonals: the current one extends up to position to, the next
// one backward from end to position from. Each extends as far as more bytes are equal than different. If the
// two overlap, to and from are the same position, at which most bytes are equal in total.
func (a *Aligner) divide(current, next *diagonal, start, end int) (to, from int) {
	n := end - start
	if allowDivided.exceeded(a.work.divided, end) {
		n = min(n, limitedDivide)
	}
	a.work.divided += int64(n)
	forward := bestExtension(n, func(i int) int { return current.matches(start+i, a.new[start+i]) })
	back := bestExtension(n, func(i int) int { return next.matches(end-1-i, a.new[end-1-i]) })
	to, from = start+forward, end-back
	if to <= from {
		return to, from
	}
	score, best, split := 0, 0, from
	for i := from; i < to; i++ {
		score += current.matches(i, a.new[i]) - next.matches(i, a.new[i])
		if score > best {
			best, split = score, i+1
		}
	}
	return split, split
}

// bestExtension returns the length, at most n, that maximises the number of matches minus the number of
// other bytes. matches(i) is 1 for a match and 0 otherwise.
func bestExtension(n int, matches func(i int) int) (length int) {
	score, best := 0, 0
	for i := range n {
		score += 2*matches(i) - 1
		if score > best {
			best, length = score, i+1
		}
	}
	return length
}

// addSeed adds a seed for a diagonal that matches well from position from to position to, if that is not empty.
// The seed is somewhat longer than the range, but does not begin before searchStart or before its file.
func (a *Aligner) addSeed(d *diagonal, searchStart, from, to int) {
	if to > from {
		a.seeds = append(a.seeds, seed{d.offset, max(searchStart, from-seedBefore, int(d.base-d.offset)), to + seedAfter,
			d.base > 0})
	}
}

// longestMatch returns address and length of the longest match of the new file at p, up to end, at most
// maxMatchLength bytes. A match of maxCompare bytes on the given diagonal is preferred; it needs no search. n is
// 0 without a match.
func (a *Aligner) longestMatch(p, end int, diagonal int64) (address int64, n int) {
	onDiagonal := a.bytesAt(int64(p) + diagonal)
	if n := commonPrefix(onDiagonal[:min(len(onDiagonal), maxCompare)], a.new[p:end]); n == maxCompare {
		return int64(p) + diagonal, commonPrefix(onDiagonal[:min(len(onDiagonal), maxMatchLength)], a.new[p:end])
	}
	address, n = a.window.longestPrefix(a.new[p:end], &a.work.compared)
	if n == maxCompare {
		b := a.bytesAt(address)
		n = commonPrefix(b[:min(len(b), maxMatchLength)], a.new[p:end])
		a.work.compared += int64(n)
	}
	return address, n
}
