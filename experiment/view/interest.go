package view

import (
	"math"

	"wirelab/dataset/frame"
)

// Interest describes the area that matters to a client: the priorities of rows decrease with the distance to a view
// point. The zero Interest weights all rows alike.
type Interest struct {
	Row     int        // the row at whose position the view point is, from 1; 0 means Point
	Point   [3]float64 // the view point, in the units of the positions
	Radius  float64    // rows within it have their full priority; 0 means everywhere
	Falloff int        // beyond the radius a priority is multiplied by (radius/distance)^Falloff
}

// interest applies an Interest to the rows of a frame.
type interest struct {
	Interest
	columns [3]int // of the position; -1 if there is no such axis
	active  bool
	from    [3]float64 // the view point of the present packet
}

// SetInterest sets the area that matters. It has no effect for tables without positions.
func (f *Filler) SetInterest(in Interest) {
	f.interest = interest{Interest: in, columns: [3]int{-1, -1, -1}}
	for i := range f.schema.Fields {
		if h := f.schema.Fields[i].Hint; h.Role == frame.Position && h.Group <= 1 && h.Axis < 3 {
			f.interest.columns[h.Axis] = i
		}
	}
	if f.metric.cubes {
		f.interest.columns = [3]int{frame.CubeX, frame.CubeY, frame.CubeZ}
	}
	f.interest.active = in.Radius > 0 && f.interest.columns != [3]int{-1, -1, -1}
}

// aim sets the view point for the newest frame of f.
func (n *interest) aim(f *Filler) {
	n.from = n.Point
	if row := n.Row - 1 + f.player; n.active && n.Row > 0 && row < f.schema.Rows {
		n.from = n.place(f, row)
	}
}

// factor returns the factor of the priority of row i, in 1/1024.
func (n *interest) factor(f *Filler, i int) uint32 {
	at := n.place(f, i)
	x, y, z := at[0]-n.from[0], at[1]-n.from[1], at[2]-n.from[2]
	ratio := n.Radius / math.Sqrt(float64(x*x)+float64(y*y)+float64(z*z)) // +Inf at the view point itself
	factor := 1024.0
	for range n.Falloff {
		factor *= min(1, ratio)
	}
	return uint32(factor)
}

// place returns the position of row i in the newest frame.
func (n *interest) place(f *Filler, i int) (p [3]float64) {
	row := f.row(f.cur.Table, i)
	for axis, column := range n.columns {
		if column >= 0 {
			p[axis] = f.schema.Fields[column].InUnits(row[column])
		}
	}
	return p
}

// scaled returns an addition to the priority of row i, multiplied by the factor of the row.
func (n *interest) scaled(f *Filler, i int, add uint32) uint64 {
	if !n.active {
		return uint64(add)
	}
	return max(1, uint64(add)*uint64(n.factor(f, i))>>10)
}
