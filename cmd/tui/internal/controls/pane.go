package controls

import (
	"slices"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/live"
)

// Pane lists the controls, with a cursor on one of them.
type Pane struct {
	Cat    *Catalog
	Of     string         // whose links the controls set, for the title; "" on screens with one pair of links
	chosen string         // the command of the selected control; "" means the first
	cfg    *config.Config // a copy of the current settings; nil before the first input
	schema *frame.Schema
	all    []control // all controls, from top to bottom
	scope  scope     // which controls are shown, and which link they set
	speed  float64   // of virtual time; 0 means as fast as possible
	dirty  bool      // whether the pane must be drawn again after a key
	past   bool      // whether the time cursor is in the past; the controls show the current settings
	rows   []string  // for each row, the command of the control that Draw put there; "" for none
	first  int       // index of the first visible row; Draw changes it only to make the selected control visible
}

func (p *Pane) Name() string { return "Controls" }

// Observe implements room.Observer. Settings that cannot change during a run do not appear in the pane.
func (p *Pane) Observe(v room.View) bool {
	same := p.cfg != nil && p.speed == v.Speed && p.schema == v.Snap.Schema && (p.cfg == v.Cfg || p.cfg.SameLive(v.Cfg))
	changed := !same || p.dirty || p.past != v.Past
	if !same {
		p.cfg, p.schema, p.speed = v.Cfg.Clone(), v.Snap.Schema, v.Speed
		p.rebuild()
	}
	p.past, p.dirty = v.Past, false
	return changed
}

// rebuild lists the controls again, after a change of the configuration, the schema or the scope.
func (p *Pane) rebuild() {
	if p.cfg != nil {
		p.all = p.Cat.buildControls(p.cfg, p.schema, p.scope)
	}
	p.dirty = true
}

// fold hides the less used settings, or shows them if they are hidden.
func (p *Pane) fold() {
	p.scope.more = !p.scope.more
	p.rebuild()
}

// Aim switches the direction that the controls show and set: both, down, up, both. The notice is for small screens, which
// show the direction nowhere else.
func (p *Pane) Aim() room.Request {
	p.scope.direction = (p.scope.direction + 1) % (config.UpOnly + 1)
	p.rebuild()
	return room.Request{Notice: p.directionText()}
}

// Release makes the controls show and set both links.
func (p *Pane) Release() room.Request {
	p.scope.direction = config.BothDirections
	p.rebuild()
	return room.Request{}
}

func (p *Pane) Arrows() [][2]string { return [][2]string{{"↑↓", "select"}, {"←→", "adjust"}} }

func (p *Pane) KeyHelp(key string) string {
	return map[string]string{"up": "select a control", "left": "less, more", "[": "much less, much more",
		"enter": "type an exact value, or choose from a list", "d": "which link the controls set: both, down, up",
		"esc": "clear the selection; set both links"}[key]
}

// current returns the selected control and its index in p.all, or nil if there are no controls.
func (p *Pane) current() (*control, int) {
	if len(p.all) == 0 {
		return nil, 0
	}
	index := max(slices.IndexFunc(p.all, func(c control) bool { return c.Short == p.chosen }), 0)
	return &p.all[index], index
}

// moveCursor moves the selection n controls down, or up if n is negative.
func (p *Pane) moveCursor(n int) {
	if c, index := p.current(); c != nil {
		p.chosen, p.dirty = p.all[min(max(index+n, 0), len(p.all)-1)].Short, true
	}
}

// selectAt selects the control on row y. It reports whether that row has a control.
func (p *Pane) selectAt(y int) bool {
	if y < 0 || y >= len(p.rows) || p.rows[y] == "" {
		return false
	}
	p.chosen, p.dirty = p.rows[y], true
	return true
}

// row is a line of the pane: a control or, if control is nil, text.
type row struct {
	control *control
	text    []look.Span
}

// Draw implements room.Pane. It stores in p.rows which control each row shows, for clicks.
func (p *Pane) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, "Controls"+p.Of, p.linkNote()...)
	p.rows = make([]string, c.H)
	if p.cfg == nil {
		return
	}
	visibleRows := c.H - 2 - p.drawHelp(c) // without the frame
	rows, cursorRow := p.layout(c.W-4, visibleRows)
	// A click or the wheel selects a control that is visible already: the list then stays under the pointer.
	first := min(max(p.first, cursorRow-visibleRows+1), cursorRow, max(len(rows)-visibleRows, 0))
	p.first = first
	for y := 1; y <= visibleRows && first+y-1 < len(rows); y++ {
		r := rows[first+y-1]
		if r.control == nil {
			c.Spans(2, y, c.W-4, r.text...)
			continue
		}
		p.rows[y] = r.control.Short
		p.drawControl(c, th, y, r.control)
	}
	if first > 0 {
		c.TextRight(c.W-2, 0, look.Dim, " more above ")
	}
	if first+visibleRows < len(rows) {
		c.TextRight(c.W-2, c.H-1, look.Dim, " more below ")
	}
}

// drawHelp draws the help of the selected control at the bottom of the pane, if the less used
// settings are shown, whose names do not explain them, and the pane is high enough. It returns the
// number of rows that the help takes, or 0.
func (p *Pane) drawHelp(c *look.Canvas) int {
	const rows, minHeight = 3, 20
	ctl, _ := p.current()
	if ctl == nil || !p.scope.more || c.H < minHeight {
		return 0
	}
	for i, line := range look.WrapRows(ctl.Help, c.W-4, rows) {
		c.Clip(2, c.H-1-rows+i, c.W-4, look.Dim, line)
	}
	return rows
}

