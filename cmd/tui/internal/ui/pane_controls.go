package ui

import (
	"strconv"
	"strings"

	"wirelab/dataset/frame"
	"wirelab/experiment"
	"wirelab/experiment/config"
)

// controlsPane shows what can be adjusted, with a cursor on one of them.
type controlsPane struct {
	cat    *catalog
	chosen string // the word of the control under the cursor
	cfg    *config.Config
	schema *frame.Schema
	all    []control // from top to bottom
	scope  scope
	speed  float64
	moved  bool
	back   bool     // the screen shows what is over; the controls do not
	rows   []string // the word of the control on each row of the last picture, "" for none
}

func (p *controlsPane) name() string { return "Controls" }

func (p *controlsPane) observe(v sight) bool {
	same := p.cfg != nil && p.speed == v.speed && p.schema == v.snap.Schema && (p.cfg == v.cfg || sameSettings(p.cfg, v.cfg))
	if same && !p.moved && p.back == v.back {
		return false
	}
	p.back = v.back
	if !same {
		p.cfg, p.schema, p.speed = v.cfg.Clone(), v.snap.Schema, v.speed
		p.relist()
	}
	p.moved = false
	return true
}

// relist makes the controls anew.
func (p *controlsPane) relist() {
	if p.cfg != nil {
		p.all = p.cat.controls(p.cfg, p.schema, p.scope)
	}
	p.moved = true
}

// fold folds the settings for some days away, or unfolds them.
func (p *controlsPane) fold() {
	p.scope.more = !p.scope.more
	p.relist()
}

// aim lets the controls show and set the next of: both links, the one to the
// receiver, the one back.
func (p *controlsPane) aim() {
	p.scope.way = (p.scope.way + 1) % (upOnly + 1)
	p.relist()
}

// release lets the controls show and set both links again.
func (p *controlsPane) release() {
	p.scope.way = bothDirections
	p.relist()
}

// current returns the control under the cursor and its place.
func (p *controlsPane) current() (control, int, bool) {
	for i, c := range p.all {
		if c.word == p.chosen {
			return c, i, true
		}
	}
	if len(p.all) == 0 {
		return control{}, 0, false
	}
	return p.all[0], 0, true
}

// choose moves the cursor by n controls.
func (p *controlsPane) choose(n int) {
	_, at, ok := p.current()
	if !ok {
		return
	}
	p.chosen, p.moved = p.all[min(max(at+n, 0), len(p.all)-1)].word, true
}

// point puts the cursor on the control that the row of the picture shows.
func (p *controlsPane) point(y int) bool {
	if y < 0 || y >= len(p.rows) || p.rows[y] == "" {
		return false
	}
	p.chosen, p.moved = p.rows[y], true
	return true
}

// adjust returns the command that moves the control under the cursor n rungs.
func (p *controlsPane) adjust(n int) (experiment.Command, bool) {
	c, _, ok := p.current()
	switch {
	case !ok:
		return experiment.Command{}, false
	case c.word == "speed":
		v := stepSpeed(p.speed, n)
		return experiment.Command{Speed: &v}, v != p.speed
	case c.word == foldWord:
		if p.scope.more != (n > 0) {
			p.fold()
		}
		return experiment.Command{}, false
	case c.step == nil:
		return experiment.Command{}, false
	}
	return c.step(p.cfg, n)
}

// row is a line of the pane before it is known which of them fit.
type row struct {
	control *control
	text    []span
}

func (p *controlsPane) draw(c *canvas, th *theme, focused bool) {
	c.frame(th, focused, "Controls", p.aimed()...)
	p.rows = make([]string, c.h)
	if p.cfg == nil {
		return
	}
	room := c.h - 2 - p.explain(c)
	rows, at := p.layout(c.w-4, room)
	first := min(max(at-room/2, 0), max(len(rows)-room, 0))
	for y := 1; y <= room && first+y-1 < len(rows); y++ {
		r := rows[first+y-1]
		if r.control == nil {
			c.spans(2, y, c.w-4, r.text...)
			continue
		}
		p.rows[y] = r.control.word
		p.line(c, th, y, r.control)
	}
	if first > 0 {
		c.right(c.w-2, 0, inkDim, " more above ")
	}
	if first+room < len(rows) {
		c.right(c.w-2, c.h-1, inkDim, " more below ")
	}
}

// explain says at the foot of the pane what the control under the cursor is for,
// once the settings are in sight that are not for every day. It returns the rows
// that it took.
func (p *controlsPane) explain(c *canvas) int {
	const rows, least = 3, 20
	ctl, _, ok := p.current()
	if !ok || !p.scope.more || c.h < least {
		return 0
	}
	lines := wrap(ctl.help, c.w-4)
	if len(lines) > rows {
		lines = append(lines[:rows-1:rows-1], strings.Join(lines[rows-1:], " "))
	}
	for i, line := range lines {
		c.clip(2, c.h-1-rows+i, c.w-4, inkDim, line)
	}
	return rows
}

// aimed says which link the controls are for, if it is one; and that they are those
// of the present while somebody looks back.
func (p *controlsPane) aimed() []span {
	switch {
	case p.back:
		return []span{{inkWarn, "as they are now"}}
	case p.scope.way == downOnly:
		return []span{{inkWarn, "link down only"}, {inkDim, " to the receiver; d: up"}}
	case p.scope.way == upOnly:
		return []span{{inkWarn, "link up only"}, {inkDim, " back to the sender; d: both"}}
	}
	return nil
}

// aims says the same in a sentence.
func (p *controlsPane) aims() string {
	return "the controls set " + [...]string{bothDirections: "the links both ways", downOnly: "the link to the receiver only", upOnly: "the link back to the sender only"}[p.scope.way]
}

// layout lists the rows, airily if there is room for it, and says at which of
// them the cursor is.
func (p *controlsPane) layout(w, room int) (rows []row, at int) {
	all := p.all
	_, chosen, _ := p.current()
	summary := p.summary(w - 4)
	headings := len(all)+len(summary)+3 <= room
	if len(all)+len(summary) > room {
		summary = nil
	}
	group := ""
	for i := range all {
		if all[i].group != group && headings {
			group = all[i].group
			rows = append(rows, row{text: []span{{inkDim, group}}})
		}
		if i == chosen {
			at = len(rows)
		}
		rows = append(rows, row{control: &all[i]})
		if i == 0 {
			for _, line := range summary {
				rows = append(rows, row{text: []span{{inkDim, "    " + line}}})
			}
		}
	}
	if len(rows) < room {
		rows = append(rows, row{text: []span{{inkDim, "  Seed      "}, {inkPlain, strconv.FormatUint(p.cfg.Seed, 10)},
			{inkDim, "  fixed: it makes the run repeatable"}}})
	}
	return rows, at
}

// summary is what the encoder's author says about it.
func (p *controlsPane) summary(w int) []string {
	codec := p.cat.codec(p.cfg.Encoder.Name)
	if codec == nil {
		return nil
	}
	lines := wrap(codec.Summary, w)
	return lines[:min(len(lines), 2)]
}

// brief says in one line what the control under the cursor is for, and shows the
// control itself where the pane is out of sight.
func (p *controlsPane) brief(c *canvas, th *theme, y int, whole bool) {
	ctl, _, ok := p.current()
	if !ok {
		return
	}
	help := ctl.help
	if codec := p.cat.codec(p.cfg.Encoder.Name); ctl.word == "encoder" && codec != nil {
		help = codec.Summary
	}
	x := 2
	if whole {
		x = p.line(c, th, y, &ctl) + 2
	}
	c.clip(x, y, c.w-x-1, inkDim, help)
}
