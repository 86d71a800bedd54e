package physics

// pair is an unordered pair of bodies: the lower index in the upper 32 bits, the higher one below.
type pair uint64

// newPair returns the pair of bodies i and j, which may be given in any order.
func newPair(i, j int) pair {
	if i > j {
		i, j = j, i
	}
	return pair(i)<<32 | pair(j)
}

// split returns both indices, the lower one first.
func (p pair) split() (a, b int) { return int(p >> 32), int(uint32(p)) }
