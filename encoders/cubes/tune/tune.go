// Package tune finds the small and large bit widths of the snapshot ladder that take the fewest bits for a
// recording.
//
// The script that Fiedler published with "Snapshot Compression" evaluates every value for every setting,
// which takes minutes. Here every value is counted once, by the classes of its three components: two
// differences are in the same class if every setting of the grid codes them with the same number of bits.
// The whole grid is then evaluated from the counts, with the exact result.
//
// The cost of a value is that in package cubes with gear_bits = 0, the scheme of the article: a flag and
// three components, each a flag and its small or large width, if all components fit; otherwise a flag and
// the absolute value. Only values that changed are counted.
package tune

import (
	"cmp"
	"fmt"
	"slices"

	"wirelab/dataset/frame"
)

// Field is the part of a cube whose widths are searched.
type Field uint8

// The fields.
const (
	Position    Field = iota // with separate widths for x and y, and for z: 35 x 35 settings
	Orientation              // with the same widths for all components: 30 settings
)

// String returns the name of the field in commands.
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

// Result is the cost of one setting.
type Result struct {
	XY       widths `json:"xy"`            // for an orientation those of all three components
	Z        widths `json:"z"`             // of z; for an orientation the same as XY
	Bits     int64  `json:"bits"`          // of all values
	Samples  int64  `json:"samples"`       // number of values
	Absolute int    `json:"absolute_bits"` // of an absolute value with its flag
}

// Mean returns the bits per changed value.
func (r Result) Mean() float64 { return float64(r.Bits) / float64(max(r.Samples, 1)) }

// Share returns the ratio of Mean to the bits of an absolute value: below 1 if the widths save bits.
func (r Result) Share() float64 { return r.Mean() / float64(r.Absolute) }

// String returns the setting as in the article: "5-9-5-9" for a position, "5-8" for an orientation.
func (r Result) String() string {
	if r.Absolute == absoluteOrientation {
		return fmt.Sprintf("%d-%d", r.XY.Small, r.XY.Large)
	}
	return fmt.Sprintf("%d-%d-%d-%d", r.XY.Small, r.XY.Large, r.Z.Small, r.Z.Large)
}

// Bits of an absolute value, with its flag.
const (
	absolutePosition    = 50 + 1
	absoluteOrientation = 29 + 1
)

// grids are the grids of settings that the script published with Fiedler's article evaluates.
var grids = [...]grid{
	Position:    {minSmall: 2, maxSmall: 8, minLarge: 8, maxLarge: 12},
	Orientation: {minSmall: 2, maxSmall: 7, minLarge: 6, maxLarge: 10},
}

// grid has the inclusive bounds of the widths.
type grid struct{ minSmall, maxSmall, minLarge, maxLarge int }

// settings returns all pairs of widths of the grid.
func (g grid) settings() []widths {
	var list []widths
	for s := g.minSmall; s <= g.maxSmall; s++ {
		for l := g.minLarge; l <= g.maxLarge; l++ {
			list = append(list, widths{s, l})
		}
	}
	return list
}

// Search counts the changed values of a recording, for each pair of a frame and its baseline.
type Search struct {
	field         Field   // what is counted: positions or orientations
	classes       classes // of differences: those that all settings code in the same number of bits
	counts        []int64 // of values by the classes of their three components, the last fastest
	samples       int64   // number of changed values counted
	absoluteCount int64   // number of orientations with another largest component, which are always absolute
}

// New returns a search for the widths of a field.
func New(f Field) *Search {
	c := newClasses(grids[f].settings())
	n := c.count()
	return &Search{field: f, classes: c, counts: make([]int64, n*n*n)}
}

// Add counts the positions, or orientations, of cubes that differ between cur and its baseline base.
func (s *Search) Add(cur, base *frame.Frame) {
	const n = frame.CubeFields
	for offset := 0; offset+n <= min(len(cur.Table), len(base.Table)); offset += n {
		q, old := (*[n]int32)(cur.Table[offset:]), (*[n]int32)(base.Table[offset:])
		if *q == *old {
			continue
		}
		if s.field == Position {
			s.addValue(q[frame.CubeX]-old[frame.CubeX], q[frame.CubeY]-old[frame.CubeY], q[frame.CubeZ]-old[frame.CubeZ])
		} else if q[frame.CubeLargest] != old[frame.CubeLargest] {
			s.samples++
			s.absoluteCount++
		} else {
			s.addValue(q[frame.CubeA]-old[frame.CubeA], q[frame.CubeB]-old[frame.CubeB], q[frame.CubeC]-old[frame.CubeC])
		}
	}
}

