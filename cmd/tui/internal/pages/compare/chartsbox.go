package compare

import (
	"path/filepath"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/report"
)

// chartsBox shows the charts of a saved report.
type chartsBox struct {
	name   string // of the report
	charts panes.Charts
}

// openCharts opens a box with the charts of a report. They are drawn from its samples.csv, by passing the
// samples to the charts of page 1 as the snapshot of a run that ended, without limits.
func (p *table) openCharts(r *run) room.Request {
	samples, err := report.ReadSamples(filepath.Join(filepath.Dir(r.Path), "samples.csv"))
	if err != nil {
		return room.Request{Overlay: &room.TextBox{Title: r.Name, Text: room.Paragraphs(err.Error())}}
	}
	b := &chartsBox{name: r.Name, charts: panes.Charts{Selected: -1, OfRun: true}}
	const tickHz = 0 // unknown; only ages need it, which the charts do not show
	lane := engine.Lane{Samples: samples, Recent: meters.MeanOf(samples, tickHz)}
	lane.Totals.Counts = meters.Sum(samples).Counts // the failure chart shows only causes that occurred
	snap := &engine.Snapshot{Config: &config.Config{}, Lanes: []engine.Lane{lane}, Item: p.item}
	if n := len(samples); n > 0 {
		snap.Now = samples[n-1].T
	}
	b.charts.Observe(room.View{Snap: snap, Cfg: snap.Config, RedrawDue: true, Past: true, CanRedrawAll: true})
	return room.Request{Overlay: b}
}

// Size implements room.Overlay: the box covers the whole screen.
func (b *chartsBox) Size(w, h int) (boxW, boxH int, atRight bool) { return w, h, false }

// Wheel implements room.Wheeler: it changes the time span.
func (b *chartsBox) Wheel(_, _, notches int) room.Request {
	b.charts.ZoomBy(notches)
	return room.Request{}
}

// Key implements room.Overlay: Z changes the time span; see room.ClosesBox for the keys that close the box.
func (b *chartsBox) Key(msg tea.KeyMsg) room.Request {
	if msg.String() == "Z" {
		b.charts.NextSpan()
		return room.Request{}
	}
	return room.Request{Closes: room.ClosesBox(msg)}
}

// Bindings returns the keys of the box, for the footer and the help.
func (b *chartsBox) Bindings() []room.Binding {
	return []room.Binding{
		room.OverlayKey("Z", "time range", "change the time range of the charts"),
		room.OverlayKey("esc", "close", "close the charts"),
	}
}

func (b *chartsBox) Draw(c *look.Canvas, th *look.Theme) {
	b.charts.Draw(c, th, look.Focused)
	c.Text(2, c.H-1, look.Title, " "+b.name+" ")
	c.TextRight(c.W-2, c.H-1, look.Dim, " figures: means of the run ")
}
