package packets

import (
	"slices"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

// TestSizes checks the bars of a chart without an order, sorted, and with a selected packet: the heights are in proportion
// to the payloads to an eighth of a row, and the selected packet is shown.
func TestSizes(t *testing.T) {
	const w, h = 64, 14
	for name, prepare := range map[string]func(p *list){
		"newest":   func(*list) {},
		"by bytes": func(p *list) { p.sort = room.PacketSort{Field: "bytes"} },
		"selected": func(p *list) { p.selectPacket(p.packets[5].ID()) },
	} {
		page := New()
		labtest.NewStage(page, labtest.NewPackets(), 220, 60)
		p := &labtest.Pane[*packets](page).list
		prepare(p)
		c := look.NewCanvas(w, h)
		(&sizes{list: p}).Draw(c, labtest.Theme(false), look.Unfocused)
		lines := c.Lines(labtest.Theme(false))
		listed := p.listed()
		first := len(listed) - (w - 4)
		if name != "newest" {
			first = 0
		}
		largest := 0
		for _, i := range listed[first : first+w-4] {
			largest = max(largest, p.packets[i].Payload)
		}
		for x, i := range listed[first : first+w-4] {
			eighths := 0
			for _, line := range lines[1 : h-1] {
				eighths += max(slices.Index([]rune(" ▁▂▃▄▅▆▇█"), []rune(line)[2+x]), 0)
			}
			if want := max(p.packets[i].Payload*8*(h-2)/largest, 1); eighths != want {
				t.Errorf("%s: the bar of packet %d is %d eighths high, want %d\n%s", name, p.packets[i].Seq, eighths, want, strings.Join(lines, "\n"))
			}
		}
	}
}
