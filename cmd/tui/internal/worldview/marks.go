package worldview

import (
	"strconv"
	"unicode"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
)

// layer orders what is drawn in a cell: a higher layer covers a lower one.
type layer uint8

const (
	blank layer = iota
	groundLayer
	trailLayer
	lineLayer
	labelLayer
	arrowLayer  // also of crosses
	markerLayer // plus the state of the thing, or the step of its value
)

// mark is how a thing is drawn.
type mark struct {
	style  look.Style
	layer  layer
	symbol rune // of a thing without an outline
	solid  bool // an outline is drawn in blocks instead of dots, to stand out without colours too
	plain  rune // replaces the shape of an outline if there are no colours; 0 keeps the shape
}

// shape returns the rune for the dots of an outline in a cell.
func (k *mark) shape(th *look.Theme, mask uint8) rune {
	switch {
	case th.Ascii:
		return k.symbol
	case k.plain != 0 && !th.Color:
		return k.plain
	case k.solid:
		return look.Quadrants(mask)
	}
	return chart.Braille(mask)
}

// shade returns the shade of a thing: by the height above the floor of an outline. Others have the last of look.Levels
// shades, which contrasts most with the background.
func (t *Thing) shade() look.Style {
	const last = look.Levels - 1
	if t.Half == 0 {
		return last
	}
	for i, limit := range [last]float64{0.25, 0.8, 1.8} { // upper bounds in metres; the last level has no bound
		if t.Z-float64(t.Half) < limit {
			return look.Style(i)
		}
	}
	return last
}

// mark returns how a thing is drawn: by a value of its row if heat is not nil, otherwise as a letter for its kind if
// there are several kinds, upper case if it moves.
func (m *Map) mark(t *Thing, heat *Heat) mark {
	if heat != nil {
		return stepMark(heat.step(t.Row))
	}
	k := mark{layer: markerLayer + layer(t.State), solid: t.State != Resting}
	switch {
	case t.State == Player:
		k.style, k.symbol = look.Player+t.shade(), '@'
		k.plain = '▒'
	case t.Kind != noKind && len(m.kinds) > 1:
		kind := &m.kinds[t.Kind]
		k.style, k.symbol = kind.style, kind.letter
		if t.State == Moving {
			k.symbol = unicode.ToUpper(kind.letter)
		}
	case t.State == Moving:
		k.style, k.symbol = look.Interacting+t.shade(), 'o'
	default:
		k.style, k.symbol = look.AtRest+t.shade(), '∙'
	}
	return k
}

// Heat is a value of each row, which replaces the kinds of things.
type Heat struct {
	Unit   string
	Bounds [look.NumHeats - 1]float64 // upper bounds of the steps; larger values are one more step
	Value  func(row int) float64
}

// step returns the step of the value of a row.
func (h *Heat) step(row int) (step int) {
	v := h.Value(row)
	for step < len(h.Bounds) && v > h.Bounds[step] {
		step++
	}
	return step
}

// stepMark returns the mark of a step. Larger values cover smaller ones.
func stepMark(step int) mark {
	k := mark{style: look.Heat + look.Style(step), layer: markerLayer + layer(step), symbol: rune(".-+x#"[step])}
	if step > 0 {
		k.solid = true
		k.plain = k.symbol
	}
	return k
}

// legend returns the steps with their upper bounds.
func (h *Heat) legend(th *look.Theme, outlines bool) [][]look.Span {
	const allDots = 0xff // a bit for each of the eight dots of a cell
	groups := [][]look.Span{{look.Dim.Span(" " + h.Unit + " ")}}
	for i := range look.NumHeats {
		text := "> " // than the last bound
		if i < len(h.Bounds) {
			text = th.AtMost + strconv.FormatFloat(h.Bounds[i], 'g', 3, 64) + " "
		}
		k := stepMark(i)
		if outlines {
			k.symbol = k.shape(th, allDots)
		}
		groups = append(groups, []look.Span{k.style.Span(string(k.symbol)), look.Dim.Span(text)})
	}
	return groups
}
