package tune

import "slices"

// classes divides differences, as zigzag numbers, where some setting of the grid
// tells them apart: at the end of its small range and at the end of its large
// one. Class k begins at bounds[k] and ends before bounds[k+1].
type classes struct {
	bounds []uint32
	table  []uint8 // class of every number below the last bound
}

func newClasses(grid []widths) classes {
	bounds := []uint32{0}
	for _, w := range grid {
		bounds = append(bounds, w.smallEnd(), w.largeEnd())
	}
	slices.Sort(bounds)
	c := classes{bounds: slices.Compact(bounds)}
	for k := 1; k < len(c.bounds); k++ {
		for uint32(len(c.table)) < c.bounds[k] {
			c.table = append(c.table, uint8(k-1))
		}
	}
	return c
}

// smallEnd is the first zigzag number that is not small: n bits hold the
// differences from -2^(n-1) to 2^(n-1)-1, which are the numbers below 2^n.
func (w widths) smallEnd() uint32 { return 1 << w.Small }

// largeEnd is the first that is not large either. The large range goes on where
// the small one ends.
func (w widths) largeEnd() uint32 { return 1<<w.Small + 1<<w.Large }

// number returns how many classes there are.
func (c classes) number() int { return len(c.bounds) }

// of returns the class of a difference.
func (c classes) of(v int32) int {
	z := uint32(v<<1) ^ uint32(v>>31)
	if int(z) < len(c.table) {
		return int(c.table[z])
	}
	return len(c.bounds) - 1
}

// never is more bits than any setting would choose to spend.
const never = 1 << 20

// bits returns what a component of each class takes under w.
func (c classes) bits(w widths) []int64 {
	list := make([]int64, c.number())
	for k, from := range c.bounds {
		switch {
		case from < w.smallEnd():
			list[k] = 1 + int64(w.Small)
		case from < w.largeEnd():
			list[k] = 1 + int64(w.Large)
		default:
			list[k] = never
		}
	}
	return list
}
