package worldview

import (
	"math"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/topview"
	"wirelab/encoders/cubes/forecast"
	"wirelab/experiment/engine/playout"
)

// A cell of the screen is two dots wide and four high, as braille has it.
const (
	DotsAcross = 2
	DotsDown   = 4
)

// cellLook is how a cube is drawn: the cell it is seen in takes the look of the
// highest rank among its dots.
type cellLook struct {
	Ink   look.Ink
	rank  uint8
	solid bool // in blocks, not in dots: it stands out without colour too
	plain rune // instead of its shape where there is no colour; 0: its shape will do
	ascii rune
}

// Painter draws cubes from above into a part of a canvas. It keeps its raster.
type Painter struct{ Raster topview.Raster }

// Draw puts poses on the raster as a camera sees them.
func (p *Painter) Draw(k *Camera, w, h int, poses []playout.Pose) {
	p.Raster.Reset(k.View(w*DotsAcross, h*DotsDown), w*DotsAcross, h*DotsDown)
	for i := range poses {
		at := &poses[i]
		cube := topview.Cube{X: at.X, Y: at.Y, Z: at.Z, Rot: at.Rot, Half: halfOf(i)}
		if i == 0 {
			cube.Z = math.MaxFloat32 // the player is seen whatever clings to it
		}
		p.Raster.Draw(i, &cube)
	}
}

// halfOf is half the side of a cube: the player's, which comes first, is larger.
func halfOf(i int) float32 {
	if i == 0 {
		return forecast.PlayerHalf
	}
	return forecast.CubeHalf
}

// Paint writes the raster to (x, y) of the canvas.
func (p *Painter) Paint(c *look.Canvas, th *look.Theme, x, y int, looks func(cube int) cellLook) {
	near := p.near()
	for row := range p.Raster.H / DotsDown {
		for col := range p.Raster.W / DotsAcross {
			mask, best := p.cell(col, row, near, looks)
			if mask != 0 {
				c.Set(x+col, y+row, best.Ink, Sign(th, mask, best))
			}
		}
	}
}

// near reports whether cubes are large enough on the raster to be told apart
// where they touch.
func (p *Painter) near() bool {
	const dots = 5
	return 2*forecast.CubeHalf >= dots*p.Raster.Dot()
}

// cell returns which dots of a cell are lit, from the left and from the top, and
// the look of the cube that matters most there.
func (p *Painter) cell(col, row int, near bool, looks func(int) cellLook) (mask uint8, best cellLook) {
	for dy := range DotsDown {
		for dx := range DotsAcross {
			x, y := col*DotsAcross+dx, row*DotsDown+dy
			i := p.Raster.At(x, y)
			if i == topview.Ground || near && p.seam(x, y, i) {
				continue
			}
			l := looks(i)
			if mask == 0 || l.rank > best.rank {
				best = l
			}
			mask |= 1 << (dy*DotsAcross + dx)
		}
	}
	return mask, best
}

// seam reports whether cube i, seen at (x, y), ends there at another one. Such
// dots stay dark, so that cubes in a heap can be told apart.
func (p *Painter) seam(x, y, i int) bool {
	right, below := p.Raster.At(x+1, y), p.Raster.At(x, y+1)
	return right != i && right != topview.Ground || below != i && below != topview.Ground
}

// Sign is the rune for the lit dots of a cell.
func Sign(th *look.Theme, mask uint8, l cellLook) rune {
	switch {
	case th.Ascii:
		return l.ascii
	case !th.Color && l.plain != 0:
		return l.plain
	case l.solid:
		return look.Quadrants(mask)
	}
	return chart.Braille(mask)
}
