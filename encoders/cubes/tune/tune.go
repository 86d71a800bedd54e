// Package tune searches the bit widths of the snapshot ladder: which small and
// large widths would have spent the fewest bits on a recording?
//
// The script that Fiedler published with "Snapshot Compression" walks every
// value for every setting, which takes minutes. Here every value is counted
// once, by the class of its three components: two values are of one class if no
// width on the grid can tell them apart. The whole grid is then evaluated from
// the counts, exactly.
//
// What a value costs is what the encoders of package cubes charge with
// gear_bits = 0, the scheme of the article: a flag and three components, each a
// flag and its small or large width, if all of them fit; else a flag and the
// value in full. Only values that changed are counted.
package tune

import (
	"cmp"
	"fmt"
	"slices"

	"wirelab/dataset/frame"
)

// Field is what to search the widths of.
type Field uint8

// The fields.
const (
	Position    Field = iota // xy and z apart: 35 x 35 settings
	Orientation              // 30 settings
)

// String returns the field's name as commands spell it.
func (f Field) String() string { return [...]string{"position", "orientation"}[f] }

// ParseField is the inverse of String.
func ParseField(name string) (Field, error) {
	for _, f := range []Field{Position, Orientation} {
		if f.String() == name {
			return f, nil
		}
	}
	return 0, fmt.Errorf("no field %q to tune, expected %v or %v", name, Position, Orientation)
}

// widths are the bits of a small and of a large difference.
type widths struct {
	Small int `json:"small"`
	Large int `json:"large"`
}

// Result is what one setting spends.
type Result struct {
	XY       widths `json:"xy"` // of an orientation: of all three components
	Z        widths `json:"z"`  // of an orientation: the same
	Bits     int64  `json:"bits"`
	Samples  int64  `json:"samples"`
	Absolute int    `json:"absolute_bits"` // of a value sent in full, flag included
}

// Mean returns the bits per changed value.
func (r Result) Mean() float64 { return float64(r.Bits) / float64(max(r.Samples, 1)) }

// Share returns Mean as a share of sending every value in full.
func (r Result) Share() float64 { return r.Mean() / float64(r.Absolute) }

// String returns the setting as the article spells it: "5-9-5-9" or "5-8".
func (r Result) String() string {
	if r.Absolute == absoluteOrientation {
		return fmt.Sprintf("%d-%d", r.XY.Small, r.XY.Large)
	}
	return fmt.Sprintf("%d-%d-%d-%d", r.XY.Small, r.XY.Large, r.Z.Small, r.Z.Large)
}

// Bits of a value sent in full, flag included.
const (
	absolutePosition    = 50 + 1
	absoluteOrientation = 29 + 1
)

// The published grid.
var grids = [...]grid{
	Position:    {smallest: 2, small: 8, largest: 8, large: 12},
	Orientation: {smallest: 2, small: 7, largest: 6, large: 10},
}

// grid bounds the widths, both ends inclusive.
type grid struct{ smallest, small, largest, large int }

// widths lists the settings of the grid.
func (g grid) settings() []widths {
	var list []widths
	for s := g.smallest; s <= g.small; s++ {
		for l := g.largest; l <= g.large; l++ {
			list = append(list, widths{s, l})
		}
	}
	return list
}

// Search counts the changed values of a recording, pair by pair of frames.
type Search struct {
	field    Field
	classes  classes
	counts   []int64 // by class of the three components
	samples  int64
	absolute int64 // orientations with another largest component
}

// New returns a search for the widths of a field.
func New(f Field) *Search {
	c := newClasses(grids[f].settings())
	n := c.number()
	return &Search{field: f, classes: c, counts: make([]int64, n*n*n)}
}

// Add counts what changed in cur against base, two frames of cubes.
func (s *Search) Add(cur, base *frame.Frame) {
	const n = frame.CubeFields
	for at := 0; at+n <= min(len(cur.Table), len(base.Table)); at += n {
		q, p := (*[n]int32)(cur.Table[at:]), (*[n]int32)(base.Table[at:])
		if *q == *p {
			continue
		}
		if s.field == Position {
			s.add(q[frame.CubeX]-p[frame.CubeX], q[frame.CubeY]-p[frame.CubeY], q[frame.CubeZ]-p[frame.CubeZ])
		} else if q[frame.CubeLargest] != p[frame.CubeLargest] {
			s.samples++
			s.absolute++
		} else {
			s.add(q[frame.CubeA]-p[frame.CubeA], q[frame.CubeB]-p[frame.CubeB], q[frame.CubeC]-p[frame.CubeC])
		}
	}
}

// add counts one value by its three differences.
func (s *Search) add(a, b, c int32) {
	if a|b|c == 0 {
		return
	}
	n := s.classes.number()
	s.counts[(s.classes.of(a)*n+s.classes.of(b))*n+s.classes.of(c)]++
	s.samples++
}

// Samples returns how many changed values were counted.
func (s *Search) Samples() int64 { return s.samples }

// Results evaluates the whole grid and returns it cheapest first; of equals the
// one with the smaller widths, xy before z, small before large.
func (s *Search) Results() []Result {
	cells := s.cells()
	var list []Result
	for _, xy := range grids[s.field].settings() {
		if s.field == Orientation {
			list = append(list, s.evaluate(cells, xy, xy))
			continue
		}
		for _, z := range grids[s.field].settings() {
			list = append(list, s.evaluate(cells, xy, z))
		}
	}
	slices.SortStableFunc(list, func(a, b Result) int {
		return cmp.Or(cmp.Compare(a.Bits, b.Bits), cmp.Compare(a.XY.Small, b.XY.Small), cmp.Compare(a.XY.Large, b.XY.Large),
			cmp.Compare(a.Z.Small, b.Z.Small), cmp.Compare(a.Z.Large, b.Z.Large))
	})
	return list
}

// cell is how many values are of one class.
type cell struct {
	a, b, c uint8
	count   int64
}

// cells lists the classes that occur.
func (s *Search) cells() []cell {
	var list []cell
	n := s.classes.number()
	for i, count := range s.counts {
		if count > 0 {
			list = append(list, cell{uint8(i / n / n), uint8(i / n % n), uint8(i % n), count})
		}
	}
	return list
}

// evaluate returns what one setting spends on all that was counted.
func (s *Search) evaluate(cells []cell, xy, z widths) Result {
	r := Result{XY: xy, Z: z, Samples: s.samples, Absolute: absolutePosition}
	if s.field == Orientation {
		r.Absolute = absoluteOrientation
	}
	absolute := int64(r.Absolute)
	r.Bits = s.absolute * absolute
	xyBits, zBits := s.classes.bits(xy), s.classes.bits(z)
	for _, c := range cells {
		relative := 1 + xyBits[c.a] + xyBits[c.b] + zBits[c.c]
		r.Bits += c.count * min(relative, absolute)
	}
	return r
}

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
