package ui

import (
	"strconv"
	"strings"

	"wirelab/dataset/frame"
	"wirelab/experiment"
)

// controlsPane shows what can be adjusted, with a cursor on one of them.
type controlsPane struct {
	cat    *catalog
	chosen string // the word of the control under the cursor
	cfg    *experiment.Config
	schema *frame.Schema
	all    []control // from top to bottom
	speed  float64
	moved  bool
	rows   []string // the word of the control on each row of the last picture, "" for none
}

func (p *controlsPane) name() string { return "Controls" }

func (p *controlsPane) observe(v sight) bool {
	same := p.cfg != nil && p.speed == v.speed && p.schema == v.snap.Schema && (p.cfg == v.cfg || sameSettings(p.cfg, v.cfg))
	if same && !p.moved {
		return false
	}
	if !same {
		p.cfg, p.schema, p.speed = v.cfg.Clone(), v.snap.Schema, v.speed
		p.all = p.cat.controls(p.cfg, p.schema)
	}
	p.moved = false
	return true
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
	}
	return c.step(p.cfg, n)
}

// row is a line of the pane before it is known which of them fit.
type row struct {
	control *control
	text    []span
}

func (p *controlsPane) draw(c *canvas, th *theme, focused bool) {
	c.frame(th, focused, "Controls")
	p.rows = make([]string, c.h)
	if p.cfg == nil {
		return
	}
	room := c.h - 2
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

// line draws one control: cursor, name, value, and a gauge of where it stands
// between its least and its most. It returns the column after them.
func (p *controlsPane) line(c *canvas, th *theme, y int, ctl *control) int {
	label, value := inkDim, inkValue
	if cur, _, _ := p.current(); cur.word == ctl.word {
		label, value = inkChosen, inkChosen
		c.text(2, y, inkChosen, th.chosen)
	}
	text, name := ctl.label, 12
	if ctl.sub {
		text = th.dot + " " + text
		name = max(name, p.longestSub()+6)
	}
	c.clip(4, y, c.w-5, label, text)
	x := 2 + name
	if ctl.choices != nil {
		return c.clip(x, y, c.w-2-x, value, ctl.value(p.cfg))
	}
	shown := speedText(th, p.speed)
	if ctl.value != nil {
		shown = ctl.value(p.cfg)
	}
	return p.number(c, th, x, y, value, shown, ctl)
}

// number draws a value that has a unit and perhaps a gauge, and beside it that of
// the other direction if it is another.
func (p *controlsPane) number(c *canvas, th *theme, x, y int, k ink, shown string, ctl *control) int {
	const digits, units, gauge = 7, 7, 14
	n, unit := splitUnit(shown)
	if n == "" {
		n, unit = unit, ""
	}
	c.right(x+digits, y, k, n)
	end := c.clip(x+digits+1, y, c.w-2-x-digits-1, inkDim, unit)
	if x = max(x+digits+units, end+1); ctl.level != nil && x+gauge < c.w-2 {
		p.gauge(c, th, x, y, gauge, ctl.level(p.cfg))
		end = x + gauge
		x = end + 2
	}
	if ctl.other != nil && ctl.other(p.cfg) != "" {
		n, unit := splitUnit(ctl.other(p.cfg))
		end = c.clip(x, y, c.w-2-x, inkDim, strings.TrimRight(th.up+" "+n+" "+unit, " "))
	}
	return end
}

// longestSub is the width of the longest label of a param.
func (p *controlsPane) longestSub() int {
	n := 0
	for _, c := range p.all {
		if c.sub {
			n = max(n, textWidth(c.label))
		}
	}
	return n
}

func (p *controlsPane) gauge(c *canvas, th *theme, x, y, w int, level float64) {
	on := int(level*float64(w) + 0.5)
	c.fill(x, y, w, inkFaint, th.gaugeOff)
	c.fill(x, y, min(max(on, 0), w), inkGauge, th.gaugeOn)
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
