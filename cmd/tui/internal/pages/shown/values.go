package shown

import (
	"math"
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/experiment/engine/playout"
	"wirelab/internal/escape"
)

// values lists the values at the sender and as the receiver displays them: the fields of each row, or
// the text of a body.
type values struct {
	schema       *frame.Schema
	frames       *playout.Frames // the newest frame sent and the one displayed; nil before the first
	firstLine    int             // first visible line
	visibleLines int             // as last drawn
	numLines     int             // of the content, as last drawn

	columns *playout.Columns // which columns the display interpolates; nil before the first frame

	worldMap *mapView // shown instead; nil if the schema has no coordinates
	chosen   bool     // the values are shown instead of the map

	entries   []entry
	emptyText string // shown while there are no values
}

// entry is a value in the list, or the name of a row above its values.
type entry struct {
	name  string
	index int // index of the value in the table; -1 for the name of a row
}

func (p *values) Name() string { return "Sent and displayed" }

// Absent implements room.Absent: the map is shown.
func (p *values) Absent() bool { return p.worldMap != nil && !p.chosen }

// Move scrolls the values.
func (p *values) Move(_, dy int) room.Request {
	p.scroll(dy)
	return room.Request{}
}

// Release scrolls to the top, and shows the map again.
func (p *values) Release() room.Request {
	p.firstLine, p.chosen = 0, false
	return room.Request{}
}

func (p *values) Arrows() [][2]string {
	if p.Absent() {
		return nil
	}
	return [][2]string{{"↑↓", "values"}}
}

// Observe implements room.Observer. While time advances the values change only if a slow redraw is due; see
// room.View.RedrawDue.
func (p *values) Observe(v room.View) bool {
	if p.frames != nil && v.Running() && !v.RedrawDue {
		return false
	}
	p.emptyText = panes.NothingSentText(v.ActiveLane())
	same := p.frames == v.Snap.Frames
	p.schema, p.frames = v.Snap.Schema, v.Snap.Frames
	if !same {
		p.entries = p.listEntries()
		if p.columns == nil && p.schema != nil {
			p.columns = playout.FindColumns(p.schema)
		}
	}
	return !same
}

// scroll scrolls down by n lines.
func (p *values) scroll(n int) {
	p.firstLine = min(max(p.firstLine+n, 0), max(p.numLines-p.visibleLines, 0))
}

// Widths of a cell: name, sent value and displayed value.
const (
	nameWidth  = 16
	valueWidth = 11
	cellWidth  = nameWidth + 2*valueWidth + 2
)

// cellsPerLine returns the number of cells side by side in a pane of w columns.
func cellsPerLine(w int) int { return max((w-2)/cellWidth, 1) }

// preferredHeight returns the height of a pane of w columns that shows all values, with border and headings;
// 0 if it is unknown, or if the frames have a body instead of values.
func (p *values) preferredHeight(w int) int {
	if p.frames == nil || len(p.frames.Sent.Body) > 0 {
		return 0
	}
	n := cellsPerLine(w)
	return 3 + (len(p.entries)+n-1)/n
}

func (p *values) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, p.Name(), p.heading(look.TitleSpace(c.W, p.Name()))...)
	switch {
	case p.frames == nil:
		c.Clip(2, 1, c.W-4, look.Dim, p.emptyText)
	case len(p.frames.Sent.Table) > 0:
		p.drawCells(c, th)
	default:
		p.drawBodies(c, th)
	}
}

// heading returns the age of the displayed data and the number of values that differ.
func (p *values) heading(maxWidth int) []look.Span {
	if p.frames == nil {
		return nil
	}
	if p.frames.Shown == nil {
		return look.Fit(maxWidth, []look.Span{look.Dim.Span("nothing displayed yet")}, nil)
	}
	behind := p.frames.Age
	if p.frames.Next != nil { // interpolated
		behind = p.frames.Behind
	}
	age := []look.Span{look.Dim.Span("age "), look.Value.Span(strconv.FormatInt(behind.Milliseconds(), 10)), look.Dim.Span(" ms")}
	if p.frames.Starved {
		age = append(age, look.Warn.Span(", STARVED"))
	}
	if len(p.frames.Sent.Table) == 0 {
		return look.Fit(maxWidth, age, nil)
	}
	n := 0
	for i := range p.frames.Sent.Table {
		if p.differs(i) {
			n++
		}
	}
	return look.Fit(maxWidth, append(age[:len(age):len(age)], look.Dim.Span(", "), look.Value.Span(strconv.Itoa(n)),
		look.Dim.Span(" of "+strconv.Itoa(len(p.frames.Sent.Table))+" values differ")), age, nil)
}

