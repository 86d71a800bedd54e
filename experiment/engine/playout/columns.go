package playout

import (
	"math"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/units"
)

// Columns are the columns of a table that a display interpolates between two snapshots: the coordinates
// of positions (frame.Position) and angles. All other columns keep the values of the earlier snapshot.
type Columns struct {
	schema *frame.Schema
	parts  []blendedPart
	errors meters.ErrorUnits // the units of the first coordinate and of the first angle
}

// blendedPart are the interpolated columns of a range of rows.
type blendedPart struct {
	frame.Part
	positions     [][]int // the columns of each position, which have one unit
	angles        []int
	present, kind int   // columns with the roles frame.Present and frame.Type; -1 if the part has none
	jumping       []int // columns of positions whose field has a Jump
}

// FindColumns returns the interpolated columns of a schema; nil without any. Only state of which the
// newest matters is interpolated: calls and messages are not.
func FindColumns(s *frame.Schema) *Columns {
	if s.Delivery != frame.Latest || frame.IsCubes(s) {
		return nil
	}
	c := &Columns{schema: s}
	parts := s.Parts
	if len(parts) == 0 {
		parts = []frame.Part{s.PartForRow(0)}
	}
	for _, p := range parts {
		c.parts = append(c.parts, c.findPart(p))
	}
	if !c.errors.HasPositions && !c.errors.HasAngles {
		return nil
	}
	return c
}

// findPart returns the interpolated columns of part p. Columns whose unit does not convert to that of
// the first column with the same role have no common error with it, and are left out.
func (c *Columns) findPart(p frame.Part) blendedPart {
	b := blendedPart{Part: p, present: -1, kind: -1}
	var groups []uint8 // of b.positions
	for i := p.Field; i < p.Field+p.Size; i++ {
		f := &c.schema.Fields[i]
		switch {
		case f.Hint.Role == frame.Present:
			b.present = i
		case f.Hint.Role == frame.Type:
			b.kind = i
		case f.Hint.Role == frame.Position && (f.Kind == frame.Quantity || f.Kind == frame.Float32):
			if !c.errors.HasPositions {
				c.errors.HasPositions = true
				c.errors.Position = f.Unit
			}
			if _, ok := units.Factor(f.Unit, c.errors.Position); !ok {
				continue
			}
			g := slices.Index(groups, f.Hint.Group)
			if g < 0 {
				g = len(groups)
				groups, b.positions = append(groups, f.Hint.Group), append(b.positions, nil)
			}
			b.positions[g] = append(b.positions[g], i)
			if f.Jump > 0 {
				b.jumping = append(b.jumping, i)
			}
		case turnOf(f) > 0:
			if !c.errors.HasAngles {
				c.errors.HasAngles = true
				c.errors.Angle = f.Unit
			}
			if _, ok := units.Factor(f.Unit, c.errors.Angle); ok {
				b.angles = append(b.angles, i)
			}
		}
	}
	return b
}

// Units returns the units in which the errors of positions and of angles are measured.
func (c *Columns) Units() *meters.ErrorUnits { return &c.errors }

// Interpolates reports whether column i is interpolated.
func (c *Columns) Interpolates(i int) bool {
	return slices.ContainsFunc(c.parts, func(p blendedPart) bool {
		return slices.Contains(p.angles, i) || slices.ContainsFunc(p.positions, func(axes []int) bool { return slices.Contains(axes, i) })
	})
}

// Joins reports whether a row is interpolated between tables a and b: whether it is present in both, of
// one type, and does not jump.
func (c *Columns) Joins(row int, a, b []int32) bool {
	p := c.partOf(row)
	return p != nil && c.joins(p, c.rowOf(a, row), c.rowOf(b, row))
}

// joins is Joins for two rows of part p.
func (c *Columns) joins(p *blendedPart, a, b []int32) bool {
	return p.isSameObject(a, b) && !slices.ContainsFunc(p.jumping, func(i int) bool {
		f := &c.schema.Fields[i]
		return math.Abs(f.InUnits(a[i])-f.InUnits(b[i])) > f.Jump
	})
}

