package ui

import (
	"math"

	"wirelab/cmd/tui/internal/topview"
	"wirelab/encoders/cubes/forecast"
	"wirelab/experiment/engine"
)

// A cell of the screen is two dots wide and four high, as braille has it.
const (
	dotsAcross = 2
	dotsDown   = 4
)

// look is how a cube is drawn: the cell it is seen in takes the look of the
// highest rank among its dots.
type look struct {
	ink   ink
	rank  uint8
	solid bool // in blocks, not in dots: it stands out without colour too
	plain rune // instead of its shape where there is no colour; 0: its shape will do
	ascii rune
}

// painter draws cubes from above into a part of a canvas. It keeps its raster.
type painter struct{ raster topview.Raster }

// draw puts poses on the raster as a camera sees them.
func (p *painter) draw(k *camera, w, h int, poses []engine.Pose) {
	p.raster.Reset(k.view(w*dotsAcross, h*dotsDown), w*dotsAcross, h*dotsDown)
	for i := range poses {
		at := &poses[i]
		cube := topview.Cube{X: at.X, Y: at.Y, Z: at.Z, Rot: at.Rot, Half: halfOf(i)}
		if i == 0 {
			cube.Z = math.MaxFloat32 // the player is seen whatever clings to it
		}
		p.raster.Draw(i, &cube)
	}
}

// halfOf is half the side of a cube: the player's, which comes first, is larger.
func halfOf(i int) float32 {
	if i == 0 {
		return forecast.PlayerHalf
	}
	return forecast.CubeHalf
}

// paint writes the raster to (x, y) of the canvas.
func (p *painter) paint(c *canvas, th *theme, x, y int, looks func(cube int) look) {
	near := p.near()
	for row := range p.raster.H / dotsDown {
		for col := range p.raster.W / dotsAcross {
			mask, best := p.cell(col, row, near, looks)
			if mask != 0 {
				c.set(x+col, y+row, best.ink, sign(th, mask, best))
			}
		}
	}
}

// near reports whether cubes are large enough on the raster to be told apart
// where they touch.
func (p *painter) near() bool {
	const dots = 5
	return 2*forecast.CubeHalf >= dots*p.raster.Dot()
}

// cell returns which dots of a cell are lit, from the left and from the top, and
// the look of the cube that matters most there.
func (p *painter) cell(col, row int, near bool, looks func(int) look) (mask uint8, best look) {
	for dy := range dotsDown {
		for dx := range dotsAcross {
			x, y := col*dotsAcross+dx, row*dotsDown+dy
			i := p.raster.At(x, y)
			if i == topview.Ground || near && p.seam(x, y, i) {
				continue
			}
			l := looks(i)
			if mask == 0 || l.rank > best.rank {
				best = l
			}
			mask |= 1 << (dy*dotsAcross + dx)
		}
	}
	return mask, best
}

// seam reports whether cube i, seen at (x, y), ends there at another one: such
// dots stay dark, so that a heap is seen to be of cubes.
func (p *painter) seam(x, y, i int) bool {
	right, below := p.raster.At(x+1, y), p.raster.At(x, y+1)
	return right != i && right != topview.Ground || below != i && below != topview.Ground
}

// sign is the rune for the lit dots of a cell.
func sign(th *theme, mask uint8, l look) rune {
	switch {
	case th.ascii:
		return l.ascii
	case !th.color && l.plain != 0:
		return l.plain
	case l.solid:
		return quadrants(mask)
	}
	return braille(mask)
}

// braille puts the bits, rows of two from the top, where Unicode has the dots.
func braille(mask uint8) rune {
	places := [8]rune{0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80}
	r := rune(0x2800)
	for i, bit := range places {
		if mask>>i&1 == 1 {
			r |= bit
		}
	}
	return r
}

// quadrants fills each quarter of the cell of which a dot is lit.
func quadrants(mask uint8) rune {
	blocks := [16]rune{' ', '▘', '▝', '▀', '▖', '▌', '▞', '▛', '▗', '▚', '▐', '▜', '▄', '▙', '▟', '█'}
	quarters := mask&3 | mask>>2&3 | (mask>>4&3|mask>>6&3)<<2
	return blocks[quarters]
}
