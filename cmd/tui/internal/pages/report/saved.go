package report

import (
	"fmt"
	"slices"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/report"
)

// saved is the list of saved reports, newest first. The first row is the current run.
type saved struct {
	dir         string // the folder of the reports; "" if none exists
	list        []report.SavedReport
	opened      []report.SavedReport // reports in other folders that were opened
	err         error                // why the folder cannot be listed
	listed      bool                 // the folder has been listed
	cursor      int                  // index in list; -1 means the current run
	base        string               // path of the base of comparisons; "" means the current run
	firstRow    int                  // first visible row, as last drawn
	visibleRows int                  // number of visible rows
	firstRowY   int                  // row of the pane in which the first visible row was drawn
	summaries   map[string]summary   // by path
}

func (p *saved) Name() string { return "Reports" }

// setList replaces the list, or sets the error that prevented it from being read, and reports whether
// either changed. The cursor stays on its report; if that was deleted, it moves to the current run.
func (p *saved) setList(list []report.SavedReport, err error) (changed bool) {
	for _, opened := range p.opened {
		if !slices.ContainsFunc(list, func(s report.SavedReport) bool { return s.Path == opened.Path }) {
			list = append([]report.SavedReport{opened}, list...)
		}
	}
	same := p.listed && slices.Equal(list, p.list) && (err == nil) == (p.err == nil)
	if same {
		return false
	}
	path := ""
	if s := p.selected(); s != nil {
		path = s.Path
	}
	p.list, p.err, p.listed = list, err, true
	p.cursor = slices.IndexFunc(list, func(s report.SavedReport) bool { return s.Path == path }) // -1 is the current run
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
	if _, _, encoderX, _ := listColumns(c.W); encoderX > 0 && len(p.list) > 0 && c.H > 5 {
		drawHeadings(c, p.firstRowY)
		p.firstRowY++
	}
	p.visibleRows = max(c.H-1-p.firstRowY, 1)
	cursorRow, numRows := p.cursor+1, len(p.list)+1 // row 0 is the current run
	p.firstRow = min(max(cursorRow-p.visibleRows+1, 0), max(numRows-p.visibleRows, 0))
	for y := 0; y < p.visibleRows && p.firstRow+y < numRows && p.firstRowY+y < c.H-1; y++ {
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
	if p.selected() != nil {
		const otherColumns = 19 // those of MoreBelow and of the edges
		c.Spans(2, c.H-1, c.W-4, look.FitGroups(c.W-otherColumns, [][]look.Span{{look.Key.Span(" y"), look.Dim.Span(" copies its path ")},
			{look.Dim.Span("for tui replay ")}})...)
	}
	c.MoreBelow(th, numRows-p.firstRow-p.visibleRows)
}

// drawRow draws report i at row y; -1 is the current run. Without a summary, or in a narrow pane, the row
// is the name, and a remark if the report cannot be read.
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
		c.TextRight(end, y, look.Good, word)
		end -= len(word) + 1
	}
	nameX, dataX, encoderX, linkX := listColumns(c.W)
	s, known := summary{}, false
	if i >= 0 {
		s, known = p.summaries[p.list[i].Path]
	}
	if !known || encoderX == 0 || s.encoder == "" {
		nameEnd := c.Clip(nameX, y, end-nameX, style, name)
		c.Clip(nameEnd+2, y, end-nameEnd-2, look.Bad, s.data)
		return
	}
	c.TextRight(end, y, look.Value, s.kbps)
	c.Clip(linkX, y, end-len(s.kbps)-1-linkX, look.Dim, s.link)
	c.Clip(encoderX, y, linkX-1-encoderX, style, s.encoder)
	nameEnd := encoderX - 1
	if dataX > 0 {
		c.Clip(dataX, y, encoderX-1-dataX, look.Dim, s.data)
		nameEnd = dataX - 1
	}
	c.Clip(nameX, y, nameEnd-nameX, style, shortReportName(p.list[i].Name, s.encoder))
}

// nextUnread returns the first visible report that has no summary, or whose file changed after its summary was
// made; nil if all have a current summary. Row 0 is this run, which is not in the list.
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
