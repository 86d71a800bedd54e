package table

import (
	"fmt"
	"slices"
	"strings"

	"wirelab/dataset/frame"
)

// hintKeys returns the keys of a field that describe its role in the game.
func hintKeys() []string {
	return []string{"role", "group", "axis", "rate", "drag", "stop_speed", "turn", "step", "rides", "jump"}
}

// partKeys returns the keys of a table [[part]].
func partKeys() []string { return []string{"name", "first_row", "rows", "first", "last"} }

// roles returns the roles that a schema may name.
func roles() []frame.Role {
	return []frame.Role{frame.Position, frame.Velocity, frame.Type, frame.Present, frame.Clock, frame.Now}
}

// maxGroup is the maximum number of a group: groups are stored in a byte.
const maxGroup = 255

// readHint reads the keys of a field that describe its role in the game.
func (r *schemaReader) readHint(prefix string, t map[string]any, f *frame.Field) {
	h := &f.Hint
	var role string
	r.readText(prefix, t, "role", &role, optionalKey)
	if role != "" {
		h.Role = oneOf(r, prefix, "role", role, roles())
	}
	h.Group = uint8(r.readOptionalInt(prefix, t, "group", 0, maxGroup, "(the number of the position to which the field belongs; 0: none)"))
	h.Axis = uint8(r.readOptionalInt(prefix, t, "axis", 0, 2, "(0 and 1 are horizontal, 2 is up)"))
	h.Rides = uint8(r.readOptionalInt(prefix, t, "rides", 0, maxGroup, "as the number of a position"))
	for _, x := range []struct {
		key string
		to  *float64
	}{{"rate", &h.Rate}, {"drag", &h.Drag}, {"stop_speed", &h.StopSpeed}, {"turn", &h.Turn}, {"step", &h.Step}, {"jump", &f.Jump}} {
		v, ok := t[x.key]
		if !ok {
			continue
		}
		n, ok := toFloat(v)
		if !ok || n < 0 || n > maxScale {
			r.fail(prefix+x.key, formatValue(v)+" is not valid", fmt.Sprintf("a number from 0 to %g", float64(maxScale)))
		}
		*x.to = n
	}
	if f.Jump > 0 && h.Role != frame.Position {
		r.fail(prefix+"jump", "is not valid without a position", `role = "place"`)
	}
	moves := h.Role == frame.Position || h.Role == frame.Velocity
	switch {
	case moves && h.Group == 0:
		r.failMissing(prefix+"group", "the number of the position, from 1")
	case !moves && h.Role != frame.Clock && h.Group != 0:
		r.fail(prefix+"group", "is not valid without a role", `role = "place", "velocity" or "clock"`)
	}
}

// readParts reads the tables [[part]], which list the fields that some rows use, and appends them to s.Parts. An
// error is stored in r.err.
func (r *schemaReader) readParts(s *frame.Schema, tree map[string]any) {
	v, ok := tree["part"]
	if !ok || r.err != nil {
		return
	}
	list, ok := v.([]any)
	if !ok || len(list) > MaxFields {
		r.fail("part", formatValue(v)+" is not valid", fmt.Sprintf("at most %d tables [[part]]", MaxFields))
		return
	}
	minRow := 0
	for i, v := range list {
		prefix := fmt.Sprintf("part[%d].", i)
		t, ok := v.(map[string]any)
		if !ok {
			r.fail(prefix[:len(prefix)-1], formatValue(v)+" is not a part", "a table [[part]]")
			return
		}
		p := r.readPart(prefix, t, s, minRow)
		if r.err != nil {
			return
		}
		minRow = p.Row + p.Rows
		s.Parts = append(s.Parts, p)
	}
}

// readPart reads a part: rows first_row to first_row+rows-1 and fields first to last, inclusive.
// Parts are in order and do not overlap: first_row must be at least minRow. prefix is the key of
// the part, for errors, which are stored in r.
func (r *schemaReader) readPart(prefix string, t map[string]any, s *frame.Schema, minRow int) (p frame.Part) {
	r.checkKeys(prefix, t, partKeys())
	var first, last string
	r.readText(prefix, t, "name", &p.Name, requiredKey)
	r.readText(prefix, t, "first", &first, requiredKey)
	r.readText(prefix, t, "last", &last, requiredKey)
	for _, key := range []string{"first_row", "rows"} {
		if _, ok := t[key]; !ok {
			r.failMissing(prefix+key, "a whole number")
		}
	}
	if r.err != nil {
		return p
	}
	if minRow >= s.Rows {
		r.fail(prefix+"first_row", "earlier parts already use all rows", fmt.Sprintf("at most %d rows in all parts together", s.Rows))
		return p
	}
	p.Row = r.readOptionalInt(prefix, t, "first_row", minRow, s.Rows-1, "as the index of a row after those of earlier parts")
	p.Rows = r.readOptionalInt(prefix, t, "rows", 1, s.Rows-p.Row, "rows, because the part must end at or before the last row of a frame")
	p.Field = r.fieldNamed(prefix+"first", s, first)
	p.Size = r.fieldNamed(prefix+"last", s, last) - p.Field + 1
	if p.Size < 1 {
		r.fail(prefix+"last", fmt.Sprintf("%q comes before %q", last, first), fmt.Sprintf("%q or a field after it", first))
	}
	return p
}

// fieldNamed returns the index of the field called name. If no field has that name, it stores an error in r and
// returns -1.
func (r *schemaReader) fieldNamed(key string, s *frame.Schema, name string) int {
	i := slices.IndexFunc(s.Fields, func(f frame.Field) bool { return f.Name == name })
	if i < 0 {
		var names []string
		for i := range s.Fields {
			names = append(names, s.Fields[i].Name)
		}
		r.failUnknown(key, "field", name, names[:min(len(names), 16)])
	}
	return i
}

// describeHint writes a field's hint as the keys that readHint reads. Keys that are 0 are left out, except for the
// axis of a position or a velocity.
func describeHint(b *strings.Builder, f *frame.Field) {
	h := &f.Hint
	if h.Role != frame.NoRole {
		writeKey(b, "role", h.Role.String())
	}
	for _, x := range []struct {
		key   string
		value uint8
		write bool
	}{{"group", h.Group, h.Group != 0}, {"axis", h.Axis, h.Axis != 0 || h.Role == frame.Position || h.Role == frame.Velocity}, {"rides", h.Rides, h.Rides != 0}} {
		if x.write {
			writeKey(b, x.key, x.value)
		}
	}
	for _, x := range []struct {
		key   string
		value float64
	}{{"rate", h.Rate}, {"drag", h.Drag}, {"stop_speed", h.StopSpeed}, {"turn", h.Turn}, {"step", h.Step}, {"jump", f.Jump}} {
		if x.value != 0 {
			fmt.Fprintf(b, "%-7s = %s\n", x.key, formatNumber(x.value))
		}
	}
}

// describeParts writes the tables that readParts reads.
func describeParts(b *strings.Builder, s *frame.Schema) {
	for _, p := range s.Parts {
		b.WriteString("\n[[part]]\n")
		writeKey(b, "name", p.Name)
		writeKey(b, "first_row", p.Row)
		writeKey(b, "rows", p.Rows)
		writeKey(b, "first", s.Fields[p.Field].Name)
		writeKey(b, "last", s.Fields[p.Field+p.Size-1].Name)
	}
}
