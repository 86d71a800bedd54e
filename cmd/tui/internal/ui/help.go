package ui

import (
	"strconv"
	"strings"

	"wirelab/experiment"
)

// helpBox lists every key of the page and every command. It derives itself from the key map
// and from the verbs: a new one appears here by itself.
type helpBox struct {
	lines [][]span
	first int
	room  int // lines that the last picture had room for
	rows  int // lines of its longest column
}

func newHelp(th *theme, keys []binding, verbs []verb) *helpBox {
	h := &helpBox{}
	group := ""
	for _, b := range keys {
		if b.Help().Key == "" {
			continue
		}
		if b.group != group {
			h.title(b.group)
			group = b.group
		}
		help := b.Help()
		h.lines = append(h.lines, []span{{inkKey, "  " + padRight(help.Key, 14)}, {inkPlain, help.Desc}})
	}
	h.title("Signs of packets")
	for _, o := range []experiment.Outcome{experiment.Decoded, experiment.Lost, experiment.NoBaseline, experiment.Corrupt, experiment.Tainted,
		experiment.UnknownCodec, experiment.Stale, experiment.Duplicate, experiment.InFlight, experiment.Wrong} {
		h.lines = append(h.lines, []span{{outcomeInk(o), "  " + padRight(string(th.outcome[o]), 4)}, {inkPlain, padRight(outcomeWord(o), 14)}, {inkDim, outcomeMeaning(o)}})
	}
	h.title("Commands, after /")
	for _, v := range verbs {
		h.lines = append(h.lines, []span{{inkKey, "  " + padRight(strings.TrimSpace(v.name+" "+v.args), 24)}, {inkDim, v.help}})
	}
	return h
}

// outcomeMeaning says what became of a packet in a line.
func outcomeMeaning(o experiment.Outcome) string {
	return [experiment.NumOutcomes]string{
		"still on its way", "decoded, and newer than all before", "decoded, but something newer is shown",
		"a copy of one decoded before", "dropped by the link", "needs a frame the receiver does not hold",
		"damaged, and found out", "of a codec unknown to the receiver",
		"damaged, yet decoded: no checksum", "decoded, but not what was sent: a bug",
	}[o]
}

func (h *helpBox) title(s string) {
	if len(h.lines) > 0 {
		h.lines = append(h.lines, nil)
	}
	h.lines = append(h.lines, []span{{inkTitle, s}})
}

func padRight(s string, n int) string {
	return s + strings.Repeat(" ", max(n-textWidth(s), 0))
}

// scroll moves the text by n lines.
func (h *helpBox) scroll(n int) {
	h.first = min(max(h.first+n, 0), max(h.rows-h.room, 0))
}

// columnWidth is the width of a column of the list, with the gap behind it.
func (h *helpBox) columnWidth() int {
	const gap, most = 3, 96
	n := 0
	for _, line := range h.lines {
		n = max(n, spansWidth(line))
	}
	return min(n, most) + gap
}

// columns is how many columns fit w, at most as many as the list needs if there
// are room rows.
func (h *helpBox) columns(w, room int) int {
	needed := (len(h.lines) + max(room, 1) - 1) / max(room, 1)
	return max(min((w-helpEdges)/h.columnWidth(), needed), 1)
}

// helpEdges are the columns of the box that are not the list's.
const helpEdges = 4

func (h *helpBox) size(w, hh int) (int, int) {
	n := h.columns(w, hh-2)
	rows := (len(h.lines) + n - 1) / n
	return min(w, n*h.columnWidth()+helpEdges), min(hh, rows+2)
}

func (h *helpBox) draw(c *canvas, th *theme) {
	h.room = c.h - 2
	n := h.columns(c.w, h.room)
	h.rows = (len(h.lines) + n - 1) / n
	first := min(h.first, max(h.rows-h.room, 0))
	c.frame(th, true, "Help", h.hint(th, first)...)
	w := (c.w - helpEdges) / n
	for i, line := range h.lines {
		if y := i%h.rows - first; y >= 0 && y < h.room {
			c.spans(2+i/h.rows*w, 1+y, w-1, line...)
		}
	}
}

// hint says what the keys do now and, if not all is in sight, how far down one
// has read and where there is more.
func (h *helpBox) hint(th *theme, first int) []span {
	if h.rows <= h.room {
		return []span{{inkDim, "any key closes"}}
	}
	last := min(first+h.room, h.rows)
	more := ""
	if first > 0 {
		more = " " + th.up
	}
	if last < h.rows {
		more += " " + th.down
	}
	return []span{{inkPlain, strconv.Itoa(last) + "/" + strconv.Itoa(h.rows) + more}, {inkDim, "  arrows scroll, any other key closes"}}
}
