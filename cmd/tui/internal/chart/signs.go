package chart

import "math"

// signEvery is how many columns lie between two signs of one line.
const signEvery = 14

// signs puts the signs of the lines that have one onto them. They stay with their
// moment as the picture scrolls, and those of different lines stand apart.
func (p *plot) signs(dots [][]float64) {
	signed, n := 0, 0
	for i := range p.Series {
		if p.Series[i].Sign != 0 {
			signed++
		}
	}
	last := p.last(p.End-1) / int64(p.wide)
	for i, line := range p.Series {
		if line.Sign == 0 {
			continue
		}
		shift := int64(n * signEvery / signed)
		n++
		for x := range p.cols {
			v := dots[i][x*p.wide]
			if bucket := last - int64(p.cols-1-x); finite(v) && bucket >= 0 && (bucket+shift)%signEvery == 0 {
				y := p.bounds.row(math.Min(math.Max(v, p.bounds.lo), p.bounds.hi), p.rows)
				p.box.set(p.left+x, y, line.Sign, line.Ink)
			}
		}
	}
}
