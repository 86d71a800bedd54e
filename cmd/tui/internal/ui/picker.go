package ui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/experiment"
)

// picker is a list to choose one name from. Typing narrows it.
type picker struct {
	title  string
	word   string // the command that takes the name
	all    []choice
	now    string // the name that holds at present
	begins bool   // the name only begins a line, to be typed on
	filter string
	at     int
	tall   bool // what is said about a name stands below the list

	beside  []string            // encoders that run as shadows; nil: it is no list of encoders
	card    *encoderCard        // about the encoder under the cursor; nil: it is no list of encoders
	preview previewer           // of the name under the cursor; nil: none
	seen    map[sample][]string // previews made so far
}

// previewer says in lines of at most w columns what a name stands for.
type previewer func(name string, w int, ascii bool) []string

// sample names a preview.
type sample struct {
	name  string
	w     int
	ascii bool
}

// minPreview is the least columns in which a preview says anything.
const minPreview = 40

func newPicker(title, word string, list []choice, now string) *picker {
	p := &picker{title: title, word: word, all: list, now: now}
	p.at = max(slices.IndexFunc(list, func(c choice) bool { return c.name == now }), 0)
	return p
}

// list returns the choices that match what was typed.
func (p *picker) list() []choice {
	if p.filter == "" {
		return p.all
	}
	var out []choice
	for _, c := range p.all {
		if strings.Contains(strings.ToLower(c.name+" "+c.summary), p.filter) {
			out = append(out, c)
		}
	}
	return out
}

// move moves the cursor by n.
func (p *picker) move(n int) { p.at = min(max(p.at+n, 0), max(len(p.list())-1, 0)) }

// narrow changes the filter.
func (p *picker) narrow(filter string) { p.filter, p.at = strings.ToLower(filter), 0 }

// picked returns the name under the cursor.
func (p *picker) picked() (string, bool) {
	list := p.list()
	if p.at >= len(list) {
		return "", false
	}
	return list[p.at].name, true
}

func (p *picker) size(w, h int) (ow, oh int, right bool) {
	switch {
	case p.atRight(w, h):
		const edges = 4 // the screen is so much wider: the list covers the controls
		return rightColumn(w + edges), min(h, len(p.all)+tallest), true
	case p.preview != nil || p.card != nil:
		return min(w, 104), min(h, 40), false
	}
	return min(w, 96), min(h, len(p.all)+4), false
}

// key handles a key: the card has those that mean something to it.
func (p *picker) key(msg tea.KeyMsg) request {
	if p.card != nil {
		if r, ok := p.cardKey(msg); ok {
			return r
		}
	}
	filter := []rune(p.filter)
	switch n := listStep(msg); {
	case n != 0:
		p.move(n)
	case msg.Type == tea.KeyEsc:
		return request{closes: true}
	case msg.Type == tea.KeyEnter:
		return p.take()
	case msg.Type == tea.KeyBackspace && len(filter) > 0:
		p.narrow(string(filter[:len(filter)-1]))
	case p.beside != nil && len(filter) == 0 && string(msg.Runes) == "v":
		return p.toggleShadow()
	case msg.Type == tea.KeyRunes || msg.Type == tea.KeySpace:
		p.narrow(p.filter + string(msg.Runes))
	}
	return request{}
}

// take does with the name under the cursor what the list is for.
func (p *picker) take() request {
	name, ok := p.picked()
	switch {
	case !ok:
		return request{closes: true}
	case p.begins:
		return request{closes: true, edit: p.word + " " + name + " "}
	}
	return request{closes: true, line: p.word + " " + name}
}

// toggleShadow lets the encoder under the cursor join as a shadow, or leave if it
// runs already.
func (p *picker) toggleShadow() request {
	name, ok := p.picked()
	if !ok {
		return request{}
	}
	word := "shadow "
	if slices.Contains(p.beside, name) {
		word += "off "
	}
	return request{line: word + name, accepted: func(cfg *experiment.Config) { p.beside = append([]string{}, shadowNames(cfg)...) }}
}

