package chart

// markerInterval is the distance between two markers of a line, in columns.
const markerInterval = 14

// drawMarkers draws the markers of lines that have one. Markers scroll with the data, and those of
// different lines are in different columns.
func (p *plot) drawMarkers(dots [][]float64) {
	marked, n := 0, 0 // lines with a marker: all, and those drawn so far
	for i := range p.Series {
		if p.Series[i].Marker != 0 {
			marked++
		}
	}
	lastColumn := p.lastDot(p.End-1) / int64(p.dotsPerColumn) // index on the endless time line
	for i, line := range p.Series {
		if line.Marker == 0 {
			continue
		}
		shift := int64(n * markerInterval / marked) // distributes the lines evenly over the interval
		n++
		for x := range p.cols {
			v := dots[i][x*p.dotsPerColumn]
			if column := lastColumn - int64(p.cols-1-x); isFinite(v) && column >= 0 && (column+shift)%markerInterval == 0 {
				y := p.bounds.row(min(max(v, p.bounds.lo), p.bounds.hi), p.rows)
				p.box.set(plotLeft+x, y, line.Marker, line.Style)
			}
		}
	}
}
