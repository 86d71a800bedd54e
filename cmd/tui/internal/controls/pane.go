package controls

import (
	"slices"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/experiment"
	"wirelab/experiment/config"
)

// Pane shows what can be adjusted, with a cursor on one of them.
type Pane struct {
	Cat    *Catalog
	chosen string // the word of the control under the cursor
	cfg    *config.Config
	schema *frame.Schema
	all    []control // from top to bottom
	scope  scope
	speed  float64
	moved  bool
	back   bool     // the screen shows the past; the controls do not
	rows   []string // the word of the control on each row of the last picture, "" for none
}

// Name implements room.Pane.
func (p *Pane) Name() string { return "Controls" }

// Input is what the controls show.
type Input struct {
	Config *config.Config
	Schema *frame.Schema // of the frames; nil if there are none
	Speed  float64       // of virtual time; 0 is as fast as it can
	Back   bool          // the screen shows the past; the controls do not
}

// Observe implements room.Pane.
func (p *Pane) Observe(v room.View) bool {
	return p.Show(Input{Config: v.Cfg, Schema: v.Snap.Schema, Speed: v.Speed, Back: v.Back})
}

// Show sets what the controls show, and reports whether their picture would be another.
func (p *Pane) Show(in Input) bool {
	same := p.cfg != nil && p.speed == in.Speed && p.schema == in.Schema && (p.cfg == in.Config || p.cfg.SameLive(in.Config))
	if same && !p.moved && p.back == in.Back {
		return false
	}
	p.back = in.Back
	if !same {
		p.cfg, p.schema, p.speed = in.Config.Clone(), in.Schema, in.Speed
		p.relist()
	}
	p.moved = false
	return true
}

// relist makes the controls again.
func (p *Pane) relist() {
	if p.cfg != nil {
		p.all = p.Cat.controls(p.cfg, p.schema, p.scope)
	}
	p.moved = true
}

// fold folds the less used settings away, or unfolds them.
func (p *Pane) fold() {
	p.scope.more = !p.scope.more
	p.relist()
}

// Aim lets the controls show and set the next of three: both links, the link to
// the receiver, the link back.
func (p *Pane) Aim() {
	p.scope.way = (p.scope.way + 1) % (config.UpOnly + 1)
	p.relist()
}

// Release lets the controls show and set both links again.
func (p *Pane) Release() {
	p.scope.way = config.BothWays
	p.relist()
}

// current returns the control under the cursor and its place; nil if there is none.
func (p *Pane) current() (*control, int) {
	if len(p.all) == 0 {
		return nil, 0
	}
	at := max(slices.IndexFunc(p.all, func(c control) bool { return c.word == p.chosen }), 0)
	return &p.all[at], at
}

// choose moves the cursor by n controls.
func (p *Pane) choose(n int) {
	if c, at := p.current(); c != nil {
		p.chosen, p.moved = p.all[min(max(at+n, 0), len(p.all)-1)].word, true
	}
}

// point puts the cursor on the control that the row of the picture shows.
func (p *Pane) point(y int) bool {
	if y < 0 || y >= len(p.rows) || p.rows[y] == "" {
		return false
	}
	p.chosen, p.moved = p.rows[y], true
	return true
}

// adjust returns the command that moves the control under the cursor n rungs.
func (p *Pane) adjust(n int) (experiment.Command, bool) {
	c, _ := p.current()
	switch {
	case c == nil:
		return experiment.Command{}, false
	case c.word == speedWord:
		v := StepSpeed(p.speed, n)
		return experiment.Command{Speed: &v}, v != p.speed
	case c.word == foldWord:
		if p.scope.more != (n > 0) {
			p.fold()
		}
		return experiment.Command{}, false
	}
	return c.command(p.cfg, n)
}

// row is a line of the pane before it is known which of them fit.
type row struct {
	control *control
	text    []look.Span
}

// Draw implements room.Pane.
func (p *Pane) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, "Controls", p.aimed()...)
	p.rows = make([]string, c.H)
	if p.cfg == nil {
		return
	}
	room := c.H - 2 - p.explain(c)
	rows, at := p.layout(c.W-4, room)
	first := min(max(at-room/2, 0), max(len(rows)-room, 0))
	for y := 1; y <= room && first+y-1 < len(rows); y++ {
		r := rows[first+y-1]
		if r.control == nil {
			c.Spans(2, y, c.W-4, r.text...)
			continue
		}
		p.rows[y] = r.control.word
		p.line(c, th, y, r.control)
	}
	if first > 0 {
		c.Right(c.W-2, 0, look.Dim, " more above ")
	}
	if first+room < len(rows) {
		c.Right(c.W-2, c.H-1, look.Dim, " more below ")
	}
}

