package world

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/worldview"
	"wirelab/dataset/frame"
	"wirelab/experiment/engine/playout"
)

// values lists the values at the sender and as the receiver displays them: the fields of each row, or
// the text of a body.
type values struct {
	*switcher
	schema    *frame.Schema
	frames    *playout.Frames // the newest frame sent and the one displayed; nil before the first
	display   display
	columns   *playout.Columns // which columns the display interpolates; nil for none
	list      []value          // in the order of the table on the screen
	table     grid.Table
	emptyText string // shown while there are no values
}

// value is a value of a row at both endpoints.
type value struct {
	index    int // in the table of a frame
	row      string
	field    *frame.Field
	name     string
	sent     int32
	shown    int32
	isShown  bool
	blended  float64 // the displayed value if the display interpolates it, in units of the field
	isBlend  bool
	distance float64 // between the displayed and the sent value, in units of the field; 0 if the value is not displayed
}

// The column of the differences is the only one by which values can be sorted.
const differenceColumn = 4

// newValues returns the pane.
func newValues(s *switcher) *values {
	const valueWidth = 12
	p := &values{switcher: s}
	column := func(title string, width int, text func(*value) []look.Span) grid.Column {
		return grid.Column{Title: title, Width: width, Text: func(c grid.Cell) []look.Span { return text(&p.list[c.Row]) }}
	}
	p.table = grid.Table{Sort: -1, Columns: []grid.Column{
		column("row", 24, func(v *value) []look.Span { return grid.Text(look.Dim, v.row) }),
		column("field", 32, func(v *value) []look.Span { return grid.Text(look.Plain, v.name) }),
		column("sent", valueWidth, func(v *value) []look.Span { return grid.Text(look.Value, formatValue(v.field, v.sent)) }),
		column("displayed", valueWidth, func(v *value) []look.Span { return grid.Text(v.shownStyle(), v.shownText()) }),
		column("difference", valueWidth, func(v *value) []look.Span { return grid.Text(look.Late, v.differenceText()) }),
	}}
	for i := range p.table.Columns {
		c := &p.table.Columns[i]
		if i < 2 {
			c.Min = 8
		}
		c.Right = i >= 2
	}
	p.table.Columns[differenceColumn].Sortable = true
	return p
}

func (p *values) Name() string { return "Sent and displayed" }

// Absent implements room.Absent: another figure is shown.
func (p *values) Absent() bool { return p.shown != valuesFigure }

// Move selects a value.
func (p *values) Move(_, dy int) room.Request {
	p.table.Move(dy)
	return room.Request{}
}

// NextSort implements room.Sorter: by the difference, or in the order of the table.
func (p *values) NextSort() room.Request {
	if p.table.Sort = differenceColumn - 1 - p.table.Sort; p.table.Sort != differenceColumn {
		p.table.Sort = -1
	}
	p.sort()
	return room.Request{}
}

// Release selects the first value, and shows the first figure.
func (p *values) Release() room.Request {
	p.table.Cursor = 0
	p.switcher.shown = p.figures[0]
	return room.Request{}
}

func (p *values) Arrows() [][2]string { return [][2]string{{"↑↓", "values"}} }

// Observe implements room.Observer. While time advances the values change only if a slow redraw is due; see
// room.View.RedrawDue.
func (p *values) Observe(v room.View) bool {
	if p.frames != nil && v.Running() && !v.RedrawDue {
		return false
	}
	p.emptyText = panes.NothingSentText(v.Snap, v.ActiveLane())
	if p.frames == v.Snap.Frames {
		return false
	}
	if p.schema != v.Snap.Schema {
		p.schema = v.Snap.Schema
		p.columns = playout.FindColumns(p.schema)
		if p.schema.Rows == 1 {
			p.table.Columns[0].Width = 0 // left out
		}
	}
	p.frames = v.Snap.Frames
	p.display.observe(v)
	p.list = p.list[:0]
	if p.frames != nil && len(p.schema.Fields) > 0 { // the bytes of a datagram have no fields
		for row := range len(p.frames.Sent.Table) / len(p.schema.Fields) {
			p.addRow(row)
		}
	}
	p.table.NumRows = len(p.list)
	p.sort()
	return true
}

// addRow appends the values of a row, unless it is absent at both endpoints: the field Present of its part is 0. Without
// this field a row is always present.
func (p *values) addRow(row int) {
	part := p.schema.PartForRow(row)
	name := part.Name
	if part.Rows > 1 {
		name += " " + worldview.RowName(p.frames.Keys, row, part.Row)
	}
	before := len(p.list)
	isPresent := true
	for i := part.Field; i < part.Field+part.Size; i++ {
		v := p.valueAt(row, i)
		v.row = name
		v.name = strings.TrimPrefix(v.field.Name, part.Name+".")
		p.list = append(p.list, v)
		if v.field.Hint.Role == frame.Present {
			isPresent = v.sent != 0 || v.differs()
		}
	}
	if !isPresent {
		p.list = p.list[:before]
	}
}

