package transport

import (
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
)

// New returns the page: on a large screen the charts on the left, and the policies and the comparison of
// playout policies on the right.
func New() *room.Page {
	playouts := &playouts{}
	p := &room.Page{Name: "Flow", Top: room.NewSlot(&panes.SummaryLine{})}
	s := p.Add(panes.NewTransport(), &policies{}, playouts)
	p.LayOut = func(w, h int) []room.Place {
		rightW := room.RightColumn(w)
		leftW := w - rightW
		playoutsH := 0
		if !playouts.Absent() {
			const chartRows = 14
			playoutsH = min(playouts.rows()+chartRows, h*2/3)
		}
		places := []room.Place{s[0].Place(0, 0, leftW, h), s[1].Place(leftW, 0, rightW, h-playoutsH)}
		if playoutsH > 0 {
			places = append(places, s[2].Place(leftW, h-playoutsH, rightW, playoutsH))
		}
		return places
	}
	return p
}

// Needed reports whether the page has something to show that the page Live does not.
func Needed(v room.View) bool {
	cfg, lane := v.Cfg, v.ActiveLane()
	compares := cfg.Receiver.PlayoutCompare != ""
	hasPolicy := cfg.HasBudget() || cfg.HasMessages() || cfg.HasRedundancy() || cfg.Sender.Control.Name() != ""
	limited := cfg.Down.Rate.BitsPerSecond > 0 || panes.HasQueue(lane) // a trace or netem limits the rate too
	return hasPolicy || compares || limited || len(cfg.Traffic) > 0 || lane.Control != nil
}
