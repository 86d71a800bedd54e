package report

import (
	"fmt"
	"slices"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/report"
)

// saved is the list of saved reports, newest first. The first row is the current run.
type saved struct {
	dir         string
	list        []report.SavedReport
	err         error
	listed      bool               // the folder has been listed
	cursor      int                // index in list; -1 means the current run
	base        string             // path of the base of comparisons; "" means the current run
	firstRow    int                // first visible row, as last drawn
	visibleRows int                // number of visible rows
	firstRowY   int                // row of the pane in which the first visible row was drawn
	summaries   map[string]summary // by path
}

func (p *saved) Name() string { return "Reports" }

// setList replaces the list; the cursor stays on its report.
func (p *saved) setList(list []report.SavedReport, err error) (changed bool) {
	same := p.listed && slices.Equal(list, p.list) && (err == nil) == (p.err == nil)
	if same {
		return false
	}
	path := ""
	if s := p.selected(); s != nil {
		path = s.Path
	}
	p.list, p.err, p.listed = list, err, true
	p.cursor = slices.IndexFunc(list, func(s report.SavedReport) bool { return s.Path == path })
	return true
}

// selected returns the selected report, nil if it is the current run.
func (p *saved) selected() *report.SavedReport {
	if p.cursor < 0 || p.cursor >= len(p.list) {
		return nil
	}
	return &p.list[p.cursor]
}

// moveCursor moves the cursor by n rows.
func (p *saved) moveCursor(n int) { p.cursor = min(max(p.cursor+n, -1), len(p.list)-1) }

// Draw implements room.Pane: the current run, then the reports, scrolled so that the cursor is
// visible.
func (p *saved) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, "Reports", look.Dim.Span(fmt.Sprintf("%d saved", len(p.list))))
	switch {
	case p.err != nil:
		for y, line := range look.Wrap(p.err.Error(), c.W-4) {
			c.Clip(2, 1+y, c.W-4, look.Bad, line)
		}
		return
	case !p.listed:
		c.Clip(2, 1, c.W-4, look.Dim, "listing the folder")
		return
	}
	p.firstRowY = 1
	if _, _, encoder, _ := listColumns(c.W); encoder > 0 && len(p.list) > 0 && c.H > 5 {
		drawHeadings(c, p.firstRowY)
		p.firstRowY++
	}
	room := max(c.H-1-p.firstRowY, 1)
	p.visibleRows = room
	p.firstRow = min(max(p.cursor+1-room+1, 0), max(len(p.list)+1-room, 0))
	for y := 0; y < room && p.firstRow+y <= len(p.list) && p.firstRowY+y < c.H-1; y++ {
		p.drawRow(c, th, p.firstRowY+y, p.firstRow+y-1)
	}
	if len(p.list) == 0 {
		text := "no reports yet: s saves this run"
		if p.dir != "" {
			text += " under " + p.dir
		}
		for y, line := range look.Wrap(text, c.W-4) {
			if y+2 < c.H-1 {
				c.Clip(2, y+2, c.W-4, look.Dim, line)
			}
		}
	}
	c.More(th, len(p.list)+1-p.firstRow-room)
}

// drawRow draws report i at row y; -1 is the current run.
func (p *saved) drawRow(c *look.Canvas, th *look.Theme, y, i int) {
	style, name, isBase := look.Plain, "this run", p.base == ""
	if i >= 0 {
		name, isBase = p.list[i].Name, p.base == p.list[i].Path
	}
	if i == p.cursor {
		style = look.Chosen
		c.Text(2, y, style, th.Chosen)
	}
	end := c.W - 2
	if isBase {
		const word = "base"
		c.Right(end, y, look.Good, word)
		end -= len(word) + 1
	}
	at, data, encoder, link := listColumns(c.W)
	h, known := summary{}, false
	if i >= 0 {
		h, known = p.summaries[p.list[i].Path]
	}
	if !known || encoder == 0 || h.encoder == "" {
		at = c.Clip(at, y, end-at, style, name)
		c.Clip(at+2, y, end-at-2, look.Bad, h.data)
		return
	}
	c.Right(end, y, look.Value, h.kbps)
	c.Clip(link, y, end-len(h.kbps)-1-link, look.Dim, h.link)
	c.Clip(encoder, y, link-1-encoder, style, h.encoder)
	if next := encoder; data > 0 {
		c.Clip(data, y, next-1-data, look.Dim, h.data)
		next = data
		c.Clip(at, y, next-1-at, style, shortReportName(p.list[i].Name, h.encoder))
	} else {
		c.Clip(at, y, next-1-at, style, shortReportName(p.list[i].Name, h.encoder))
	}
}

// nextUnread returns a visible report without a summary, or one that was rewritten since; nil if there
// is none.
func (p *saved) nextUnread() *report.SavedReport {
	for i := max(p.firstRow-1, 0); i < min(p.firstRow+p.visibleRows, len(p.list)); i++ {
		if p.summaries[p.list[i].Path].report != p.list[i] {
			return &p.list[i]
		}
	}
	return nil
}

// clickAt selects the report in row y of the pane.
func (p *saved) clickAt(y int) {
	if i := p.firstRow + y - 1 - p.firstRowY; y >= p.firstRowY && i >= -1 && i < len(p.list) {
		p.cursor = i
	}
}
