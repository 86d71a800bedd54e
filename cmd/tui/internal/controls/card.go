package controls

import (
	"strings"

	"wirelab/experiment/config"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"

	tea "github.com/charmbracelet/bubbletea"
)

// encoderCard describes the encoder under the cursor of the list of encoders:
// its idea, its source, and its params, which can be set in place.
type encoderCard struct {
	cat    *Catalog
	cfg    *config.Config // as asked for
	inside bool           // the keys are for the params
	at     int            // the param under the cursor
	typing bool
	input  Editor
	err    string
}

// params lists the parameters of an encoder.
func (e *encoderCard) params(name string) (list []config.Row) {
	if codec := e.cat.Codec(name); codec != nil {
		for _, info := range codec.ParamInfo() {
			list = append(list, config.ParamRow(info))
		}
	}
	return list
}

// with returns the configuration in which the encoder of a name runs.
func (e *encoderCard) with(name string) *config.Config {
	if e.cfg.Encoder.Name == name {
		return e.cfg
	}
	return &config.Config{Encoder: config.Encoder{Name: name}}
}

// cardKey handles a key in the list of encoders; false if the list itself should.
func (p *picker) cardKey(msg tea.KeyMsg) (room.Request, bool) {
	e := p.card
	name, ok := p.picked()
	switch {
	case !ok:
	case e.typing:
		return p.typeParam(name, msg), true
	case e.inside:
		return p.keyInCard(name, msg), true
	case msg.Type == tea.KeyTab && len(e.params(name)) > 0:
		e.inside, e.at = true, 0
		return room.Request{}, true
	case msg.Type == tea.KeySpace: // no name has one
		return p.setFromCard(config.NewChange("encoder.name", name)), true
	}
	return room.Request{}, false
}

// keyInCard handles a key among the params.
func (p *picker) keyInCard(name string, msg tea.KeyMsg) room.Request {
	e := p.card
	list := e.params(name)
	e.err = ""
	switch step := room.ListStep(msg); {
	case step != 0:
		e.at = min(max(e.at+step, 0), len(list)-1)
	case msg.Type == tea.KeyEsc, msg.Type == tea.KeyTab, msg.Type == tea.KeyShiftTab:
		e.inside = false
	case msg.Type == tea.KeyLeft, msg.Type == tea.KeyRight:
		n := 1
		if msg.Type == tea.KeyLeft {
			n = -1
		}
		if list[e.at].Step != nil {
			if next, ok := list[e.at].Step(e.with(name), n); ok {
				return p.setParam(name, next)
			}
		}
	case msg.Type == tea.KeyEnter:
		e.typing = true
		e.input.Set(list[e.at].Text(e.with(name)))
	case msg.Type == tea.KeyRunes:
		e.typing = true
		e.input.Set(string(msg.Runes))
	}
	return room.Request{}
}

// typeParam handles a key while a value is typed; on a mistake the value stays to
// be mended.
func (p *picker) typeParam(name string, msg tea.KeyMsg) room.Request {
	e := p.card
	switch msg.Type {
	case tea.KeyEsc:
		e.typing, e.err = false, ""
	case tea.KeyEnter:
		return p.setParam(name, strings.TrimSpace(e.input.String()))
	default:
		e.err = ""
		e.input.Key(msg)
	}
	return room.Request{}
}

// setParam sets the param under the cursor, and takes the encoder if it is not
// the one that runs.
func (p *picker) setParam(name string, v any) room.Request {
	e := p.card
	ch := config.NewChange(e.params(name)[e.at].Key, v)
	if e.cfg.Encoder.Name != name {
		ch = config.NewChange("encoder.name", name).Then(ch)
	}
	return p.setFromCard(ch)
}

// setFromCard asks for a change; the list stays open and shows what it did.
func (p *picker) setFromCard(ch config.Change) room.Request {
	e := p.card
	e.err = ""
	r := room.Change(ch)
	r.Accepted = func(cfg *config.Config) { e.cfg, p.now, e.typing = cfg, cfg.Encoder.Name, false }
	r.Refused = func(err error) { e.err = err.Error() }
	return r
}

// draw writes the card of an encoder into w columns and at most h rows.
func (e *encoderCard) draw(c *look.Canvas, th *look.Theme, x, y, w, h int, name string) {
	codec := e.cat.Codec(name)
	if codec == nil {
		return
	}
	end := y + h
	for _, line := range look.Wrap(codec.Summary, w) {
		c.Clip(x, y, w, look.Plain, line)
		y++
	}
	for _, line := range look.Wrap("source: "+codec.Source, w) {
		if codec.Source != "" && y < end {
			c.Clip(x, y, w, look.Dim, line)
			y++
		}
	}
	list := e.params(name)
	y++
	if len(list) == 0 {
		c.Clip(x, y, w, look.Dim, "it has no parameters")
		return
	}
	hint := "tab goes to the parameters"
	if e.inside {
		hint = "←→ adjust, or type a value; esc leaves them"
	}
	c.Clip(x, y, w, look.Dim, hint)
	below, k := e.below(list, w)
	room := end - y - 1 - len(below)
	first := min(max(e.at-room/2, 0), max(len(list)-room, 0))
	for i := first; i < len(list) && i-first < room; i++ {
		y++
		e.row(c, th, x, y, w, name, i, list[i])
	}
	for i, line := range below {
		c.Clip(x, y+1+i, w, k, line)
	}
}

// below is what stands below the params: what is wrong with a value, or what the
// one under the cursor is.
func (e *encoderCard) below(list []config.Row, w int) ([]string, look.Ink) {
	const rows = 3
	if !e.inside {
		return nil, look.Dim
	}
	text, k := paramName(list[e.at])+": "+list[e.at].Help, look.Dim
	if e.err != "" {
		text, k = e.err, look.Bad
	}
	lines := look.Wrap(text, w)
	return lines[:min(len(lines), rows)], k
}

// row draws one param: its name, its value, its bounds, what it is.
func (e *encoderCard) row(c *look.Canvas, th *look.Theme, x, y, w int, name string, i int, r config.Row) {
	k, v := look.Dim, look.Value
	here := e.inside && i == e.at
	if here {
		k, v = look.Chosen, look.Chosen
		c.Text(x, y, look.Chosen, th.Chosen)
	}
	const label, value = 18, 8
	c.Clip(x+2, y, label, k, paramName(r))
	if here && e.typing {
		at := c.Clip(x+2+label+1, y, value+8, look.Value, e.input.String())
		c.Text(at, y, look.Cursor, "_")
		return
	}
	c.Right(x+2+label+value, y, v, r.Text(e.with(name)))
	at := x + 2 + label + value + 1
	at = c.Clip(at, y, x+w-at, look.Dim, r.Unit) + 1
	if r.Min != "" {
		at = c.Clip(at, y, x+w-at, look.Faint, r.Min+".."+r.Max+" ")
	}
	if !e.inside {
		c.Clip(at, y, x+w-at, look.Dim, r.Help)
	}
}

// paramName is the name of the parameter that a row sets.
func paramName(r config.Row) string { return strings.TrimPrefix(r.Key, "encoder.params.") }
