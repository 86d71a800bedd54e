package packets

import (
	"strconv"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/report"
	"wirelab/internal/units"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

// NewProblems returns a list of the latest problems, such as failed or unusually large packets: the newest of each kind,
// with an explanation of the selected one. It does not change while it is open. It returns nil if there is no problem.
func NewProblems(snap *engine.Snapshot, cfg *config.Config) room.Overlay {
	list := problems(snap)
	if len(list) == 0 {
		return nil
	}
	b := &room.ListBox{Title: "Problems, newest of each kind", DetailsFocused: true}
	b.Names = func() (names []string) {
		for i := range list {
			names = append(names, list[i].Reason.String())
		}
		return names
	}
	b.Enter = func(i int) room.Request {
		if list[i].Reason == inspector.BecauseRefusedFrame {
			return room.Refusal("a frame that the encoder refused has no packet")
		}
		return room.Request{Closes: true, Packet: &list[i].Opened.ID}
	}
	b.Keys = []room.Binding{room.OverlayKey("enter", "open", "open the packet on page 3").Pin()}
	b.Details = func(c *look.Canvas, _ *look.Theme, i int) {
		c.Wrap(0, 0, c.W, look.Plain, report.Explain(&list[i].Opened, list[i].Reason, cfg))
	}
	b.Table = grid.Table{Sort: -1, Columns: []grid.Column{
		{Width: grid.Rest, Min: 20, Text: func(cell grid.Cell) []look.Span {
			problem := &list[b.At(cell)]
			return grid.Text(headingStyle(problem), problem.Reason.String())
		}},
		{Width: 10, Right: true, Text: func(cell grid.Cell) []look.Span {
			return grid.Text(look.Dim, formatAgo(snap.Now-list[b.At(cell)].T))
		}},
		{Width: 11, Right: true, Text: func(cell grid.Cell) []look.Span {
			return grid.Text(look.Dim, formatCount(list[b.At(cell)].N)+" ")
		}},
	}}
	return b
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

// formatCount writes how often something happened.
func formatCount(n int64) string {
	if n == 1 {
		return "once"
	}
	return strconv.FormatInt(n, 10) + " times"
}