// differs reports whether value i is displayed with another value than was sent.
func (p *values) differs(i int) bool {
	if p.frames.Shown == nil || i >= len(p.frames.Shown.Table) {
		return false
	}
	if v, ok := p.interpolated(i); ok {
		return v != p.schema.Fields[i%len(p.schema.Fields)].InUnits(p.frames.Sent.Table[i])
	}
	return p.frames.Shown.Table[i] != p.frames.Sent.Table[i]
}

// interpolated returns displayed value i in the units of its field if the display interpolates it between two frames;
// otherwise false.
func (p *values) interpolated(i int) (float64, bool) {
	n := len(p.schema.Fields)
	shown, next := p.frames.Shown, p.frames.Next
	// Copies of frames may end within a row.
	if p.columns == nil || next == nil || (i/n+1)*n > len(next.Table) || !p.columns.Interpolates(i%n) || !p.columns.Joins(i/n, shown.Table, next.Table) {
		return 0, false
	}
	return playout.Between(&p.schema.Fields[i%n], shown.Table[i], next.Table[i], p.frames.Weight), true
}

// drawCells draws the values of a table in columns, filled from top to bottom, from firstLine on.
func (p *values) drawCells(c *look.Canvas, th *look.Theme) {
	perLine, numEntries := cellsPerLine(c.W), len(p.entries)
	p.visibleLines, p.numLines = max(c.H-3, 0), (numEntries+perLine-1)/perLine
	p.scroll(0) // the content may be shorter now
	for col := range min(perLine, numEntries) {
		c.TextRight(2+col*cellWidth+nameWidth+valueWidth, 1, look.Dim, "sent")
		c.TextRight(2+col*cellWidth+nameWidth+2*valueWidth, 1, look.Dim, "displayed")
	}
	for y := 0; y < p.visibleLines && p.firstLine+y < p.numLines; y++ {
		for col := range perLine {
			i := p.firstLine + y + col*p.numLines
			if i >= numEntries {
				break
			}
			if x := 2 + col*cellWidth; p.entries[i].index < 0 {
				c.Clip(x, 2+y, cellWidth-2, look.Title, p.entries[i].name)
			} else {
				p.drawCell(c, th, x, 2+y, p.entries[i].index, p.entries[i].name)
			}
		}
	}
	if hidden := p.numLines - p.visibleLines; hidden > 0 {
		c.TextRight(c.W-2, c.H-1, look.Dim, " ↑↓ "+strconv.Itoa(p.firstLine*perLine)+" before, "+
			strconv.Itoa(max(numEntries-(p.firstLine+p.visibleLines)*perLine, 0))+" after ")
	}
}

// drawCell draws value i, as sent and as displayed, at (x, y).
func (p *values) drawCell(c *look.Canvas, th *look.Theme, x, y, i int, name string) {
	f := &p.schema.Fields[i%len(p.schema.Fields)]
	c.Clip(x, y, nameWidth-1, look.Plain, name)
	c.TextRight(x+nameWidth+valueWidth, y, look.Value, look.Shorten(formatValue(f, p.frames.Sent.Table[i]), valueWidth-1))
	if p.frames.Shown == nil || i >= len(p.frames.Shown.Table) {
		return
	}
	style := look.Dim
	if p.differs(i) {
		style = look.Late
	}
	text := formatValue(f, p.frames.Shown.Table[i])
	if v, ok := p.interpolated(i); ok {
		text = formatNumber(v)
	}
	c.TextRight(x+nameWidth+2*valueWidth, y, style, look.Shorten(text, valueWidth-1))
}

