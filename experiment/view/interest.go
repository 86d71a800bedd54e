package view

import (
	"math"

	"wirelab/dataset/frame"
)

// Interest describes the area that matters to a client: the priorities of rows decrease with the distance to a view
// point. The zero Interest weights all rows alike.
type Interest struct {
	Row     int        // the row at whose position the view point is, from 1, the client's player; 0 means Point
	Point   [3]float64 // the view point, in the units of the positions
	Radius  float64    // rows within it have their full priority; 0 means everywhere
	Falloff int        // beyond the radius a priority is multiplied by (radius/distance)^Falloff
}

// interest applies an Interest and the weights of groups to the rows of a frame.
type interest struct {
	Interest
	groups  []group
	columns [3]int // of the position; -1 if there is no such axis
	active  bool
	from    [3]float64 // the view point of the present packet
}

// noColumns are the columns of tables without positions.
var noColumns = [3]int{-1, -1, -1}

// positionColumns returns the columns of the positions of rows by axis; -1 if there is no such axis.
func positionColumns(s *frame.Schema) (columns [3]int) {
	if frame.IsCubes(s) {
		return [3]int{frame.CubeX, frame.CubeY, frame.CubeZ}
	}
	columns = noColumns
	for i := range s.Fields {
		if h := s.Fields[i].Hint; h.Role == frame.Position && h.Group <= 1 && h.Axis < 3 {
			columns[h.Axis] = i
		}
	}
	return columns
}

// HasPositions reports whether rows of schema s have positions, which an Interest needs.
func HasPositions(s *frame.Schema) bool { return positionColumns(s) != noColumns }

// SetInterest sets the area that matters. It has no effect for tables without positions.
func (f *Filler) SetInterest(in Interest) {
	n := &f.interest
	n.Interest, n.columns = in, positionColumns(f.schema)
	n.active = in.Radius > 0 && n.columns != noColumns
}

// aim sets the view point for the newest frame of f.
func (n *interest) aim(f *Filler) {
	n.from = n.Point
	if row := n.Row - 1 + f.player; n.columns != noColumns && n.Row > 0 && row < f.schema.Rows {
		n.from = n.place(f, row)
	}
}

// factor returns the factor of the priority of row i, in 1/1024.
func (n *interest) factor(f *Filler, i int) uint32 {
	ratio := n.Radius / n.distance(f, i) // +Inf at the view point itself
	factor := 1024.0
	for range n.Falloff {
		factor *= min(1, ratio)
	}
	return uint32(factor)
}

// distance returns the distance of row i to the view point; +Inf if it is unknown, because coordinates are no numbers or
// are infinite.
func (n *interest) distance(f *Filler, i int) float64 {
	at := n.place(f, i)
	x, y, z := at[0]-n.from[0], at[1]-n.from[1], at[2]-n.from[2]
	d := math.Sqrt(float64(x*x) + float64(y*y) + float64(z*z))
	if math.IsNaN(d) {
		return math.Inf(1) // conversions of NaN to integers differ from machine to machine
	}
	return d
}

// place returns the position of row i in the newest frame.
func (n *interest) place(f *Filler, i int) (p [3]float64) {
	row := f.curRow(i)
	for axis, column := range n.columns {
		if column >= 0 {
			p[axis] = f.schema.Fields[column].InUnits(row[column])
		}
	}
	return p
}

// scaled returns an addition to the priority of row i, multiplied by the factors of the row.
func (n *interest) scaled(f *Filler, i int, add uint32) uint64 {
	if !n.active && n.groups == nil {
		return uint64(add)
	}
	p := uint64(add) << 10
	if n.active {
		p = uint64(add) * uint64(n.factor(f, i))
	}
	if n.groups != nil {
		p = p * n.groupFactor(f, i) / weightUnit
	}
	return max(1, p>>10)
}