// explain writes the help of the control under the cursor at the bottom of the pane,
// while the less used settings are unfolded. It returns the number of rows written.
func (p *Pane) explain(c *look.Canvas) int {
	const rows, least = 3, 20
	ctl, _ := p.current()
	if ctl == nil || !p.scope.more || c.H < least {
		return 0
	}
	lines := look.Wrap(ctl.Help, c.W-4)
	if len(lines) > rows {
		lines = append(lines[:rows-1:rows-1], strings.Join(lines[rows-1:], " "))
	}
	for i, line := range lines {
		c.Clip(2, c.H-1-rows+i, c.W-4, look.Dim, line)
	}
	return rows
}

// aimed is the title's note on the link that the controls set, if it is one only. While the
// screen shows the past it is that the settings shown are those of the present.
func (p *Pane) aimed() []look.Span {
	switch {
	case p.back:
		return []look.Span{look.Warn.Span("as they are now")}
	case p.scope.way == config.BothWays:
		return nil
	}
	next := map[config.Way]string{config.DownOnly: "; d: up", config.UpOnly: "; d: both"}[p.scope.way]
	return []look.Span{look.Warn.Span("link " + p.scope.way.String() + " only"),
		look.Dim.Span(" " + p.Cat.end(p.scope.way) + next)}
}

// Aims says the same in a sentence.
func (p *Pane) Aims() string {
	if p.scope.way == config.BothWays {
		return "the controls set the links both ways"
	}
	return "the controls set the link " + p.Cat.end(p.scope.way) + " only"
}

// layout lists the rows, with headings if there is room for them; at is the row of the cursor.
func (p *Pane) layout(w, room int) (rows []row, at int) {
	all := p.all
	_, chosen := p.current()
	summary := p.summary(w - 4)
	headings := len(all)+len(summary)+2 <= room
	if len(all)+len(summary) > room {
		summary = nil
	}
	group := ""
	for i := range all {
		if all[i].group != group && headings {
			group = all[i].group
			rows = append(rows, row{text: []look.Span{look.Dim.Span(group)}})
		}
		if i == chosen {
			at = len(rows)
		}
		rows = append(rows, row{control: &all[i]})
		if i == 0 {
			for _, line := range summary {
				rows = append(rows, row{text: []look.Span{look.Dim.Span("    " + line)}})
			}
		}
	}
	return rows, at
}

// summary is the summary of the encoder, on at most two lines.
func (p *Pane) summary(w int) []string {
	codec := p.Cat.Codec(p.cfg.Encoder.Name)
	if codec == nil {
		return nil
	}
	lines := look.Wrap(codec.Summary, w)
	return lines[:min(len(lines), 2)]
}

// Brief writes the help of the control under the cursor on one line, behind the
// control itself if whole.
func (p *Pane) Brief(c *look.Canvas, th *look.Theme, y int, whole bool) {
	ctl, _ := p.current()
	if ctl == nil {
		return
	}
	help := ctl.Help
	if codec := p.Cat.Codec(p.cfg.Encoder.Name); ctl.word == "encoder" && codec != nil {
		help = codec.Summary
	}
	x := 2
	if whole {
		x = p.line(c, th, y, ctl) + 2
	}
	c.Clip(x, y, c.W-x-1, look.Dim, help)
}

// Turn is the arrow keys on the controls: up and down choose one, left and right
// adjust it.
func (p *Pane) Turn(dx, dy int) room.Request {
	if dy != 0 {
		p.choose(dy)
	}
	if dx != 0 {
		if cmd, ok := p.adjust(dx); ok {
			return room.Request{Command: &cmd}
		}
	}
	return room.Request{}
}

// Enter opens what the control under the cursor may be set to: a list, or a line to
// type in.
func (p *Pane) Enter() room.Request {
	c, _ := p.current()
	switch {
	case c == nil:
		return room.Request{}
	case c.word == foldWord:
		p.fold()
		return room.Request{}
	case c.Key == "encoder.name":
		return room.Request{Over: p.Cat.EncoderList(p.cfg, p.schema)}
	case len(c.Options) > 0:
		return room.Request{Over: c.list(p.cfg)}
	}
	line := c.typed() + " "
	if c.now != nil {
		line += c.now(p.cfg)
	}
	return room.Request{Edit: line}
}

// Click selects the control on a row; a second click opens the fold.
func (p *Pane) Click(y int) {
	before := p.chosen
	if p.point(y) && p.chosen == foldWord && before == foldWord {
		p.fold()
	}
}
