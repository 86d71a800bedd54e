package cubes

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// PositionParams are the widths of relative-position: bits of a difference to
// the baseline, in steps of 1/512 m.
type PositionParams struct {
	XYSmall int `toml:"xy_small" help:"a small difference of x or y" unit:"bits" min:"1" max:"10"`
	XYLarge int `toml:"xy_large" help:"a large difference of x or y" unit:"bits" min:"1" max:"14"`
	ZSmall  int `toml:"z_small" help:"a small difference of z" unit:"bits" min:"1" max:"10"`
	ZLarge  int `toml:"z_large" help:"a large difference of z" unit:"bits" min:"1" max:"14"`
}

// RelativePosition sends the position as a difference to the baseline: each
// component small or large, or, if one is neither, all three as they are.
func RelativePosition() encoders.Codec {
	return encoders.Codec{
		ID: 7, Name: "relative-position", Refs: 1, Suits: frame.IsCubes,
		Summary: "position as a difference to the baseline: a small or a large number of bits per component",
		Source:  "Snapshot Compression, Glenn Fiedler, 2015",
		Params:  &PositionParams{XYSmall: 5, XYLarge: 9, ZSmall: 5, ZLarge: 9},
		New: newCodec(func(rows int, params any) rung {
			p := params.(*PositionParams)
			move := offset{
				xy: widths{uint(p.XYSmall), uint(p.XYLarge)},
				z:  widths{uint(p.ZSmall), uint(p.ZLarge)},
			}
			return &delta{indices: newGaps(rows, publishedGaps...), rows: independent(func(c *coder, q, base *cube.Row) {
				absoluteOrientation(c, q)
				move.positionOrAbsolute(c, q, base)
				interacting(c, q)
			})}
		}),
	}
}

// offset codes a position relative to the baseline's.
type offset struct{ xy, z widths }

// fits reports whether all three differences can be expressed.
func (o offset) fits(q, base *cube.Row) bool {
	return o.xy.fits(zigzag(q[frame.CubeX]-base[frame.CubeX])) &&
		o.xy.fits(zigzag(q[frame.CubeY]-base[frame.CubeY])) &&
		o.z.fits(zigzag(q[frame.CubeZ]-base[frame.CubeZ]))
}

// positionOrAbsolute codes the position, relative if it can be; a bit says so.
func (o offset) positionOrAbsolute(c *coder, q, base *cube.Row) {
	if c.flag(!c.reading && o.fits(q, base)) {
		o.position(c, q, base)
	} else {
		absolutePosition(c, q)
	}
}

// position codes the three differences, which must fit.
func (o offset) position(c *coder, q, base *cube.Row) {
	if c.reading {
		x := word{bits: c.r.Peek()}
		q[frame.CubeX] = base[frame.CubeX] + x.take(o.xy)
		q[frame.CubeY] = base[frame.CubeY] + x.take(o.xy)
		q[frame.CubeZ] = base[frame.CubeZ] + x.take(o.z)
		c.r.Skip(x.n)
		return
	}
	var x word
	x.put(o.xy, q[frame.CubeX]-base[frame.CubeX])
	x.put(o.xy, q[frame.CubeY]-base[frame.CubeY])
	x.put(o.z, q[frame.CubeZ]-base[frame.CubeZ])
	c.w.Bits(x.bits, x.n)
	c.charge(encoders.SlotPosition)
}
