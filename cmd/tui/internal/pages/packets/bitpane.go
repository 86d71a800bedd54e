package packets

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/words"
)

// bitPane shows the bytes of a packet and of its ack as hexadecimal digits and as bits, coloured and labelled by field.
// The cursor is on one item.
type bitPane struct {
	on      bool     // shown instead of the list
	seq     uint64   // the selected packet
	data    *bitData // nil until the lab has described it
	missing bool     // the lab cannot describe it
	cursor  int      // index of an item
	wantRow int      // row that the cursor moves to when data arrives; encoders.NoRow for none
	schema  *frame.Schema
	perLine int       // bytes in a line, as last drawn
	lines   []bitLine // as last drawn
	top     int       // index of the first visible line
}

// bitLine is a line of bytes with a line of labels below, or the heading of a section.
type bitLine struct {
	section int
	first   int // first byte
	n       int // number of bytes; 0 for a heading
}

// height returns the number of rows of a line.
func (l *bitLine) height() int {
	if l.n == 0 {
		return 1
	}
	return 2
}

func (p *bitPane) Name() string { return "Bits" }

// selectPacket shows another packet. The cursor stays on the row and field that it is on, if the packet has bits of
// them.
func (p *bitPane) selectPacket(seq uint64) {
	if p.seq == seq && p.data != nil {
		return
	}
	if p.data != nil && p.wantRow == encoders.NoRow {
		p.wantRow = p.data.items[p.cursor].row
	}
	p.seq, p.data, p.missing = seq, nil, false
}

// Observe implements room.Observer: it takes the description of the selected packet from the snapshot.
func (p *bitPane) Observe(v room.View) bool {
	p.schema = v.Snap.Schema
	t := v.Snap.Traced
	if t == nil || t.Seq != p.seq || p.data != nil && p.data.traced == t {
		return false
	}
	if t.Packet == nil {
		if v.Snap.Past != nil { // the run is being repeated and may still reach the packet
			return false
		}
		changed := !p.missing
		p.missing, p.data = true, nil
		return changed
	}
	isSame := p.data != nil && p.data.traced.Packet == t.Packet // only the ack is new
	p.data = newBitData(t, p.schema)
	p.missing = false
	_, inContainers := v.Cfg.HasContainers()
	if o := v.Snap.Opened; o != nil && o.ID.Seq == p.seq && !inContainers {
		for _, step := range o.Inside.Trail.All() {
			p.data.addFlips(step.FlippedBits(len(t.Packet.Datagram)))
		}
	}
	if !isSame {
		p.cursor = p.data.firstItem()
		p.findRow(p.wantRow)
		p.wantRow = encoders.NoRow
	}
	return true
}

// findRow moves the cursor to the first field of a row, and reports whether the packet has bits of the row. Without
// data it does so when they arrive.
func (p *bitPane) findRow(row int) bool {
	if p.data == nil {
		p.wantRow = row
		return true
	}
	if row == encoders.NoRow {
		return true
	}
	i, ok := p.data.findRow(row)
	if ok {
		p.cursor = i
	}
	return ok
}

// moveItem moves the cursor by n items.
func (p *bitPane) moveItem(n int) {
	if p.data != nil {
		p.cursor = min(max(p.cursor+n, 0), len(p.data.items)-1)
	}
}

// moveRow moves the cursor to the next item of another row that changed, or of another slot where bits belong to no row;
// direction is 1 or -1.
func (p *bitPane) moveRow(direction int) {
	if p.data == nil {
		return
	}
	items := p.data.items
	same := func(a, b *bitItem) bool {
		return a.section == b.section && a.row == b.row && (a.row != encoders.NoRow || a.slot == b.slot && a.name == b.name)
	}
	i := p.cursor + direction
	for i >= 0 && i < len(items) && (same(&items[i], &items[p.cursor]) || p.data.isUnchanged(&items[i])) {
		i += direction
	}
	if i < 0 || i >= len(items) {
		return
	}
	for direction < 0 && i > 0 && same(&items[i-1], &items[i]) { // to the beginning of the row
		i--
	}
	p.cursor = i
}

// moveByte moves the cursor to the item at the beginning of the byte that is n bytes after the one in which the item
// under the cursor begins.
func (p *bitPane) moveByte(n int) {
	if p.data == nil {
		return
	}
	item := &p.data.items[p.cursor]
	first, _ := item.bitRange()
	section, index := item.section, first/8+n // index of the byte in its section
	for index < 0 && section > 0 {
		section--
		index += len(p.data.sections[section].bytes)
	}
	for section+1 < numSections && index >= len(p.data.sections[section].bytes) && len(p.data.sections[section+1].bytes) > 0 {
		index -= len(p.data.sections[section].bytes)
		section++
	}
	if bytes := len(p.data.sections[section].bytes); bytes > 0 {
		p.cursor = p.data.itemAt(section, 8*min(max(index, 0), bytes-1))
	}
}

