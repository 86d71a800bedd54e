package packets

import (
	"strings"
)

// Selection implements room.Copier: the columns of the selected packet, as "heading value" in each line.
func (p *packets) Selection() string {
	r := p.selectedRecord()
	if r == nil {
		return ""
	}
	var b strings.Builder
	for _, c := range p.columns() {
		text, _ := c.cell(r)
		b.WriteString(c.heading + " " + text + "\n")
	}
	b.WriteString("outcome " + r.Outcome.String() + "\n")
	return b.String()
}
