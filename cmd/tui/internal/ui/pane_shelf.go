package ui

import (
	"fmt"
	"slices"

	"wirelab/experiment/report"
)

// shelfPane is the list of saved reports, the newest first.
type shelfPane struct {
	dir    string
	list   []report.SavedReport
	err    error
	listed bool   // the folder has been looked at
	chosen int    // -1: none
	base   string // path of the one the others are held against; "": the present run
	top    int    // first row in sight, as last drawn
}

func (p *shelfPane) name() string { return "Reports" }

func (p *shelfPane) observe(sight) bool { return false } // the page says when

// put takes a new list; the cursor stays with its report.
func (p *shelfPane) put(list []report.SavedReport, err error) (changed bool) {
	same := p.listed && slices.Equal(list, p.list) && (err == nil) == (p.err == nil)
	if same {
		return false
	}
	path := ""
	if s := p.picked(); s != nil {
		path = s.Path
	}
	p.list, p.err, p.listed = list, err, true
	p.chosen = slices.IndexFunc(list, func(s report.SavedReport) bool { return s.Path == path })
	return true
}

// picked is the report under the cursor, nil if there is none.
func (p *shelfPane) picked() *report.SavedReport {
	if p.chosen < 0 || p.chosen >= len(p.list) {
		return nil
	}
	return &p.list[p.chosen]
}

// choose moves the cursor; above the first report is the present run.
func (p *shelfPane) choose(n int) { p.chosen = min(max(p.chosen+n, -1), len(p.list)-1) }

func (p *shelfPane) draw(c *canvas, th *theme, focused bool) {
	c.frame(th, focused, "Reports", span{inkDim, fmt.Sprintf("%d saved", len(p.list))})
	switch {
	case p.err != nil:
		for y, line := range wrap(p.err.Error(), c.w-4) {
			c.clip(2, 1+y, c.w-4, inkBad, line)
		}
		return
	case !p.listed:
		c.clip(2, 1, c.w-4, inkDim, "looking into the folder")
		return
	}
	room := max(c.h-2, 1)
	p.top = min(max(p.chosen+1-room+1, 0), max(len(p.list)+1-room, 0))
	for y := 0; y < room && p.top+y <= len(p.list) && y < c.h-2; y++ {
		p.row(c, th, y+1, p.top+y-1)
	}
	if len(p.list) == 0 {
		text := "none yet: s saves this run"
		if p.dir != "" {
			text += " under " + p.dir
		}
		for y, line := range wrap(text, c.w-4) {
			if y+2 < c.h-1 {
				c.clip(2, y+2, c.w-4, inkDim, line)
			}
		}
	}
	if rest := len(p.list) + 1 - p.top - room; rest > 0 {
		c.right(c.w-2, c.h-1, inkDim, fmt.Sprintf(" %d more %s ", rest, th.down))
	}
}

// row writes one report; -1 is the present run.
func (p *shelfPane) row(c *canvas, th *theme, y, i int) {
	k, name, based := inkPlain, "this run", p.base == ""
	if i >= 0 {
		name, based = p.list[i].Name, p.base == p.list[i].Path
	}
	if i == p.chosen {
		k = inkChosen
		c.text(2, y, k, th.chosen)
	}
	end := c.w - 2
	if based {
		const word = "base"
		c.right(end, y, inkGood, word)
		end -= len(word) + 1
	}
	c.clip(4, y, end-4, k, name)
}

// point chooses the report on a row.
func (p *shelfPane) point(y int) {
	if i := p.top + y - 2; y >= 1 && i >= -1 && i < len(p.list) {
		p.chosen = i
	}
}