func (p *bitPane) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	title := "Bits of packet " + strconv.FormatUint(p.seq, 10)
	p.lines = p.lines[:0]
	switch {
	case p.missing:
		c.Frame(th, focused, title)
		c.Centre(1, look.Dim, "This packet was not sent. Over a network, only the newest "+strconv.Itoa(frame.MaxHistory)+
			" packets have bits, because the run cannot be repeated.")
		return
	case p.data == nil:
		c.Frame(th, focused, title)
		c.Clip(2, 1, c.W-4, look.Dim, "...")
		return
	}
	d := p.data
	sizes := look.Labelled("payload ", strconv.Itoa(len(d.sections[sectionPayload].bytes)), " + header ",
		strconv.Itoa(len(d.sections[sectionHeader].bytes)), " bytes, ", words.Count(len(d.traced.Packet.Payload.Spans), d.itemWord()))
	c.FitFrame(th, focused, title, sizes, sizes[:4])
	y := 1
	limit, flips := d.traced.Packet.Limit, d.flips()
	switch {
	case flips != "":
		c.Clip(2, y, c.W-4, look.Corrupt, th.OutcomeSymbol(packetlog.Corrupt)+" "+flips)
	case limit != "":
		c.Clip(2, y, c.W-4, look.Warn, limit)
	default:
		c.Spans(2, y, c.W-4, look.FitGroups(c.W-4, d.slotShares(th))...)
	}
	const otherRows = 3 // frame and shares
	p.layOut(c.W-4, c.H-otherRows)
	end := p.endOfVisible(p.top, c.H-otherRows)
	for _, line := range p.lines[p.top:end] {
		y++
		p.drawLine(c, th, y, &line)
		y += line.height() - 1
	}
	hidden := 0
	for _, line := range p.lines[end:] {
		hidden += line.n
	}
	if hidden > 0 {
		c.TextRight(c.W-2, c.H-1, look.Dim, fmt.Sprintf(" %s more %s ", words.Count(hidden, "byte"), th.Down))
	}
}

// Columns of a line: the offset, then three for the hexadecimal digits of each byte, then nine for its bits.
const (
	offsetWidth = 6
	hexWidth    = 3
	bitsWidth   = 9
)

// layOut divides the bytes into lines for w columns, and scrolls so that the cursor is visible in h rows.
func (p *bitPane) layOut(w, h int) {
	p.perLine = max((w-offsetWidth-1)/(hexWidth+bitsWidth), 1)
	if p.perLine > 4 {
		p.perLine = min(p.perLine&^1, 16)
	}
	if p.perLine >= 8 {
		p.perLine = p.perLine / 4 * 4
	}
	cursorLine := 0
	item := &p.data.items[p.cursor]
	firstBit, _ := item.bitRange()
	for k := range p.data.sections {
		s := &p.data.sections[k]
		if len(s.bytes) == 0 {
			continue
		}
		p.lines = append(p.lines, bitLine{section: k})
		for from := 0; from < len(s.bytes); from += p.perLine {
			if k == item.section && firstBit/8 >= from {
				cursorLine = len(p.lines)
			}
			p.lines = append(p.lines, bitLine{k, from, min(p.perLine, len(s.bytes)-from)})
		}
	}
	// The lines above and below the cursor are visible, too.
	p.top = min(p.top, max(cursorLine-2, 0))
	for p.top < cursorLine && p.endOfVisible(p.top, h) < min(cursorLine+2, len(p.lines)) {
		p.top++
	}
	for p.top > 0 && p.endOfVisible(p.top-1, h) == len(p.lines) { // no empty rows below the last line
		p.top--
	}
}

// endOfVisible returns the index after the last line that fits in h rows if the line with index first is the topmost.
func (p *bitPane) endOfVisible(first, h int) int {
	for i := first; i < len(p.lines); i++ {
		h -= p.lines[i].height()
		if h < 0 {
			return i
		}
	}
	return len(p.lines)
}

