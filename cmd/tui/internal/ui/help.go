package ui

import "strings"

// helpBox lists every key and every command. It derives itself from the key map
// and from the verbs: a new one appears here by itself.
type helpBox struct {
	lines [][]span
	first int
	room  int // lines that the last picture had room for
}

func newHelp(keys []binding, verbs []verb) *helpBox {
	h := &helpBox{}
	group := ""
	for _, b := range keys {
		if b.group != group {
			h.title(b.group)
			group = b.group
		}
		help := b.Help()
		h.lines = append(h.lines, []span{{inkKey, "  " + padRight(help.Key, 14)}, {inkPlain, help.Desc}})
	}
	h.title("Commands, after /")
	for _, v := range verbs {
		h.lines = append(h.lines, []span{{inkKey, "  " + padRight(strings.TrimSpace(v.name+" "+v.args), 24)}, {inkDim, v.help}})
	}
	return h
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
	h.first = min(max(h.first+n, 0), max(len(h.lines)-h.room, 0))
}

func (h *helpBox) size(w, hh int) (int, int) { return min(w, 100), min(hh, len(h.lines)+2) }

func (h *helpBox) draw(c *canvas, th *theme) {
	room := c.h - 2
	h.room = room
	first := min(h.first, max(len(h.lines)-room, 0))
	hint := "any key closes"
	if len(h.lines) > room {
		hint = "arrows scroll, any other key closes"
	}
	c.frame(th, true, "Help", span{inkDim, hint})
	for y := 0; y < room && first+y < len(h.lines); y++ {
		c.spans(2, 1+y, c.w-4, h.lines[first+y]...)
	}
}
