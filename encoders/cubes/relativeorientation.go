package cubes

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// OrientationParams are the widths of relative-orientation, as they are in the
// middle gear. With gear_bits = 0 there is but that one, as in the article.
type OrientationParams struct {
	XYSmall     int `toml:"xy_small" help:"a small difference of x or y" unit:"bits" min:"1" max:"10"`
	XYLarge     int `toml:"xy_large" help:"a large difference of x or y" unit:"bits" min:"1" max:"14"`
	ZSmall      int `toml:"z_small" help:"a small difference of z" unit:"bits" min:"1" max:"10"`
	ZLarge      int `toml:"z_large" help:"a large difference of z" unit:"bits" min:"1" max:"14"`
	OrientSmall int `toml:"orientation_small" help:"a small difference of a smallest-three component" unit:"bits" min:"1" max:"10"`
	OrientLarge int `toml:"orientation_large" help:"a large difference of a smallest-three component" unit:"bits" min:"1" max:"10"`
	GearBits    int `toml:"gear_bits" help:"a cube's gear, which shifts all its widths; 0: none, as published" unit:"bits" min:"0" max:"3"`
}

// RelativeOrientation sends orientations as differences too, where the baseline
// has the same largest component; and only those parts of a cube that changed.
// This is where the article ends, below 256 kbps on its author's recording.
//
// The article's scheme to the letter takes more than its author's final program
// does. So the rung goes three steps further: a cube's widths follow its speed
// (gears), one bit says that a cube changed in the usual way (parts), and one
// bit says that the next cube changed too (closeGaps). On charlie: 585 bytes a
// packet with gear_bits = 0 and the article's widths 5-9-5-9-5-8, 516.5 by his
// program, 510 with all three.
func RelativeOrientation() encoders.Codec {
	return encoders.Codec{
		ID: 8, Name: "relative-orientation", Refs: 1, Suits: frame.IsCubes,
		Summary: "orientation as a difference too; the widths follow each cube's speed",
		Source:  "Snapshot Compression, Glenn Fiedler, 2015",
		Params:  &OrientationParams{XYSmall: 6, XYLarge: 8, ZSmall: 6, ZLarge: 7, OrientSmall: 5, OrientLarge: 7, GearBits: 3},
		New: newCodec(func(rows int, params any) rung {
			p := params.(*OrientationParams)
			n := 1 << p.GearBits
			m := &motion{
				gearBits: uint(p.GearBits),
				moves:    newPositionCoder(widths{uint(p.XYSmall), uint(p.XYLarge)}, widths{uint(p.ZSmall), uint(p.ZLarge)}, n),
				turn:     newSmallestThree(widths{uint(p.OrientSmall), uint(p.OrientLarge)}, n),
			}
			return &delta{indices: newGaps(rows, closeGaps...), rows: m}
		}),
	}
}

// closeGaps gives the next cube, half of all, a range of its own: 1 bit, and the
// ranges of the article behind it one bit more.
var closeGaps = []uint{0, 3, 5}

// smallestThree codes an orientation as differences of the smallest three.
type smallestThree struct {
	gears []widths
	table gearBitsTable
}

func newSmallestThree(w widths, n int) *smallestThree {
	gears := w.inGears(n)
	return &smallestThree{gears: gears, table: newGearBitsTable(gears)}
}

func (*smallestThree) begin(*coder, *frame.Frame, *frame.Frame, []int32) {}

func (t *smallestThree) cost(_ int, q, base *cube.Row) gearBits {
	if q[frame.CubeLargest] != base[frame.CubeLargest] {
		return allUnreachable
	}
	return t.table.of(q[frame.CubeA]-base[frame.CubeA]) +
		t.table.of(q[frame.CubeB]-base[frame.CubeB]) +
		t.table.of(q[frame.CubeC]-base[frame.CubeC])
}

func (*smallestThree) limit() int { return cube.OrientationBits }

func (t *smallestThree) code(c *coder, k int, q, base *cube.Row, gear int) {
	relative := c.flag(!c.reading && t.cost(k, q, base).in(gear) <= cube.OrientationBits)
	if !relative {
		absoluteOrientation(c, q)
		return
	}
	v := [3]int32{q[frame.CubeA] - base[frame.CubeA], q[frame.CubeB] - base[frame.CubeB], q[frame.CubeC] - base[frame.CubeC]}
	t.gears[gear].three(c, &v)
	q[frame.CubeLargest] = base[frame.CubeLargest]
	q[frame.CubeA], q[frame.CubeB], q[frame.CubeC] = base[frame.CubeA]+v[0], base[frame.CubeB]+v[1], base[frame.CubeC]+v[2]
	c.charge(encoders.SlotOrientation)
}