// drawLine draws a line at row y.
func (p *bitPane) drawLine(c *look.Canvas, th *look.Theme, y int, line *bitLine) {
	s := &p.data.sections[line.section]
	if line.n == 0 {
		order := ", lowest bit of each byte first"
		if s.highFirst {
			order = ", arithmetic code: a symbol takes a fraction of a bit"
		}
		if line.section == sectionPayload && p.schema.Rows > 1 {
			order += "; below the bits: " + p.schema.Item + ", field"
		}
		c.Spans(2, y, c.W-4, look.Title.Span(s.name), look.Dim.Span("  "+words.Count(len(s.bytes), "byte")+order))
		return
	}
	c.TextRight(2+offsetWidth-1, y, look.Dim, strconv.Itoa(line.first))
	bitsX := 2 + offsetWidth + hexWidth*p.perLine + 1
	labelled, row := -1, -2 // item of the last label, and its row; none yet, so that the first label names its row
	free := 0               // the column after the last label and a blank
	for i := range line.n {
		p.drawHex(c, 2+offsetWidth+hexWidth*i, y, line.section, line.first+i)
		for j := range 8 {
			n := 8*(line.first+i) + j
			item := p.data.itemAt(line.section, n)
			x := bitsX + bitsWidth*i + j
			c.Set(x, y, p.style(item), rune('0'+s.bit(n)))
			if item != labelled {
				labelled = item
				if item != p.cursor {
					x = max(x, free)
				}
				free = p.drawLabel(c, th, x, y+1, bitsX, line, item, p.data.items[item].row != row) + 1
				row = p.data.items[item].row
			}
			if slices.Contains(s.flipped, n) {
				c.Text(bitsX+bitsWidth*i+j, y+1, look.Corrupt, th.OutcomeSymbol(packetlog.Corrupt))
			}
		}
	}
}

func (p *bitPane) style(item int) look.Style {
	k := int(p.data.items[item].slot)
	if item == p.cursor {
		return look.BarStyle(k)
	}
	return look.SlotStyle(k)
}

// drawHex draws the hexadecimal digits of a byte. Each has the colour of a bit of its half.
func (p *bitPane) drawHex(c *look.Canvas, x, y, section, i int) {
	s := &p.data.sections[section]
	const digits = "0123456789abcdef"
	for half, digit := range [2]byte{s.bytes[i] >> 4, s.bytes[i] & 15} { // the high digit is the first
		bit := 8*i + 4*half + 1
		if !s.highFirst {
			bit = 8*i + 4*(1-half) + 1
		}
		c.Set(x+half, y, p.style(p.data.itemAt(section, bit)), rune(digits[digit]))
	}
}

// drawLabel draws the label of an item whose first bit of the line is at column x, below that bit. It takes the columns
// up to the item's last bit of the line. The label begins with the number of the row if namesRow is set. It returns the
// column after the label.
func (p *bitPane) drawLabel(c *look.Canvas, th *look.Theme, x, y, bitsX int, line *bitLine, index int, namesRow bool) int {
	item := &p.data.items[index]
	_, end := item.bitRange()
	last := min(end, 8*(line.first+line.n)) - 1 - 8*line.first // of the bits of the line
	if item.end%encoders.BitUnit != 0 && last > 0 {
		last-- // the rest of that bit belongs to the next item
	}
	w := bitsX + bitsWidth*(last/8) + last%8 + 1 - x
	if last%8 == 7 {
		w++ // the gap between bytes
	}
	text, row := p.data.label(item), ""
	if namesRow && item.row != encoders.NoRow && p.data.schema.Rows > 1 {
		row = strconv.Itoa(item.row)
		if item.slot == encoders.SlotIndex {
			text = ""
		}
	}
	style := look.SlotStyle(int(item.slot))
	if index == p.cursor {
		x, w, style = c.Text(x, y, look.Chosen, th.Chosen), w-1, look.Chosen
	}
	if w > 1 {
		w-- // a blank before the next label
	}
	switch {
	case len(row) > w: // part of a number would mislead
		text, row = look.Truncate(th.Dot, w), ""
	case row != "":
		x, w = c.Text(x, y, look.Title, row), w-len(row)
		text = " " + text
	}
	return c.Text(x, y, style, look.Truncate(text, max(w, 0)))
}

// Click moves the cursor to the item at (x, y) of the pane.
func (p *bitPane) Click(x, y int) (r room.Request) {
	if p.data == nil {
		return r
	}
	row := 2
	for _, line := range p.lines[min(p.top, len(p.lines)):] {
		if y < row+line.height() {
			bit := x - (2 + offsetWidth + hexWidth*p.perLine + 1)
			if hex := (x - 2 - offsetWidth) / hexWidth; hex >= 0 && hex < line.n && bit < 0 {
				bit = bitsWidth * hex
			}
			if i := bit / bitsWidth; line.n > 0 && y >= row && bit >= 0 && i < line.n {
				p.cursor = p.data.itemAt(line.section, 8*(line.first+i)+min(bit%bitsWidth, 7))
			}
			return r
		}
		row += line.height()
	}
	return r
}