// addValue counts one value with the given differences, unless all are 0.
func (s *Search) addValue(a, b, c int32) {
	if a|b|c == 0 {
		return
	}
	n := s.classes.count()
	s.counts[(s.classes.class(a)*n+s.classes.class(b))*n+s.classes.class(c)]++
	s.samples++
}

// Samples returns the number of changed values.
func (s *Search) Samples() int64 { return s.samples }

// Results evaluates all settings of the grid and returns them sorted by bits, the best first. Settings with equal
// bits are sorted by the widths of x and y, then by those of z: first by the width of small values, then by that of
// large ones.
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

// cell is the number of values whose components have the classes a, b and c.
type cell struct {
	a, b, c uint8 // classes of the three components
	count   int64 // number of values
}

// cells returns all cells with values.
func (s *Search) cells() []cell {
	var list []cell
	n := s.classes.count()
	for i, count := range s.counts {
		if count > 0 {
			list = append(list, cell{uint8(i / n / n), uint8(i / n % n), uint8(i % n), count})
		}
	}
	return list
}

// evaluate returns the cost of all counted values with one setting.
func (s *Search) evaluate(cells []cell, xy, z widths) Result {
	r := Result{XY: xy, Z: z, Samples: s.samples, Absolute: absolutePosition}
	if s.field == Orientation {
		r.Absolute = absoluteOrientation
	}
	absolute := int64(r.Absolute) // with the flag before it, as in relative
	r.Bits = s.absoluteCount * absolute
	xyBits, zBits := s.classes.bits(xy), s.classes.bits(z)
	for _, c := range cells {
		relative := 1 + xyBits[c.a] + xyBits[c.b] + zBits[c.c]
		r.Bits += c.count * min(relative, absolute)
	}
	return r
}

// classes divides differences, as zigzag codes, at the ends of the small and the large ranges of all
// settings. Class k begins at bounds[k] and ends before bounds[k+1].
type classes struct {
	bounds []uint32 // by class: its first zigzag code
	table  []uint8  // the class of every code below the last bound
}

// newClasses divides the zigzag codes of differences into classes, at the ends of the small and the large range of
// every setting of the grid. So each setting takes the same number of bits for all codes of a class.
func newClasses(grid []widths) classes {
	bounds := []uint32{0}
	for _, w := range grid {
		bounds = append(bounds, w.smallLimit(), w.largeLimit())
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

// smallLimit returns the first zigzag code beyond the small range: n bits hold the differences from -2^(n-1)
// to 2^(n-1)-1, whose codes are those below 2^n.
func (w widths) smallLimit() uint32 { return 1 << w.Small }

// largeLimit returns the first zigzag code beyond the large range, which begins where the small one ends.
func (w widths) largeLimit() uint32 { return 1<<w.Small + 1<<w.Large }

// count returns the number of classes.
func (c classes) count() int { return len(c.bounds) }

// class returns the class of the difference v.
func (c classes) class(v int32) int {
	z := uint32(v<<1) ^ uint32(v>>31) // zigzag code: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
	if int(z) < len(c.table) {
		return int(c.table[z])
	}
	return len(c.bounds) - 1
}

// doesNotFit is the cost of a component that does not fit: more than that of any absolute value.
const doesNotFit = 1 << 20

// bits returns for each class the number of bits of a component in it, with its flag, if the widths are w.
func (c classes) bits(w widths) []int64 {
	list := make([]int64, c.count())
	for k, from := range c.bounds {
		switch {
		case from < w.smallLimit():
			list[k] = 1 + int64(w.Small)
		case from < w.largeLimit():
			list[k] = 1 + int64(w.Large)
		default:
			list[k] = doesNotFit
		}
	}
	return list
}
