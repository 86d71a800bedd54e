package report

import (
	"fmt"
	"slices"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/report"
)

// saved is the list of saved reports, the newest first.
type saved struct {
	dir    string
	list   []report.SavedReport
	err    error
	listed bool            // the folder has been looked at
	chosen int             // -1: none
	base   string          // path of the one the others are held against; "": the present run
	top    int             // first row in sight, as last drawn
	rows   int             // and how many there were
	first  int             // row of the pane that the first of them was on
	heads  map[string]head // by path
}

func (p *saved) Name() string { return "Reports" }

// put takes a new list; the cursor stays with its report.
func (p *saved) put(list []report.SavedReport, err error) (changed bool) {
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
func (p *saved) picked() *report.SavedReport {
	if p.chosen < 0 || p.chosen >= len(p.list) {
		return nil
	}
	return &p.list[p.chosen]
}

// choose moves the cursor; above the first report is the present run.
func (p *saved) choose(n int) { p.chosen = min(max(p.chosen+n, -1), len(p.list)-1) }

func (p *saved) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, "Reports", look.Dim.Span(fmt.Sprintf("%d saved", len(p.list))))
	switch {
	case p.err != nil:
		for y, line := range look.Wrap(p.err.Error(), c.W-4) {
			c.Clip(2, 1+y, c.W-4, look.Bad, line)
		}
		return
	case !p.listed:
		c.Clip(2, 1, c.W-4, look.Dim, "looking into the folder")
		return
	}
	p.first = 1
	if _, _, encoder, _ := columns(c.W); encoder > 0 && len(p.list) > 0 && c.H > 5 {
		headRow(c, p.first)
		p.first++
	}
	room := max(c.H-1-p.first, 1)
	p.rows = room
	p.top = min(max(p.chosen+1-room+1, 0), max(len(p.list)+1-room, 0))
	for y := 0; y < room && p.top+y <= len(p.list) && p.first+y < c.H-1; y++ {
		p.row(c, th, p.first+y, p.top+y-1)
	}
	if len(p.list) == 0 {
		text := "none yet: s saves this run"
		if p.dir != "" {
			text += " under " + p.dir
		}
		for y, line := range look.Wrap(text, c.W-4) {
			if y+2 < c.H-1 {
				c.Clip(2, y+2, c.W-4, look.Dim, line)
			}
		}
	}
	c.More(th, len(p.list)+1-p.top-room)
}

// row writes one report; -1 is the present run.
func (p *saved) row(c *look.Canvas, th *look.Theme, y, i int) {
	k, name, based := look.Plain, "this run", p.base == ""
	if i >= 0 {
		name, based = p.list[i].Name, p.base == p.list[i].Path
	}
	if i == p.chosen {
		k = look.Chosen
		c.Text(2, y, k, th.Chosen)
	}
	end := c.W - 2
	if based {
		const word = "base"
		c.Right(end, y, look.Good, word)
		end -= len(word) + 1
	}
	at, data, encoder, link := columns(c.W)
	h, known := head{}, false
	if i >= 0 {
		h, known = p.heads[p.list[i].Path]
	}
	if !known || encoder == 0 || h.encoder == "" {
		at = c.Clip(at, y, end-at, k, name)
		c.Clip(at+2, y, end-at-2, look.Bad, h.data)
		return
	}
	c.Right(end, y, look.Value, h.kbps)
	c.Clip(link, y, end-len(h.kbps)-1-link, look.Dim, h.link)
	c.Clip(encoder, y, link-1-encoder, k, h.encoder)
	if next := encoder; data > 0 {
		c.Clip(data, y, next-1-data, look.Dim, h.data)
		next = data
		c.Clip(at, y, next-1-at, k, when(p.list[i].Name, h.encoder))
	} else {
		c.Clip(at, y, next-1-at, k, when(p.list[i].Name, h.encoder))
	}
}

// unread is a report in sight of which nothing is known yet, or that was written anew since.
func (p *saved) unread() *report.SavedReport {
	for i := max(p.top-1, 0); i < min(p.top+p.rows, len(p.list)); i++ {
		if p.heads[p.list[i].Path].of != p.list[i] {
			return &p.list[i]
		}
	}
	return nil
}

// point chooses the report on a row.
func (p *saved) point(y int) {
	if i := p.top + y - 1 - p.first; y >= p.first && i >= -1 && i < len(p.list) {
		p.chosen = i
	}
}
