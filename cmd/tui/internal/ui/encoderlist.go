package ui

import (
	"fmt"
	"strings"

	"wirelab/experiment/config"

	"wirelab/encoders"

	tea "github.com/charmbracelet/bubbletea"
)

// encoderCard is what the list of encoders says about the one under the cursor:
// its idea, whose it is, and its params, which can be set there and then.
type encoderCard struct {
	cat    *catalog
	cfg    *config.Config // as desired
	inside bool           // the keys are for the params
	at     int            // the param under the cursor
	typing bool
	input  editor
	err    string
}

// openEncoders opens the list of encoders.
func (m *Model) openEncoders() {
	cfg := m.want.config(m.snap)
	c := m.cat.encoderControl(m.snap.Schema)
	m.over = c.list(cfg)
}

// params lists the params of the encoder of a name.
func (e *encoderCard) params(name string) []encoders.ParamInfo {
	if codec := e.cat.codec(name); codec != nil {
		return codec.ParamInfo()
	}
	return nil
}

// value is what a param of an encoder stands at, or would begin with.
func (e *encoderCard) value(name string, info encoders.ParamInfo) any {
	if v, ok := e.cfg.Encoder.Params[info.Name]; ok && e.cfg.Encoder.Name == name {
		return v
	}
	return info.Default
}

// cardKey handles a key in the list of encoders; false if the list itself should.
func (m *Model) cardKey(p *picker, msg tea.KeyMsg) bool {
	e := p.card
	name, ok := p.picked()
	if !ok {
		return false
	}
	switch {
	case e.typing:
		m.typeParam(p, name, msg)
	case e.inside:
		m.keyInCard(p, name, msg)
	case msg.Type == tea.KeyTab && len(e.params(name)) > 0:
		e.inside, e.at = true, 0
	case msg.Type == tea.KeySpace && p.filter == "":
		m.setFromCard(p, config.Change{Encoder: name})
	default:
		return false
	}
	return true
}

// keyInCard handles a key among the params.
func (m *Model) keyInCard(p *picker, name string, msg tea.KeyMsg) {
	e := p.card
	list := e.params(name)
	e.err = ""
	switch step := overlayStep(msg); {
	case step != 0:
		e.at = min(max(e.at+step, 0), len(list)-1)
	case msg.Type == tea.KeyEsc, msg.Type == tea.KeyTab, msg.Type == tea.KeyShiftTab:
		e.inside = false
	case msg.Type == tea.KeyLeft, msg.Type == tea.KeyRight:
		n := 1
		if msg.Type == tea.KeyLeft {
			n = -1
		}
		now := e.value(name, list[e.at])
		if next := stepParam(list[e.at], now, n); next != now {
			m.setParam(p, name, next)
		}
	case msg.Type == tea.KeyEnter:
		e.typing = true
		e.input.set(fmt.Sprint(e.value(name, list[e.at])))
	case msg.Type == tea.KeyRunes:
		e.typing = true
		e.input.set(string(msg.Runes))
	}
}

// typeParam handles a key while a value is typed; on a mistake the value stays to
// be mended.
func (m *Model) typeParam(p *picker, name string, msg tea.KeyMsg) {
	e := p.card
	switch msg.Type {
	case tea.KeyEsc:
		e.typing, e.err = false, ""
	case tea.KeyEnter:
		m.setParam(p, name, strings.TrimSpace(e.input.String()))
		e.typing = e.err != ""
	default:
		e.err = ""
		e.input.key(msg)
	}
}

// setParam sets the param under the cursor, and takes the encoder if it is not
// the one that runs.
func (m *Model) setParam(p *picker, name string, v any) {
	e := p.card
	ch := config.Change{Params: map[string]any{e.params(name)[e.at].Name: v}}
	if e.cfg.Encoder.Name != name {
		ch.Encoder = name
	}
	m.setFromCard(p, ch)
}

// setFromCard carries a change out and shows what it did; the list stays open.
func (m *Model) setFromCard(p *picker, ch config.Change) {
	p.card.err = ""
	if err := m.obey(changeCommand(ch)); err != nil {
		p.card.err = err.Error()
		return
	}
	p.card.cfg = m.want.config(m.snap)
	p.now = p.card.cfg.Encoder.Name
	m.page().observe(m.sight(false))
}

// draw writes the card of an encoder into w columns and at most h rows.
func (e *encoderCard) draw(c *canvas, th *theme, x, y, w, h int, name string) {
	codec := e.cat.codec(name)
	if codec == nil {
		return
	}
	end := y + h
	for _, line := range wrap(codec.Summary, w) {
		c.clip(x, y, w, inkPlain, line)
		y++
	}
	for _, line := range wrap("source: "+codec.Source, w) {
		if codec.Source != "" && y < end {
			c.clip(x, y, w, inkDim, line)
			y++
		}
	}
	list := e.params(name)
	y++
	if len(list) == 0 {
		c.clip(x, y, w, inkDim, "it has no parameters")
		return
	}
	hint := "tab goes to the parameters"
	if e.inside {
		hint = "←→ adjust, or type a value; esc leaves them"
	}
	c.clip(x, y, w, inkDim, hint)
	foot, k := e.foot(list, w)
	room := end - y - 1 - len(foot)
	first := min(max(e.at-room/2, 0), max(len(list)-room, 0))
	for i := first; i < len(list) && i-first < room; i++ {
		y++
		e.row(c, th, x, y, w, name, i, list[i])
	}
	for i, line := range foot {
		c.clip(x, y+1+i, w, k, line)
	}
}

// foot is what stands below the params: what is wrong with a value, or what the
// one under the cursor is.
func (e *encoderCard) foot(list []encoders.ParamInfo, w int) ([]string, ink) {
	const rows = 3
	if !e.inside {
		return nil, inkDim
	}
	text, k := list[e.at].Name+": "+list[e.at].Help, inkDim
	if e.err != "" {
		text, k = e.err, inkBad
	}
	lines := wrap(text, w)
	return lines[:min(len(lines), rows)], k
}

// row draws one param: its name, its value, its bounds, what it is.
func (e *encoderCard) row(c *canvas, th *theme, x, y, w int, name string, i int, info encoders.ParamInfo) {
	k, v := inkDim, inkValue
	here := e.inside && i == e.at
	if here {
		k, v = inkChosen, inkChosen
		c.text(x, y, inkChosen, th.chosen)
	}
	const label, value = 18, 8
	c.clip(x+2, y, label, k, info.Name)
	if here && e.typing {
		at := c.clip(x+2+label+1, y, value+8, inkValue, e.input.String())
		c.text(at, y, inkCursor, "_")
		return
	}
	c.right(x+2+label+value, y, v, fmt.Sprint(e.value(name, info)))
	at := x + 2 + label + value + 1
	at = c.clip(at, y, x+w-at, inkDim, info.Unit) + 1
	if info.Min != nil && info.Max != nil {
		at = c.clip(at, y, x+w-at, inkFaint, fmt.Sprintf("%g..%g ", *info.Min, *info.Max))
	}
	if !e.inside {
		c.clip(at, y, x+w-at, inkDim, info.Help)
	}
}