// rowPane shows the row under the cursor of a bitPane: value, baseline and cost of each of its fields in the packet.
type rowPane struct {
	bits  *bitPane
	table grid.Table
	drawn *bitData // of the last Observe
}

func (p *rowPane) Name() string { return "Row" }

func (p *rowPane) Absent() bool { return !p.bits.on || p.bits.missing }

func (p *rowPane) Observe(room.View) bool {
	changed := p.drawn != p.bits.data
	p.drawn = p.bits.data
	return changed
}

func (p *rowPane) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	if p.bits.data == nil {
		c.Frame(th, focused, p.Name())
		return
	}
	items := p.bits.data.rowItems(p.bits.cursor)
	title := p.bits.data.group(&p.bits.data.items[p.bits.cursor])
	c.Frame(th, focused, title, p.heading(items, look.TitleSpace(c.W, title))...)
	p.table = grid.Table{Columns: p.columns(items), NumRows: len(items), Cursor: slices.Index(items, p.bits.cursor), Centered: true, Sort: -1}
	p.table.Draw(c, th, 1, c.H-2)
}

// columns returns the columns of a table of items: swatch and name, value, baseline, change, bits, and a bar. Fields of
// a header have no baseline.
func (p *rowPane) columns(items []int) []grid.Column {
	item := func(cell grid.Cell) *bitItem { return &p.bits.data.items[items[cell.Row]] }
	columns := []grid.Column{{Width: 16, Text: func(cell grid.Cell) []look.Span {
		return []look.Span{cell.Theme.SlotMark(int(item(cell).slot)), look.Plain.Span(p.bits.data.label(item(cell)))}
	}}}
	for i, title := range []string{"value", "baseline", "change"} {
		if i > 0 && item(grid.Cell{}).name != "" {
			break
		}
		columns = append(columns, grid.Column{Title: title, Width: 20, Min: 8, Right: true, Text: func(cell grid.Cell) []look.Span {
			value, baseline, change := p.bits.data.values(item(cell))
			text := [...]string{value, baseline, change}[i]
			if look.TextWidth(text) > cell.Width { // without the value in the unit of the field
				text, _, _ = strings.Cut(text, " (")
			}
			return grid.Text([...]look.Style{look.Value, look.Plain, look.Ratio}[i], text)
		}})
	}
	return append(columns, grid.Column{Title: "bits", Width: 5, Right: true, Text: func(cell grid.Cell) []look.Span {
		return grid.Text(look.Value, formatBits(item(cell).bits()))
	}}, grid.Column{Width: grid.Rest, Min: 1, Text: func(cell grid.Cell) []look.Span {
		slot := int(item(cell).slot)
		return grid.Text(look.SlotStyle(slot), strings.Repeat(string(cell.Theme.Swatch(slot)), min(int(item(cell).bits()+0.5), cell.Width)))
	}})
}

// heading returns the cost of items, and the position of the bits under the cursor.
func (p *rowPane) heading(items []int, maxWidth int) []look.Span {
	sum := 0.0
	for _, i := range items {
		sum += p.bits.data.items[i].bits()
	}
	item := &p.bits.data.items[p.bits.cursor]
	s := &p.bits.data.sections[item.section]
	cost := look.Labelled("", formatBits(sum), bitsWord(sum)+", ",
		fmt.Sprintf("%.1f", 100*sum/float64(8*max(len(s.bytes), 1))), " % of the "+s.name)
	first, end := item.bitRange()
	position := fmt.Sprintf("; cursor: bits %d to %d, byte %d", first, end-1, first/8)
	if first == end-1 {
		position = fmt.Sprintf("; cursor: bit %d, byte %d", first, first/8)
	}
	return look.Fit(maxWidth, append(cost[:len(cost):len(cost)], look.Dim.Span(position)), cost, nil)
}

// bitsWord returns the unit of a number of bits, with a blank before it.
func bitsWord(n float64) string {
	if n == 1 {
		return " bit"
	}
	return " bits"
}

// formatBits formats a number of bits: with two decimals unless it is whole.
func formatBits(v float64) string {
	if v == float64(int(v)) {
		return strconv.Itoa(int(v))
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
