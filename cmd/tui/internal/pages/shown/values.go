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
)

// values lists what the sender has beside what the receiver shows: the fields of each row, and
// the text of a body.
type values struct {
	schema *frame.Schema
	both   *playout.Frames
	back   bool
	from   int // lines that are scrolled away
	room   int // lines that the last picture had
	lines  int // that there are

	list    []listed
	nothing string // why there are none
}

// listed is a value in the list, or the name of the row whose values come next.
type listed struct {
	name string
	at   int // the cell; -1: it is a name
}

func (p *values) Name() string { return "Sent and shown" }

func (p *values) Observe(v room.View) bool {
	if p.back == v.Back && p.both != nil && (v.Back || v.Running() && !v.Slow) {
		return false
	}
	p.nothing = panes.NothingSentText(v.Lane())
	same := p.both == v.Snap.Both && p.back == v.Back
	p.schema, p.both, p.back = v.Snap.Schema, v.Snap.Both, v.Back
	if !same {
		p.list = p.all()
	}
	return !same
}

// scroll moves by n lines.
func (p *values) scroll(n int) { p.from = min(max(p.from+n, 0), max(p.lines-p.room, 0)) }

// The columns of a cell: its name, what was sent and what is shown.
const (
	nameWidth  = 16
	valueWidth = 11
	cellWidth  = nameWidth + 2*valueWidth + 2
)

// across is how many cells stand side by side in a pane of w columns.
func across(w int) int { return max((w-2)/cellWidth, 1) }

// rows is how high the pane would like to be; 0 if that is not known.
func (p *values) rows(w int) int {
	if p.both == nil || len(p.both.Sent.Body) > 0 {
		return 0
	}
	n := across(w)
	return 3 + (len(p.list)+n-1)/n
}

func (p *values) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, p.Name(), p.heading(look.HeadRoom(c.W, p.Name()))...)
	switch {
	case p.back:
		c.Clip(2, 1, c.W-4, look.Dim, "what was shown then is not remembered; the key end goes back to the present")
	case p.both == nil:
		c.Clip(2, 1, c.W-4, look.Dim, p.nothing)
	case len(p.both.Sent.Table) > 0:
		p.cells(c, th)
	default:
		p.texts(c, th)
	}
}

// heading says how old what is shown is, and how many values differ.
func (p *values) heading(room int) []look.Span {
	if p.both == nil || p.back {
		return nil
	}
	if p.both.Shown == nil {
		return look.Fit(room, []look.Span{look.Dim.Span("nothing on display yet")}, nil)
	}
	age := []look.Span{look.Dim.Span("shown "), look.Value.Span(strconv.FormatInt(p.both.Age.Milliseconds(), 10)), look.Dim.Span(" ms old")}
	if p.both.Starved {
		age = append(age, look.Warn.Span(", STARVED"))
	}
	if len(p.both.Sent.Table) == 0 {
		return look.Fit(room, age, nil)
	}
	n := 0
	for i := range p.both.Sent.Table {
		if p.differs(i) {
			n++
		}
	}
	return look.Fit(room, append(age[:len(age):len(age)], look.Dim.Span(", "), look.Value.Span(strconv.Itoa(n)),
		look.Dim.Span(" of "+strconv.Itoa(len(p.both.Sent.Table))+" values differ")), age, nil)
}

// differs reports whether value i is shown as another than was sent.
func (p *values) differs(i int) bool {
	return p.both.Shown != nil && i < len(p.both.Shown.Table) && p.both.Shown.Table[i] != p.both.Sent.Table[i]
}

// cells writes the values of a table.
func (p *values) cells(c *look.Canvas, th *look.Theme) {
	n, all := across(c.W), len(p.list)
	p.room, p.lines = max(c.H-3, 0), (all+n-1)/n
	p.scroll(0)
	for col := range min(n, all) {
		c.Right(2+col*cellWidth+nameWidth+valueWidth, 1, look.Dim, "sent")
		c.Right(2+col*cellWidth+nameWidth+2*valueWidth, 1, look.Dim, "shown")
	}
	for y := 0; y < p.room && p.from+y < p.lines; y++ {
		for col := range n {
			i := p.from + y + col*p.lines
			if i >= all {
				break
			}
			if x := 2 + col*cellWidth; p.list[i].at < 0 {
				c.Clip(x, 2+y, cellWidth-2, look.Title, p.list[i].name)
			} else {
				p.cell(c, th, x, 2+y, p.list[i].at, p.list[i].name)
			}
		}
	}
	if hidden := p.lines - p.room; hidden > 0 {
		c.Right(c.W-2, c.H-1, look.Dim, " ↑↓ "+strconv.Itoa(p.from*n)+" before, "+strconv.Itoa(max(all-(p.from+p.room)*n, 0))+" after ")
	}
}

