package packets

import (
	"strings"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
)

// Selection implements room.Copier: the columns of the selected packet, as "title value" in each line.
func (p *packets) Selection() string {
	row, isListed := p.selectedRow()
	if !p.hasSelection || !isListed {
		return ""
	}
	var b strings.Builder
	for _, c := range p.table.Columns[:len(p.table.Columns)-1] { // all but the outcome, which has a symbol
		b.WriteString(c.Title)
		for _, span := range c.Text(grid.Cell{Row: row}) {
			b.WriteString(" " + span.Text)
		}
		b.WriteString("\n")
	}
	b.WriteString("outcome " + look.OutcomeText(p.record(row)) + "\n")
	return b.String()
}
