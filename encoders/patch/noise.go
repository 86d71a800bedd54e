package patch

// looksRandom reports whether no model of a byte by its neighbours would tell a
// block in fewer bytes: the bytes, and their differences over a few distances, are
// as evenly spread as chance has it. It saves the time to find that out by coding.
func looksRandom(b []byte) bool {
	if len(b) < 16<<10 {
		return false
	}
	for _, distance := range []int{0, 1, 2, 3, 4, 8} {
		var counts [256]uint64
		for i := distance; i < len(b); i++ {
			d := b[i]
			if distance > 0 {
				d -= b[i-distance]
			}
			counts[d]++
		}
		var squares uint64
		for _, c := range counts {
			squares += c * c
		}
		// Of n bytes that are random the squares sum up to n*n/256 + n on average.
		n := uint64(len(b) - distance)
		if squares > n*n/256+n*n/(256*64)+2*n {
			return false
		}
	}
	return true
}
