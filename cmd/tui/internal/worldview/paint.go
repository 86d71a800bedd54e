package worldview

import (
	"math"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/topview"
	"wirelab/encoders/cubes/forecast"
	"wirelab/experiment/engine/playout"
)

// A cell of the screen has two by four dots, as braille characters have.
const (
	DotsAcross = 2
	DotsDown   = 4
)

// cubeStyle is how a cube is drawn. A cell has the style of the highest rank among its dots.
type cubeStyle struct {
	Style look.Style
	rank  uint8
	solid bool // drawn in blocks instead of dots, to stand out without colours too
	plain rune // replaces the shape if there are no colours; 0 keeps the shape
	ascii rune
}

// Painter draws cubes from above into a part of a canvas. It reuses its raster.
type Painter struct{ Raster topview.Raster }

// Draw draws poses on the painter's raster, of w x h cells, as camera k sees them; Paint shows the raster.
func (p *Painter) Draw(k *Camera, w, h int, poses []playout.Pose) {
	p.Raster.Reset(k.View(w*DotsAcross, h*DotsDown), w*DotsAcross, h*DotsDown)
	for i := range poses {
		at := &poses[i]
		cube := topview.Cube{X: at.X, Y: at.Y, Z: at.Z, Rot: at.Rot, Half: halfSide(i)}
		if i == 0 {
			cube.Z = math.MaxFloat32 // the player is never covered by cubes that stick to it
		}
		p.Raster.Draw(i, &cube)
	}
}

// halfSide returns half the side of cube i. Cube 0 is the player, which is larger.
func halfSide(i int) float32 {
	if i == 0 {
		return forecast.PlayerHalf
	}
	return forecast.CubeHalf
}

// Paint draws the raster at (x, y) of the canvas. styleOf returns the style of a cube. Cells without cubes are
// unchanged.
func (p *Painter) Paint(c *look.Canvas, th *look.Theme, x, y int, styleOf func(cube int) cubeStyle) {
	near := p.isNear()
	for row := range p.Raster.H / DotsDown {
		for col := range p.Raster.W / DotsAcross {
			mask, style := p.cellMask(col, row, near, styleOf)
			if mask != 0 {
				c.Set(x+col, y+row, style.Style, Marker(th, mask, style))
			}
		}
	}
}

// isNear reports whether cubes are large enough on the raster to draw boundaries between them.
func (p *Painter) isNear() bool {
	const dots = 5
	return 2*forecast.CubeHalf >= dots*p.Raster.DotSize()
}

// cellMask returns the dots of a cell that are set, bit 0 at the top left, row by row, and the style with
// the highest rank among their cubes. If leaveGaps is set, dots at the boundary between two cubes are left
// empty, so that each cube is visible by itself.
func (p *Painter) cellMask(col, row int, leaveGaps bool, styleOf func(int) cubeStyle) (mask uint8, best cubeStyle) {
	for dy := range DotsDown {
		for dx := range DotsAcross {
			x, y := col*DotsAcross+dx, row*DotsDown+dy
			i := p.Raster.CubeAt(x, y)
			if i == topview.Ground || leaveGaps && p.isBoundary(x, y, i) {
				continue
			}
			if style := styleOf(i); mask == 0 || style.rank > best.rank {
				best = style
			}
			mask |= 1 << (dy*DotsAcross + dx)
		}
	}
	return mask, best
}

// isBoundary reports whether another cube adjoins cube i at dot (x, y). Such dots are not set, so that
// touching cubes can be distinguished.
func (p *Painter) isBoundary(x, y, i int) bool {
	right, below := p.Raster.CubeAt(x+1, y), p.Raster.CubeAt(x, y+1)
	return right != i && right != topview.Ground || below != i && below != topview.Ground
}

// Marker returns the rune for the dots of mask in a style; see cellMask.
func Marker(th *look.Theme, mask uint8, style cubeStyle) rune {
	switch {
	case th.Ascii:
		return style.ascii
	case !th.Color && style.plain != 0:
		return style.plain
	case style.solid:
		return look.Quadrants(mask)
	}
	return chart.Braille(mask)
}
