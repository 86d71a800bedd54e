package report

import (
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/report"
)

// naming is the box in which a report gets another name.
type naming struct {
	page *page
	of   report.SavedReport
	text controls.Editor
	err  string
}

// rename asks for another name of the report under the cursor.
func (p *page) rename() room.Request {
	s := p.saved.picked()
	if s == nil {
		return room.Request{Say: "choose a saved report first", Bad: true}
	}
	b := &naming{page: p, of: *s}
	b.text.Set(s.Name)
	return room.Request{Over: b}
}

func (b *naming) Size(w, h int) (ow, oh int, right bool) { return min(w, 76), min(h, 5), false }

func (b *naming) Key(msg tea.KeyMsg) room.Request {
	switch msg.Type {
	case tea.KeyEsc:
		return room.Request{Closes: true}
	case tea.KeyEnter:
		if err := b.of.Rename(strings.TrimSpace(b.text.String())); err != nil {
			b.err = err.Error()
			return room.Request{}
		}
		b.page.due = true
		return room.Request{Closes: true, Say: "renamed to " + strings.TrimSpace(b.text.String())}
	}
	b.err = ""
	b.text.Key(msg)
	return room.Request{}
}

func (b *naming) Draw(c *look.Canvas, th *look.Theme) {
	c.Frame(th, true, "Rename", look.Dim.Span("enter takes it, esc leaves it"))
	text := string(b.text.Text[:b.text.At]) + "_" + string(b.text.Text[b.text.At:])
	c.Clip(2, 1, c.W-4, look.Value, text)
	c.Clip(2, 2, c.W-4, look.Bad, b.err)
}

// remove deletes the report under the cursor.
func (p *page) remove() room.Request {
	s := p.saved.picked()
	if s == nil {
		return room.Request{Say: "choose a saved report first", Bad: true}
	}
	if err := s.Delete(nil); err != nil {
		return room.Request{Say: err.Error(), Bad: true}
	}
	p.gone, p.due = append(p.gone, *s), true
	return room.Request{Say: s.Name + " is deleted; u brings it back"}
}

// restore brings back the report that was deleted last; where none was, it takes back the
// last change, as everywhere.
func (p *page) restore() room.Request {
	n := len(p.gone)
	if n == 0 {
		return room.Request{Command: &experiment.Command{Undo: true}}
	}
	s := p.gone[n-1]
	if err := s.Restore(); err != nil {
		return room.Request{Say: err.Error(), Bad: true}
	}
	p.gone, p.due = p.gone[:n-1], true
	return room.Request{Say: s.Name + " is back"}
}

// chartsBox shows the charts of a saved report.
type chartsBox struct {
	name   string
	charts panes.Charts
	err    error
}

// charts opens the charts of the report under the cursor.
func (p *page) openCharts() room.Request {
	s := p.saved.picked()
	if s == nil {
		return room.Request{}
	}
	b := &chartsBox{name: s.Name, charts: panes.Charts{Selected: -1}}
	samples, err := report.ReadSamples(filepath.Join(filepath.Dir(s.Path), "samples.csv"))
	b.err = err
	if err == nil {
		lane := engine.Lane{Samples: samples}
		for i := range samples {
			lane.Totals.Lost += int64(samples[i].Outcomes[packetlog.Lost])
			lane.Totals.Failures.NoBaseline += int64(samples[i].Outcomes[packetlog.NoBaseline])
		}
		snap := &engine.Snapshot{Config: config.Default(), Lanes: []engine.Lane{lane}, Item: p.both.item}
		if n := len(samples); n > 0 {
			snap.Now = samples[n-1].T
		}
		b.charts.Observe(room.View{Snap: snap, Cfg: snap.Config, Slow: true, Back: true, Spare: true})
	}
	return room.Request{Over: b}
}

func (b *chartsBox) Size(w, h int) (ow, oh int, right bool) { return w, h, false }

func (b *chartsBox) Key(tea.KeyMsg) room.Request { return room.Request{Closes: true} }

func (b *chartsBox) Draw(c *look.Canvas, th *look.Theme) {
	if b.err != nil {
		c.Frame(th, true, b.name, look.Dim.Span("any key closes"))
		c.Clip(2, 1, c.W-4, look.Bad, b.err.Error())
		return
	}
	b.charts.Draw(c, th, true)
	c.Text(2, c.H-1, look.Title, " "+b.name+" ")
	c.Right(c.W-2, c.H-1, look.Dim, " any key closes ")
}