// partOf returns the part of a row; nil if it has no interpolated columns.
func (c *Columns) partOf(row int) *blendedPart {
	for i := range c.parts {
		if p := &c.parts[i]; row >= p.Row && row-p.Row < p.Rows {
			return p
		}
	}
	return nil
}

func (c *Columns) rowOf(table []int32, row int) []int32 {
	n := len(c.schema.Fields)
	return table[row*n : (row+1)*n]
}

// isPresent reports whether the object of a row is present.
func (p *blendedPart) isPresent(row []int32) bool { return p.present < 0 || row[p.present] != 0 }

// isSameObject reports whether a row of two tables, a in one and b in the other, is present in both and
// of one type.
func (p *blendedPart) isSameObject(a, b []int32) bool {
	return p.isPresent(a) && p.isPresent(b) && (p.kind < 0 || a[p.kind] == b[p.kind])
}

// turnOf returns the period of an angle in the units of f; 0 if f is no angle. A time that wraps is none.
func turnOf(f *frame.Field) float64 {
	_, isTime := units.Factor(f.Unit, "s")
	switch {
	case isTime || f.Hint.Role == frame.Clock || f.Hint.Role == frame.Now:
	case f.Kind == frame.Angle:
		return float64((float64(f.Max) - float64(f.Min) + 1) * f.Step())
	case f.Kind == frame.Float32:
		return f.Hint.Turn
	}
	return 0
}

// Between returns the value of field f, in its units, as far as the fraction weight of the way from a to
// b. Angles take the shorter way around, and the result is in the turn that begins at the lowest value
// of f, or at 0.
func Between(f *frame.Field, a, b int32, weight float64) float64 {
	from, to := f.InUnits(a), f.InUnits(b)
	turn := turnOf(f)
	if turn == 0 {
		return from + float64((to-from)*weight)
	}
	v := from + float64(math.Remainder(to-from, turn)*weight)
	lowest := 0.0
	if f.Kind == frame.Angle {
		lowest = f.InUnits(f.Min)
	}
	v = lowest + math.Mod(v-lowest, turn)
	if v < lowest {
		v += turn
	}
	return v
}

// addRowErrors adds the errors of the displayed positions and angles of a row to m. It leaves out values
// that are at rest on the display and in the source. b must have a truth. A row whose object has appeared,
// disappeared or jumped in the source, but not on the display, or the other way around, is counted as that:
// the distance is not one of movement.
func (x *screen) addRowErrors(row int, b *blend, t *Truths, m *meters.DisplayErrors) {
	p := x.columns.partOf(row)
	if p == nil {
		return
	}
	r := rowBlend{columns: x.columns, b: b, firstCell: row * len(x.columns.schema.Fields), weight: b.weight, truthWeight: b.truthWeight}
	for i, f := range [4]*frame.Frame{b.a, b.b, b.truthBefore, b.truthAfter} {
		r.rows[i] = x.columns.rowOf(f.Table, row)
	}
	// An object that appears, disappears, changes its type or jumps is displayed unchanged until the later
	// frame.
	lastTick := b.lastTick
	if !x.columns.joins(p, r.rows[0], r.rows[1]) {
		r.weight, lastTick = 0, b.heldTo
	}
	if !x.columns.joins(p, r.rows[2], r.rows[3]) {
		r.truthWeight, lastTick = 0, b.heldTo
	}
	switch shown, exists := p.isPresent(r.rows[0]), p.isPresent(r.rows[2]); {
	case !shown && !exists:
		return
	case !shown:
		m.Appeared++
		return
	case !exists:
		m.Disappeared++
		return
	case !p.isSameObject(r.rows[0], r.rows[2]) || row < len(t.breaks) && t.breaks[row].between(b.heldFrom, lastTick):
		m.Jumped++
		return
	}
	r.curved = b.curved && x.joinsOuter(p, row, b)
	isExact := b.sameTicks && !b.unrounded && slices.Equal(r.rows[0], r.rows[2]) && slices.Equal(r.rows[1], r.rows[3]) // no error
	for _, axes := range p.positions {
		switch {
		case r.atRest(axes...):
		case isExact:
			m.AddPosition(0)
		default:
			m.AddPosition(r.positionError(axes))
		}
	}
	for _, i := range p.angles {
		switch {
		case r.atRest(i):
		case isExact:
			m.AddAngle(0)
		default:
			m.AddAngle(r.angleError(i))
		}
	}
}

