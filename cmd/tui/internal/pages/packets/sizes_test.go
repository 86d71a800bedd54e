package packets

import (
	"slices"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
)

// TestSizes checks the bars of a chart without an order, sorted, and with a selected packet: the heights are in proportion
// to the payloads to an eighth of a row, and the selected packet is shown.
func TestSizes(t *testing.T) {
	const w, h = 64, 14
	for name, prepare := range map[string]func(p *list){
		"newest":   func(*list) {},
		"by bytes": func(p *list) { p.NextSort() },
		"selected": func(p *list) { p.selectPacket(p.record(5).ID()) },
	} {
		page := New()
		labtest.NewStage(page, labtest.NewPackets(), 220, 60)
		p := &labtest.Pane[*packets](page).list
		prepare(p)
		c := look.NewCanvas(w, h)
		(&sizes{list: p}).Draw(c, labtest.Theme(false), look.Unfocused)
		lines := c.Lines(labtest.Theme(false))
		first := p.length() - (w - 4)
		if name != "newest" {
			first = 0
		}
		largest := 0
		for x := range w - 4 {
			largest = max(largest, p.record(first+x).Payload)
		}
		for x := range w - 4 {
			r := p.record(first + x)
			eighths := 0
			for _, line := range lines[1 : h-1] {
				eighths += max(slices.Index([]rune(" ▁▂▃▄▅▆▇█"), []rune(line)[2+x]), 0)
			}
			if want := max(r.Payload*8*(h-2)/largest, 1); eighths != want {
				t.Errorf("%s: the bar of packet %d is %d eighths high, want %d\n%s", name, r.Seq, eighths, want, strings.Join(lines, "\n"))
			}
		}
	}
}