// valueAt returns a value of a row. Copies of frames may end within a row.
func (p *values) valueAt(row, column int) value {
	n := len(p.schema.Fields)
	v := value{index: row*n + column, field: &p.schema.Fields[column]}
	v.sent = p.frames.Sent.Table[v.index]
	shown, next := p.frames.Shown, p.frames.Next
	if shown == nil || v.index >= len(shown.Table) {
		return v
	}
	v.shown, v.isShown = shown.Table[v.index], true
	v.blended = v.field.InUnits(v.shown)
	canBlend := p.columns != nil && next != nil && (row+1)*n <= len(next.Table) && p.columns.Interpolates(column)
	if canBlend && p.columns.Joins(row, shown.Table, next.Table) {
		v.blended = playout.Between(v.field, v.shown, next.Table[v.index], p.frames.Weight)
		v.isBlend = true
	}
	v.distance = v.blended - v.field.InUnits(v.sent)
	return v
}

// sort orders the values by the column of the table.
func (p *values) sort() {
	slices.SortFunc(p.list, func(a, b value) int {
		if p.table.Sort == differenceColumn {
			if d := cmp.Compare(math.Abs(b.distance), math.Abs(a.distance)); d != 0 {
				return d
			}
		}
		return a.index - b.index
	})
}

// differs reports whether the value is displayed with another value than was sent.
func (v *value) differs() bool {
	return v.isShown && (v.isBlend || v.shown != v.sent) && v.distance != 0
}

// shownStyle returns the style of the displayed value.
func (v *value) shownStyle() look.Style {
	if v.differs() {
		return look.Late
	}
	return look.Dim
}

// shownText returns the displayed value; "" if none is displayed.
func (v *value) shownText() string {
	switch {
	case !v.isShown:
		return ""
	case v.isBlend:
		return formatNumber(v.blended)
	}
	return formatValue(v.field, v.shown)
}

// differenceText returns the difference of the displayed value from the sent one; "" if they are equal, or if the field
// is no number.
func (v *value) differenceText() string {
	isName := v.field.Kind == frame.Enum || v.field.Kind == frame.Flag || v.field.Kind == frame.Bits
	if !v.differs() || isName {
		return ""
	}
	if v.distance > 0 {
		return "+" + formatNumber(v.distance)
	}
	return formatNumber(v.distance)
}

func (p *values) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, p.Name(), p.heading(look.TitleSpace(c.W, p.Name()))...)
	switch {
	case p.frames == nil:
		c.Clip(2, 1, c.W-4, look.Dim, p.emptyText)
	case len(p.list) > 0:
		p.table.Draw(c, th, 1, c.H-2)
	default:
		p.drawBodies(c, th)
	}
}

// heading returns the age of the displayed data and the number of values that differ.
func (p *values) heading(maxWidth int) []look.Span {
	switch {
	case p.frames == nil:
		return nil
	case p.frames.Shown == nil:
		return look.Fit(maxWidth, []look.Span{look.Dim.Span("nothing displayed yet")}, nil)
	}
	age := look.Labelled("age "+p.display.bound(), strconv.FormatInt(displayAge(p.frames).Milliseconds(), 10), " ms")
	if p.display.isStarved() {
		age = append(age, look.Dim.Span(", "), look.Paused.Span("STARVED"))
		if p.display.advice != "" {
			age = append(age, look.Labelled(", smooth: ", p.display.advice, "")...)
		}
	}
	if len(p.list) == 0 || p.display.overNetwork { // the displayed values are known only after the report's way
		return look.Fit(maxWidth, age, age[:3], nil)
	}
	numDifferent := 0
	for i := range p.list {
		if p.list[i].differs() {
			numDifferent++
		}
	}
	differing := strconv.Itoa(numDifferent) + " of " + strconv.Itoa(len(p.list))
	return look.Fit(maxWidth, append(age[:len(age):len(age)], look.Labelled(", ", differing, " values differ")...), age, age[:3], nil)
}

// formatValue formats a value in the units of its field, or as its name.
func formatValue(f *frame.Field, v int32) string {
	switch {
	case f.NameOf(v) != "":
		return f.NameOf(v)
	case f.Kind == frame.Bits:
		return "x" + strconv.FormatUint(uint64(uint32(v)), 16)
	}
	return formatNumber(f.InUnits(v))
}

// formatNumber formats v with at most six digits; whole numbers with all digits.
func formatNumber(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e12 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// drawBodies draws the last body sent and the one displayed, one below the other.
func (p *values) drawBodies(c *look.Canvas, th *look.Theme) {
	bodies := [2][]byte{p.frames.Sent.Body, nil}
	if p.frames.Shown != nil {
		bodies[1] = p.frames.Shown.Body
	}
	rows := max((c.H-2)/2, 1) // of each body, with its title
	for i, title := range [2]string{"last sent", "displayed"} {
		y := 1 + i*rows
		c.Spans(2, y, c.W-4, look.Title.Span(title), look.Dim.Span(", "+strconv.Itoa(len(bodies[i]))+" bytes"))
		lines := look.Wrap(printable(bodies[i], th.Dot), c.W-6)
		for j, line := range lines[:min(len(lines), rows-1)] {
			c.Clip(4, y+1+j, c.W-6, look.Plain, line)
		}
	}
}

// printable returns a body as text, with dot in place of characters that cannot be displayed.
func printable(body []byte, dot string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case r == '\uFFFD' || look.RuneWidth(r) == 0:
			return []rune(dot)[0]
		}
		return r
	}, string(body))
}
