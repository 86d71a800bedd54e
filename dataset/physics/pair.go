package physics

// pair names two bodies, the lower number in the upper half.
type pair uint64

func pairOf(i, j int) pair {
	if i > j {
		i, j = j, i
	}
	return pair(i)<<32 | pair(j)
}

func (p pair) split() (a, b int) { return int(p >> 32), int(uint32(p)) }
