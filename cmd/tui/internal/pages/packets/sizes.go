package packets

import (
	"strconv"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine/packetlog"
)

// sizes charts the payloads of the listed packets, a bar per packet in the order of the list, coloured by outcome. It is
// below the details on high screens, and is drawn again with the list.
type sizes struct {
	*list
	drawn int // numChanges at the last Observe
}

// Height of the chart of sizes, and the smallest height of the details above it.
const (
	minSizesRows   = 12
	maxSizesRows   = 20
	minDetailsRows = 40
)

// sizesRows returns the height of the chart below details, of h rows together; 0 if there is no room for it.
func sizesRows(h int) int {
	if h < minDetailsRows+minSizesRows {
		return 0
	}
	return min(h-minDetailsRows, maxSizesRows)
}

func (p *sizes) Name() string { return "Sizes" }

func (p *sizes) Observe(room.View) bool {
	changed := p.drawn != p.numChanges
	p.drawn = p.numChanges
	return changed
}

// Draw implements room.Pane. The newest packets are shown or, in a sorted list, the first; in any case the selected one.
func (p *sizes) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	selected, hasCursor := p.selectedRow()
	hasCursor = hasCursor && p.hasSelection
	shown := max(min(p.length(), c.W-4), 0)
	first := max(p.followedRow()-shown, 0)
	if p.isSorted() {
		first = 0
	}
	if hasCursor {
		first = min(max(selected-shown/2, 0), p.length()-shown)
	}
	largest := 1
	for row := first; row < first+shown; row++ {
		largest = max(largest, p.record(row).Payload)
	}
	c.Frame(th, focused, p.Name(), look.Fit(look.TitleSpace(c.W, p.Name()), []look.Span{look.Dim.Span("a bar per listed packet, highest "),
		look.Value.Span(strconv.Itoa(largest)), look.Dim.Span(" bytes")}, nil)...)
	for x := range shown {
		r := p.record(first + x)
		style := look.OutcomeStyle(r.Outcome)
		if r.Outcome == packetlog.Decoded {
			style = look.Dim
		}
		if hasCursor && first+x == selected {
			style = look.Chosen
		}
		p.drawBar(c, th, 2+x, style, r.Payload*8*(c.H-2)/largest)
	}
}

// drawBar draws a bar in column x, eighths of a row high, at least one.
func (p *sizes) drawBar(c *look.Canvas, th *look.Theme, x int, style look.Style, eighths int) {
	runes := []rune("▁▂▃▄▅▆▇█")
	for y := c.H - 2; eighths > 0 || y == c.H-2; y-- {
		c.Set(x, y, style, runes[min(max(eighths, 1), 8)-1])
		eighths -= 8
	}
}