// joinsOuter reports whether a row of part p is the same object in all snapshots of the curve of b, and does
// not jump between any of them and b.a.
func (x *screen) joinsOuter(p *blendedPart, row int, b *blend) bool {
	for _, f := range b.frames {
		if f == nil {
			continue
		}
		inSnapshot := x.columns.rowOf(f.Table, row)
		inA := x.columns.rowOf(b.a.Table, row)
		if !x.columns.joins(p, inSnapshot, inA) {
			return false
		}
	}
	return true
}

// rowBlend is a row in the two snapshots around the displayed time and in the two frames of the source
// around it.
type rowBlend struct {
	columns             *Columns
	b                   *blend
	rows                [4][]int32 // 0 and 1 of the snapshots, 2 and 3 of the source
	firstCell           int        // index of the first value of the row in its table
	weight, truthWeight float64    // of rows[1] and of rows[3]
	curved              bool       // positions follow the spline of b
}

// atRest reports whether columns are equal in all four rows, and the residuals in both of the source.
func (r *rowBlend) atRest(columns ...int) bool {
	for _, i := range columns {
		if v := r.rows[0][i]; r.rows[1][i] != v || r.rows[2][i] != v || r.rows[3][i] != v || !r.b.sameResiduals(r.firstCell+i, r.firstCell+i+1) {
			return false
		}
	}
	return true
}

// positionError returns the distance between the displayed position and the source's, in the unit of
// positions. axes are the columns of the position.
func (r *rowBlend) positionError(axes []int) float64 {
	sum := 0.0
	for _, i := range axes {
		f := &r.columns.schema.Fields[i]
		shown := Between(f, r.rows[0][i], r.rows[1][i], r.weight)
		if r.curved && r.rows[0][i] != r.rows[1][i] {
			shown = r.b.spline.value(f, r.firstCell+i, &r.b.frames)
		}
		factor, _ := units.Factor(f.Unit, r.columns.errors.Position)
		d := float64((shown - r.truth(i)) * factor)
		sum += float64(d * d)
	}
	return math.Sqrt(sum)
}

// truth returns the source's value in column i, not rounded, in the units of its field. An angle may be
// slightly outside of its turn.
func (r *rowBlend) truth(i int) float64 {
	v := Between(&r.columns.schema.Fields[i], r.rows[2][i], r.rows[3][i], r.truthWeight)
	if before, after := r.b.residuals(r.firstCell+i, r.firstCell+i+1); before != nil {
		v += float64(float64(before[0])*(1-r.truthWeight)) + float64(float64(after[0])*r.truthWeight)
	}
	return v
}

// angleError returns the difference between the displayed angle in column i and the source's, in the
// unit of angles.
func (r *rowBlend) angleError(i int) float64 {
	f := &r.columns.schema.Fields[i]
	shown := Between(f, r.rows[0][i], r.rows[1][i], r.weight)
	factor, _ := units.Factor(f.Unit, r.columns.errors.Angle)
	return float64(math.Abs(math.Remainder(shown-r.truth(i), turnOf(f))) * factor)
}

// value returns the interpolated value of a cell of field f, in its units. Missing frames are nil and
// have weight 0.
func (s *spline) value(f *frame.Field, cell int, frames *[4]*frame.Frame) float64 {
	v := 0.0
	for n, w := range s {
		if frames[n] != nil {
			v += float64(f.InUnits(frames[n].Table[cell]) * w)
		}
	}
	return v
}