// listEntries returns an entry for every value, with the number of its row if there are several rows.
// In a schema with parts it lists only the rows that are present, each below the name of its part.
func (p *values) listEntries() (list []entry) {
	if p.frames == nil {
		return nil
	}
	if len(p.schema.Parts) == 0 {
		for i, name := range p.names() {
			list = append(list, entry{name, i})
		}
		return list
	}
	numFields := len(p.schema.Fields)
	for row := range len(p.frames.Sent.Table) / numFields {
		part := p.schema.PartForRow(row)
		if !p.isPresent(row, &part) {
			continue
		}
		name := part.Name
		if part.Rows > 1 {
			name += " " + strconv.Itoa(row-part.Row)
		}
		list = append(list, entry{name, -1}) // -1: a heading without a value
		var names []string
		for _, f := range p.schema.Fields[part.Field : part.Field+part.Size] {
			names = append(names, strings.TrimPrefix(f.Name, part.Name+"."))
		}
		for i, name := range look.ShortenDistinct(names, nameWidth-1) {
			list = append(list, entry{name, row*numFields + part.Field + i})
		}
	}
	return list
}

// isPresent reports whether a row is present at either endpoint: the field Present of its part is not 0. A
// part without this field is always present.
func (p *values) isPresent(row int, part *frame.Part) bool {
	for i := part.Field; i < part.Field+part.Size; i++ {
		if p.schema.Fields[i].Hint.Role == frame.Present {
			value := row*len(p.schema.Fields) + i
			return p.frames.Sent.Table[value] != 0 || p.differs(value) // if it is 0 and differs, the receiver displays the row
		}
	}
	return true
}

// rowName returns the user's id of the thing in a row, or the number of the row, counted from first.
func rowName(f *playout.Frames, row, first int) string {
	if row < len(f.Keys) && f.Keys[row] != "" {
		return escape.Line(f.Keys[row])
	}
	return strconv.Itoa(row - first)
}

// names returns the name of each value of a table without parts: the name of its field, which follows the id or the
// number of the row if there are several rows. A name leaves at least one column of nameWidth blank.
func (p *values) names() []string {
	fields := make([]string, len(p.schema.Fields))
	for i := range fields {
		fields[i] = p.schema.Fields[i].Name
	}
	if p.schema.Rows == 1 {
		return look.ShortenDistinct(fields, nameWidth-1)
	}
	digits := len(strconv.Itoa(p.schema.Rows - 1))
	for _, key := range p.frames.Keys {
		digits = max(digits, min(look.TextWidth(key), nameWidth/2))
	}
	fields = look.ShortenDistinct(fields, nameWidth-2-digits)
	out := make([]string, len(p.frames.Sent.Table))
	for i := range out {
		out[i] = look.PadLeft(look.Shorten(rowName(p.frames, i/len(fields), 0), digits), digits) + " " + fields[i%len(fields)]
	}
	return out
}

// formatValue formats a value in the units of its field, or as its name.
func formatValue(f *frame.Field, v int32) string {
	switch {
	case f.NameOf(v) != "":
		return f.NameOf(v)
	case f.Kind == frame.Bits:
		return "x" + strconv.FormatUint(uint64(uint32(v)), 16)
	case f.Kind == frame.Float32:
		return formatNumber(float64(math.Float32frombits(uint32(v))))
	case f.Step() != 1:
		return formatNumber(float64(v) * f.Step())
	}
	return strconv.FormatInt(int64(v), 10)
}

// formatNumber formats v with at most six digits, and fewer if they do not fit.
func formatNumber(v float64) (text string) {
	for digits := 6; digits > 1; digits-- {
		text = strconv.FormatFloat(v, 'g', digits, 64)
		if len(text) < valueWidth {
			break
		}
	}
	return text
}

// drawBodies draws the last body sent and the one displayed, one below the other.
func (p *values) drawBodies(c *look.Canvas, th *look.Theme) {
	p.visibleLines, p.numLines = max((c.H-2)/2-1, 1), 0
	bodies := [2][]byte{p.frames.Sent.Body, nil}
	if p.frames.Shown != nil {
		bodies[1] = p.frames.Shown.Body
	}
	var wrapped [2][]string
	for i, body := range bodies {
		wrapped[i] = look.Wrap(printable(body, th.Dot), c.W-6)
		p.numLines = max(p.numLines, len(wrapped[i]))
	}
	p.scroll(0) // keeps the first line within the new texts
	for i, title := range [2]string{"last sent", "displayed"} {
		y := 1 + i*(p.visibleLines+1)
		c.Spans(2, y, c.W-4, look.Title.Span(title), look.Dim.Span(", "+strconv.Itoa(len(bodies[i]))+" bytes"))
		for j, line := range wrapped[i][min(p.firstLine, len(wrapped[i])):] {
			if j < p.visibleLines {
				c.Clip(4, y+1+j, c.W-6, look.Plain, line)
			}
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
