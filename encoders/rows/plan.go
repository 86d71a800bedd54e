package rows

import (
	"wirelab/dataset/frame"
	"wirelab/encoders/column"
)

// maxPlace bounds the coordinates of a position.
const maxPlace = 3

// plan holds what the codec derives from a schema.
type plan struct {
	schema *frame.Schema
	fields int
	rows   int
	cols   []fieldPlan
	coarse int   // low bits of a coordinate that distances ignore
	place  []int // the fields of a row's position; nil if there are fewer than two
	shared int   // index of the weights of decisions that belong to no field
	turn   rotationFields
	states []int // flags that are contexts of rows
}

// fieldPlan describes a field.
type fieldPlan struct {
	column.Range
	kind  frame.Kind
	class int // the first field of the same kind, range and unit
	slot  int // its weights; fields beyond maxSlots share the last
}

func newPlan(s *frame.Schema) *plan {
	p := &plan{schema: s, fields: len(s.Fields), rows: s.Rows}
	for i, f := range s.Fields {
		c := fieldPlan{kind: f.Kind, Range: column.RangeOf(&f), slot: min(i, maxSlots-1), class: i}
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

// findPlace finds the coordinates: the first two or three quantities of one unit.
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
				p.coarse = max(p.coarse, int(p.cols[j].Width)-30)
			}
			return
		}
	}
}