func (p *picker) draw(c *canvas, th *theme) {
	c.frame(th, true, p.title, p.hint(headRoom(c.w, p.title))...)
	name := 0
	for _, ch := range p.all {
		name = max(name, textWidth(ch.name))
	}
	list, room := p.list(), c.h-4
	if p.tall {
		room = min(room, len(p.all))
	}
	first := min(max(p.at-room/2, 0), max(len(list)-room, 0))
	for y := 0; y < room && first+y < len(list); y++ {
		ch := list[first+y]
		k := inkPlain
		if first+y == p.at {
			k = inkChosen
			c.text(2, 2+y, k, th.chosen)
		}
		if ch.name == p.now {
			c.set(4, 2+y, inkGood, th.outcome[1])
		}
		if i := slices.Index(p.beside, ch.name); i >= 0 {
			c.set(3, 2+y, shadowInk(i), shadowSign(th, i))
		}
		c.clip(6, 2+y, name, k, ch.name)
		if p.preview == nil && (p.card == nil || p.tall) {
			c.clip(6+name+2, 2+y, c.w-10-name, inkDim, ch.summary)
		}
	}
	if len(list) == 0 {
		c.text(6, 2, inkDim, "nothing matches")
	}
	if first+room < len(list) {
		c.text(4, c.h-1, inkDim, " more below ")
	}
	if at, ok := p.picked(); ok && p.card != nil {
		if p.tall {
			c.divider(th, room+3, p.card.inside, at)
			p.card.draw(c, th, 2, room+4, c.w-4, c.h-room-5, at)
			return
		}
		p.rule(c, th, 6+name+1)
		p.card.draw(c, th, 6+name+3, 2, c.w-6-name-5, c.h-3, at)
	}
	if at, ok := p.picked(); ok && p.preview != nil {
		p.show(c, th, 6+name+3, at)
	}
}

// hint is what the keys do here, as much of it as there is room for.
func (p *picker) hint(room int) []span {
	words := []string{"type to narrow, enter takes, esc leaves", "enter takes, esc leaves"}
	switch {
	case p.filter != "":
		words = []string{"narrowed to " + p.filter, p.filter}
	case p.beside != nil:
		words = []string{"enter takes, space tries, v beside, tab params, esc", "space tries, v beside, tab params", "v beside, tab params"}
	}
	options := make([][]span, len(words))
	for i, text := range words {
		options[i] = []span{{inkDim, text}}
	}
	return fit(room, options...)
}

// show draws the preview of a name to the right of column x.
func (p *picker) show(c *canvas, th *theme, x int, name string) {
	const top = 2
	w := c.w - x - 2
	if w < minPreview {
		return
	}
	p.rule(c, th, x-2)
	for i, line := range p.sample(sample{name, w, th.ascii}) {
		if y := top + i; y < c.h-1 {
			c.clip(x, y, w, inkPlain, line)
		}
	}
}

// tallest is the most rows that a tall list takes beside its names.
const tallest = 22

// rule parts the list from what is said about the name under the cursor.
func (p *picker) rule(c *canvas, th *theme, x int) {
	for y := 1; y < c.h-1; y++ {
		c.text(x, y, inkBorder, th.border.Left)
	}
}

// atRight reports whether the list stands at the right of the screen, so that the
// charts stay in sight: it does if there is room for what it says below it.
func (p *picker) atRight(w, h int) bool {
	const said = 14
	p.tall = p.card != nil && w >= 100 && h >= len(p.all)+said
	return p.tall
}

// sample returns the lines of a preview; making one takes longer than a redraw
// may, so each is made once.
func (p *picker) sample(s sample) []string {
	lines, ok := p.seen[s]
	if !ok {
		if p.seen == nil {
			p.seen = map[sample][]string{}
		}
		lines = p.preview(s.name, s.w, s.ascii)
		p.seen[s] = lines
	}
	return lines
}
