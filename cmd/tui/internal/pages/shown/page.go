package shown

import (
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
)

// New returns the page: charts of the receiver's display above the values at the sender and as the
// receiver displays them, or below a map if the schema has coordinates.
func New(schema *frame.Schema) *room.Page {
	p := &room.Page{Name: "Values", Top: room.NewSlot(&panes.SummaryLine{}), TopIfWide: true}
	values := &values{}
	if parts, _ := findPlaces(schema); parts != nil {
		p.Name, values.worldMap = "World", &mapView{}
		values.worldMap.values = values
		p.Add(values.worldMap)
	}
	s := p.Add(values, panes.NewPlayout(schema))
	p.LayOut = func(w, h int) []room.Place {
		if values.Absent() {
			const chartRows, minHeightForCharts = 8, 35
			worldMap := p.Slots[0]
			if h < minHeightForCharts {
				return []room.Place{worldMap.Place(0, 0, w, h)}
			}
			return []room.Place{worldMap.Place(0, 0, w, h-chartRows), s[1].Place(0, h-chartRows, w, chartRows)}
		}
		charts := min(max(h*2/5, 8), 16)
		if need := values.preferredHeight(w); need > 0 { // the charts get the rows that the values do not need
			charts = max(charts, min(h-need, 2*charts))
		}
		return []room.Place{s[1].Place(0, 0, w, charts), s[0].Place(0, charts, w, h-charts)}
	}
	p.Small = p.LayOut
	return p
}