// cell writes one value as it was sent and as it is shown.
func (p *values) cell(c *look.Canvas, th *look.Theme, x, y, i int, name string) {
	f := &p.schema.Fields[i%len(p.schema.Fields)]
	c.Clip(x, y, nameWidth-1, look.Plain, name)
	c.Right(x+nameWidth+valueWidth, y, look.Value, look.Short(valueText(f, p.both.Sent.Table[i]), valueWidth-1))
	if p.both.Shown == nil || i >= len(p.both.Shown.Table) {
		return
	}
	k := look.Dim
	if p.differs(i) {
		k = look.Late
	}
	c.Right(x+nameWidth+2*valueWidth, y, k, look.Short(valueText(f, p.both.Shown.Table[i]), valueWidth-1))
}

// all lists all values, each with the number of its row where there are several. Of rows of
// several sorts it lists those that are there, each under its name.
func (p *values) all() (list []listed) {
	if p.both == nil {
		return nil
	}
	if len(p.schema.Parts) == 0 {
		for i, name := range p.names() {
			list = append(list, listed{name, i})
		}
		return list
	}
	n := len(p.schema.Fields)
	for row := range len(p.both.Sent.Table) / n {
		part := p.schema.PartOf(row)
		if !p.present(row, &part) {
			continue
		}
		name := part.Name
		if part.Rows > 1 {
			name += " " + strconv.Itoa(row-part.Row)
		}
		list = append(list, listed{name, -1})
		var names []string
		for _, f := range p.schema.Fields[part.Field : part.Field+part.Size] {
			names = append(names, strings.TrimPrefix(f.Name, part.Name+"."))
		}
		for i, name := range look.Distinct(names, nameWidth-1) {
			list = append(list, listed{name, row*n + part.Field + i})
		}
	}
	return list
}

// present reports whether what a row stands for is there, at either end.
func (p *values) present(row int, part *frame.Part) bool {
	for i := part.Field; i < part.Field+part.Size; i++ {
		if p.schema.Fields[i].Hint.Role == frame.Present {
			at := row*len(p.schema.Fields) + i
			return p.both.Sent.Table[at] != 0 || p.differs(at)
		}
	}
	return true
}

// names are those of all values, with the number of their row where there are several.
func (p *values) names() []string {
	fields := make([]string, len(p.schema.Fields))
	for i := range fields {
		fields[i] = p.schema.Fields[i].Name
	}
	if p.schema.Rows == 1 {
		return look.Distinct(fields, nameWidth-1)
	}
	digits := len(strconv.Itoa(p.schema.Rows - 1))
	fields = look.Distinct(fields, nameWidth-2-digits)
	out := make([]string, len(p.both.Sent.Table))
	for i := range out {
		out[i] = look.PadLeft(strconv.Itoa(i/len(fields)), digits) + " " + fields[i%len(fields)]
	}
	return out
}

// valueText writes a value as its field means it.
func valueText(f *frame.Field, v int32) string {
	switch {
	case f.Kind == frame.Bits:
		return "x" + strconv.FormatUint(uint64(uint32(v)), 16)
	case f.Kind == frame.Float32:
		return numberText(float64(math.Float32frombits(uint32(v))))
	case f.Step() != 1:
		return numberText(float64(v) * f.Step())
	}
	return strconv.FormatInt(int64(v), 10)
}

// numberText writes a number with at most six digits, with fewer where they do not fit.
func numberText(v float64) (text string) {
	for digits := 6; digits > 1; digits-- {
		text = strconv.FormatFloat(v, 'g', digits, 64)
		if len(text) < valueWidth {
			break
		}
	}
	return text
}

// texts writes the two bodies one below the other.
func (p *values) texts(c *look.Canvas, th *look.Theme) {
	p.room, p.lines = max((c.H-2)/2-1, 1), 0
	bodies := [2][]byte{p.both.Sent.Body, nil}
	if p.both.Shown != nil {
		bodies[1] = p.both.Shown.Body
	}
	var wrapped [2][]string
	for i, body := range bodies {
		wrapped[i] = look.Wrap(readable(body, th.Dot), c.W-6)
		p.lines = max(p.lines, len(wrapped[i]))
	}
	p.scroll(0)
	for i, title := range [2]string{"sent last", "on display"} {
		y := 1 + i*(p.room+1)
		c.Spans(2, y, c.W-4, look.Title.Span(title), look.Dim.Span(", "+strconv.Itoa(len(bodies[i]))+" bytes"))
		for j, line := range wrapped[i][min(p.from, len(wrapped[i])):] {
			if j < p.room {
				c.Clip(4, y+1+j, c.W-6, look.Plain, line)
			}
		}
	}
}

// readable is a body as text: what cannot be shown is a dot.
func readable(body []byte, dot string) string {
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
