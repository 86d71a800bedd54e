package rows

import (
	"math/bits"

	"wirelab/dataset/frame"
)

// maxPlace is how many coordinates make up a place.
const maxPlace = 3

// plan is what an end knows of a schema before it has seen a frame.
type plan struct {
	schema *frame.Schema
	fields int
	rows   int
	cols   []column
	coarse int   // bits of a coordinate that distances leave out
	place  []int // the fields that say where a row is, none if no two do
	shared int   // which weights decisions have that are of no field
	turn   rotationFields
	states []int // flags and small enums, by which rows are told apart
}

// column is what is known of a field.
type column struct {
	kind  frame.Kind
	min   int32
	span  uint32 // the largest value less min
	width uint   // bits of span
	class int    // the first field that is like it
	slot  int    // which weights it has: the last ones are shared
}

// number reports whether differences of values mean something.
func (c *column) number() bool {
	return c.kind == frame.Quantity || c.kind == frame.Angle || c.kind == frame.Float32
}

func newPlan(s *frame.Schema) *plan {
	p := &plan{schema: s, fields: len(s.Fields), rows: s.Rows}
	for i, f := range s.Fields {
		c := column{kind: f.Kind, slot: min(i, maxSlots-1)}
		c.min, c.span = f.Span()
		c.width = uint(bits.Len32(c.span))
		c.class = i
		for j, g := range s.Fields[:i] {
			if g.Kind == f.Kind && g.Min == f.Min && g.Max == f.Max && g.Unit == f.Unit {
				c.class = j
				break
			}
		}
		p.cols = append(p.cols, c)
		if f.Kind == frame.Flag && len(p.states) < 4 {
			p.states = append(p.states, i)
		}
	}
	p.shared = min(p.fields, maxSlots)
	p.findPlace()
	p.turn = p.findRotation()
	return p
}

// findPlace looks for coordinates: the first two or three quantities of one unit.
func (p *plan) findPlace() {
	fields := p.schema.Fields
	for i, f := range fields {
		if f.Kind != frame.Quantity || f.Unit == "" {
			continue
		}
		list := []int{i}
		for j := i + 1; j < len(fields) && len(list) < maxPlace; j++ {
			if fields[j].Kind == frame.Quantity && fields[j].Unit == f.Unit {
				list = append(list, j)
			}
		}
		if len(list) > 1 {
			p.place = list
			for _, j := range list {
				p.coarse = max(p.coarse, int(p.cols[j].width)-30)
			}
			return
		}
	}
}
