package packets

import (
	"strings"
)

// Selection implements room.Copier: the columns of the selected packet, as "heading value" in each line.
func (p *page) Selection() string {
	r := p.list.findPacket(p.list.selected)
	if !p.list.hasSelection || r == nil {
		return ""
	}
	var b strings.Builder
	for _, c := range p.list.columns() {
		text, _ := c.cell(r)
		b.WriteString(c.heading + " " + text + "\n")
	}
	b.WriteString("outcome " + r.Outcome.String() + "\n")
	return b.String()
}
