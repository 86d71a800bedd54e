package packets

import (
	"fmt"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/report"
	"wirelab/internal/units"
	"wirelab/internal/words"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
)

// problem is an entry of the list of problems.
type problem struct {
	name   string
	style  look.Style
	last   time.Duration // virtual time
	count  string        // how often it occurred
	text   string        // the explanation
	packet *packetlog.ID // nil if the problem has no packet
}

// NewProblems returns a list of the latest problems: a starved display, then failed or unusually large packets, the newest
// of each kind, with an explanation of the selected one. It does not change while it is open. It returns nil if there is no
// problem.
func NewProblems(snap *engine.Snapshot, cfg *config.Config) room.Overlay {
	list := starvation(snap, cfg)
	for _, x := range problems(snap) {
		p := problem{x.Reason.String(), headingStyle(&x), x.T, words.Count(x.N, "time"), report.Explain(&x.Opened, x.Reason, cfg), &x.Opened.ID}
		if x.Reason == inspector.BecauseRefusedFrame {
			p.packet = nil
		}
		list = append(list, p)
	}
	if len(list) == 0 {
		return nil
	}
	b := &room.ListBox{Title: "Problems, newest of each kind", DetailsFocused: true}
	b.Names = func() (names []string) {
		for i := range list {
			names = append(names, list[i].name)
		}
		return names
	}
	b.Enter = func(i int) room.Request {
		if list[i].packet == nil {
			return room.Refusal("this problem has no packet")
		}
		return room.Request{Closes: true, Packet: list[i].packet}
	}
	b.Keys = []room.Binding{room.OverlayKey("enter", "open", "open the packet on page 3").Pin()}
	b.Details = func(c *look.Canvas, _ *look.Theme, i int) { c.Wrap(0, 0, c.W, look.Plain, list[i].text) }
	b.Table = grid.Table{Sort: -1, Columns: []grid.Column{
		{Width: grid.Rest, Min: 20, Text: func(cell grid.Cell) []look.Span {
			return grid.Text(list[b.At(cell)].style, list[b.At(cell)].name)
		}},
		{Width: 10, Right: true, Text: func(cell grid.Cell) []look.Span {
			return grid.Text(look.Dim, formatAgo(snap.Now-list[b.At(cell)].last))
		}},
		{Width: 15, Right: true, Text: func(cell grid.Cell) []look.Span {
			return grid.Text(look.Dim, list[b.At(cell)].count+" ")
		}},
	}}
	return b
}

// starvation returns the problem of a display that starved in the last two seconds, if it did.
func starvation(snap *engine.Snapshot, cfg *config.Config) []problem {
	if len(snap.Lanes) == 0 {
		return nil
	}
	lane := &snap.Lanes[0]
	cause, advice := panes.Starvation(lane, snap.Now, cfg)
	if cause == "" {
		return nil
	}
	s := meters.Sum(meters.Tail(lane.Samples, room.RecentSpan))
	return []problem{{name: "starved display", style: look.Late, last: snap.Now,
		count: fmt.Sprintf("%d/%s", s.Starved, words.Count(s.Displayed, "frame")),
		text:  cause + advice, packet: firstMissed(lane, snap.Now-room.RecentSpan)}}
}

// firstMissed returns the first packet after a time that the display did not get in time; nil if none is known.
func firstMissed(lane *engine.Lane, after time.Duration) *packetlog.ID {
	for n := lane.History.First(); n < lane.EndOfRecords(); n++ {
		r := lane.Record(n)
		isLate := r.Late > 0 && r.Arrived > after
		isLost := r.Outcome == packetlog.Lost && r.Sent > after
		if isLate || isLost {
			return new(r.ID())
		}
	}
	return nil
}

// headingStyle returns the style of a problem's heading: that of the packet's outcome, as on other pages, or
// a warning for large packets and refused frames, which are no outcomes.
func headingStyle(problem *inspector.Incident) look.Style {
	if problem.Reason.Large() || problem.Reason == inspector.BecauseRefusedFrame {
		return look.Warn
	}
	return look.OutcomeStyle(problem.Opened.Record.Outcome)
}

// formatAgo writes how long ago something happened.
func formatAgo(d time.Duration) string {
	if d < time.Second {
		return "just now"
	}
	return units.Fixed(d.Seconds(), 0) + " s ago"
}