// linkNote returns a note for the title: that the settings are the current ones while the time
// cursor is in the past, or which single link the controls set; nil if neither applies.
func (p *Pane) linkNote() []look.Span {
	switch {
	case p.past:
		return []look.Span{look.Warn.Span("current settings")}
	case p.scope.direction == config.BothDirections:
		return nil
	}
	only := look.Warn.Span("link " + p.scope.direction.String() + " only")
	if p.Of != "" { // the title has no space for more
		return []look.Span{only}
	}
	// The key d selects the next direction: both, down, up.
	keyHint := map[config.Direction]string{config.DownOnly: "; d: up", config.UpOnly: "; d: both"}[p.scope.direction]
	return []look.Span{only, look.Dim.Span(" " + p.Cat.linkTarget(p.scope.direction) + keyHint)}
}

// directionText returns a sentence that names the links that the controls set.
func (p *Pane) directionText() string {
	if p.scope.direction == config.BothDirections {
		return "the controls set both links"
	}
	return "the controls set only the link " + p.Cat.linkTarget(p.scope.direction)
}

// layout returns the rows of the pane for w columns and maxRows rows. It omits the headings of groups
// if not everything fits, and also the encoder's summary if the controls and the summary do not
// fit. cursorRow is the index of the selected row.
func (p *Pane) layout(w, maxRows int) (rows []row, cursorRow int) {
	controls := p.all
	_, selected := p.current()
	summary := p.summary(w - 4)
	const numHeadings = 2 // "Link" and "Run"
	showHeadings := len(controls)+len(summary)+numHeadings <= maxRows
	if len(controls)+len(summary) > maxRows {
		summary = nil
	}
	group := ""
	for i := range controls {
		if controls[i].group != group && showHeadings {
			group = controls[i].group
			rows = append(rows, row{text: []look.Span{look.Dim.Span(group)}})
		}
		if i == selected {
			cursorRow = len(rows)
		}
		rows = append(rows, row{control: &controls[i]})
		if i == 0 { // the control of the encoder, which has the summary below it
			for _, line := range summary {
				rows = append(rows, row{text: []look.Span{look.Dim.Span("    " + line)}})
			}
		}
	}
	return rows, cursorRow
}

// summary returns the first two lines of the encoder's summary, wrapped to w columns.
func (p *Pane) summary(w int) []string {
	codec := p.Cat.Codec(p.cfg.Encoder.Name)
	if codec == nil {
		return nil
	}
	lines := look.Wrap(codec.Summary, w)
	return lines[:min(len(lines), 2)]
}

// Line returns a line with the help of the selected control for small screens. While page shows another pane, the line
// begins with the control.
func (p *Pane) Line(page *room.Page) *room.Slot { return room.NewSlot(&helpLine{p, page}) }

type helpLine struct {
	controls *Pane
	page     *room.Page
}

func (l *helpLine) Name() string { return "Help" }

func (l *helpLine) Draw(c *look.Canvas, th *look.Theme, _ bool) {
	p := l.controls
	withControl := l.page.Focused().Pane != room.Pane(p)
	ctl, _ := p.current()
	if ctl == nil {
		return
	}
	help := ctl.Help
	if codec := p.Cat.Codec(p.cfg.Encoder.Name); ctl.Short == "encoder" && codec != nil {
		help = codec.Summary
	}
	x := 2
	if withControl {
		x = p.drawControl(c, th, 0, ctl) + 2
	}
	c.Clip(x, 0, c.W-x-1, look.Dim, help)
}

// Move handles the arrow keys: it moves the selection dy controls down, and changes the value of the selected
// control by dx steps. On the control that folds the less used settings, it shows or hides them. If the value
// cannot change, the request has the reason.
func (p *Pane) Move(dx, dy int) room.Request {
	if dy != 0 {
		p.moveCursor(dy)
	}
	c, _ := p.current()
	limit := "largest"
	if dx < 0 {
		limit = "smallest"
	}
	switch {
	case dx == 0 || c == nil:
		return room.Request{}
	case c.Short == speedCommand:
		if v := StepSpeed(p.speed, dx); v != p.speed {
			return room.Request{Command: &live.Command{Speed: &v}}
		}
	case c.Short == foldCommand:
		if p.scope.more == (dx < 0) {
			p.fold()
		}
		return room.Request{}
	case !c.canStep(p.cfg):
		return room.Refusal(c.Label + " has no steps; enter types a value")
	default:
		if cmd, ok := c.stepCommand(p.cfg, dx); ok {
			return room.Request{Command: &cmd}
		}
	}
	return room.Refusal(c.Label + " has its " + limit + " value")
}

// Enter returns the request to open a list of the values of the selected control, or a line to type
// the value if there is no list. On the control that folds the less used settings, it shows or
// hides them.
func (p *Pane) Enter() room.Request {
	c, _ := p.current()
	switch {
	case c == nil:
		return room.Request{}
	case c.Short == foldCommand:
		p.fold()
		return room.Request{}
	case c.Key == "encoder.name", c.Key == "profile":
		return room.Request{Line: c.Short}
	case len(c.Options) > 0:
		return room.Request{Overlay: c.newPicker(p.cfg)}
	}
	return room.Request{Edit: c.typedPrefix() + " " + c.edit}
}

// Wheel selects the control on row y and changes its value by the given number of steps. It does nothing on rows
// without a setting.
func (p *Pane) Wheel(_, y, steps int) room.Request {
	if y < 0 || y >= len(p.rows) || p.rows[y] == foldCommand || !p.selectAt(y) {
		return room.Request{}
	}
	return p.Move(steps, 0)
}

// Click selects the control on row y. A second click on the row of the less used settings shows
// or hides them.
func (p *Pane) Click(_, y int) room.Request {
	before := p.chosen
	if p.selectAt(y) && p.chosen == foldCommand && before == foldCommand {
		p.fold()
	}
	return room.Request{}
}
