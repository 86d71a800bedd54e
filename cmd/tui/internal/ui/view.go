package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// The smallest screen that shows anything.
const minWidth, minHeight = 60, 20

// compose puts the screen together from the lines of the panes.
func (m *Model) compose() {
	m.stale = false
	switch {
	case m.w <= 0 || m.h <= 0:
		m.screen = ""
	case m.w < minWidth || m.h < minHeight:
		m.screen = strings.Join(tooSmall(m.theme, m.w, m.h), "\n")
	default:
		lines, panel := make([]string, 0, m.h), m.tourPanel()
		lines = append(lines, m.header())
		lines = append(lines, m.page().view(m.theme, m.w, m.h-2-len(panel))...)
		lines = append(lines, panel...)
		if m.over != nil {
			lines = append(lines[:1:1], lay(lines[1:], m.over, m.theme, m.w)...)
		}
		if m.note.text == "" {
			lines = append(lines, m.footer())
		} else { // it covers what stands below
			note := m.notice()
			lines = append(lines[:m.h-len(note):m.h-len(note)], note...)
		}
		if m.line.open {
			c := newCanvas(m.w, m.line.rows(m.w))
			m.line.draw(c, m.theme, m.desk())
			copy(lines[m.h-c.h:], c.lines(m.theme))
		}
		m.screen = strings.Join(lines, "\n")
	}
}

// tooSmall says politely what is needed.
func tooSmall(th *theme, w, h int) []string {
	c := newCanvas(w, h)
	text := wrap(fmt.Sprintf("Wirelab needs a terminal of %d x %d or more; this one is %d x %d. Make it larger, or press q to quit.", minWidth, minHeight, w, h), max(w-2, 1))
	for i, line := range text {
		c.text(max((w-textWidth(line))/2, 0), max((h-len(text))/2, 0)+i, inkPlain, line)
	}
	return c.lines(th)
}

// header names the experiment and says how time goes. If anything was decoded
// wrong it says only that, in red.
func (m *Model) header() string {
	c, th, snap := newCanvas(m.w, 1), m.theme, m.snap
	cfg := m.want.config(snap)
	badge := m.badge()
	if n := m.wrong(); n > 0 {
		c.fill(0, 0, m.w, inkAlarm, ' ')
		c.clip(1, 0, m.w-2, inkAlarm, fmt.Sprintf("WRONG DATA: %d packets decoded without complaint, yet differ from what was sent. %s, seed %d, %s",
			n, m.wrongdoer(), cfg.Seed, clock(snap.Now)))
		return c.lines(th)[0]
	}
	room := m.w - 2 - textWidth(badge.text)
	if tabs := m.tabs(); m.w >= tabsWidth {
		room -= spansWidth(tabs)
		c.spans(1+room, 0, m.w, tabs...)
	}
	c.spans(1, 0, room, m.title(room)...)
	c.right(m.w, 0, badge.ink, badge.text)
	return c.lines(th)[0]
}

// tabsWidth is the width from which the header names the pages.
const tabsWidth = 104

// tabs names the pages and the keys that show them.
func (m *Model) tabs() []span {
	var out []span
	for i, p := range m.pages {
		k := inkDim
		if i == m.open {
			k = inkFocus
		}
		left, right := " ", " "
		if i == m.open { // colour may be missing
			left, right = "[", "]"
		}
		out = append(out, span{k, left + strconv.Itoa(p.number()) + " " + p.name() + right})
	}
	return append(out, span{inkPlain, " "})
}

// title is the header's text in at most w columns: if they are few the dots move
// together, then the name of the program and the seed go.
func (m *Model) title(w int) []span {
	cfg, th := m.want.config(m.snap), m.theme
	for tight := 0; ; tight++ {
		gap := "  "
		if tight > 0 {
			gap = " "
		}
		dot := span{inkFaint, gap + th.dot + gap}
		pieces := []span{{inkPlain, shortSource(cfg.Data.Source)}, dot, {inkTitle, m.encoders(cfg)}, dot}
		if tight < 3 {
			pieces = append(pieces, span{inkDim, "seed "}, span{inkPlain, strconv.FormatUint(cfg.Seed, 10)}, dot)
		}
		if tight < 2 {
			pieces = append([]span{{inkFocus, "wirelab"}, dot}, pieces...)
		}
		pieces = append(append(pieces, m.pace()...), dot, span{inkValue, clock(m.shown().Now.Truncate(m.clockStep()))})
		n := 0
		for _, p := range pieces {
			n += textWidth(p.text)
		}
		if n <= w || tight == 3 {
			return pieces
		}
	}
}

// encoders names the encoder, and what runs beside it.
func (m *Model) encoders(cfg *config.Config) string {
	name, lanes := cfg.Encoder.Name, m.shown().Lanes
	if m.past.away && len(lanes) > 0 {
		name = lanes[0].Encoder // it may have been another
	}
	if n := len(lanes) - 1; n > 2 {
		return fmt.Sprintf("%s %s %d shadows", name, m.theme.chosen, n)
	}
	for i := 1; i < len(lanes); i++ {
		name += " " + m.theme.chosen + " " + lanes[i].Encoder
	}
	return name
}

// wrongdoer names the encoder, or the shadow, that decoded wrong.
func (m *Model) wrongdoer() string {
	for i := range m.snap.Lanes {
		if m.snap.Lanes[i].Totals.Wrong > 0 {
			return m.snap.Lanes[i].Encoder
		}
	}
	return ""
}

func (m *Model) wrong() int64 {
	n := int64(0)
	for i := range m.snap.Lanes {
		n += m.snap.Lanes[i].Totals.Wrong
	}
	return n
}

// clockStep is how much virtual time passes before the header shows it: while it
// runs a tenth of a second is more than the eye can read.
func (m *Model) clockStep() time.Duration {
	if m.snap.State == engine.Running {
		return 200 * time.Millisecond
	}
	return time.Millisecond
}

// keepsUp is the share of the speed asked for that counts as reached.
const keepsUp = 0.93

// pace says how fast virtual time goes, and that it goes slower than asked if
// the engine cannot keep up.
func (m *Model) pace() []span {
	asked, actual := m.want.pace(m.snap), m.snap.Actual
	text := speedText(m.theme, asked)
	switch {
	case m.snap.State != engine.Running || actual <= 0:
	case asked <= 0:
		return []span{{inkDim, text + " "}, {inkPlain, m.theme.times + fixed(actual, 0)}}
	case actual < keepsUp*asked && m.want.speed == nil:
		return []span{{inkWarn, m.theme.times + fixed(actual, 1)}, {inkDim, " of " + text}}
	}
	return []span{{inkPlain, text}}
}

// badge is the state of the session.
func (m *Model) badge() span {
	th, snap := m.theme, m.snap
	switch {
	case m.past.away:
		return span{inkPaused, " " + th.back + " " + fixed((snap.Now-m.past.at).Seconds(), 1) + " s AGO "}
	case snap.State == engine.Paused:
		return span{inkPaused, " " + th.pause + " PAUSED "}
	case snap.State == engine.Ended:
		return span{inkEnded, " " + th.stop + " ENDED "}
	case snap.State == engine.Seeking:
		return span{inkPaused, " " + th.play + " TO " + clock(snap.Seek) + " "}
	case snap.Making != nil:
		return span{inkPaused, " " + th.pause + " MAKING PATCH "}
	case m.fails():
		return span{inkAlarm, " ! ENCODER FAILS "}
	}
	return span{inkLive, " " + th.play + " LIVE "}
}

// footer is the keys worth knowing.
func (m *Model) footer() string {
	c := newCanvas(m.w, 1)
	x := 1
	for i, piece := range m.hints(m.w - 2) {
		if i > 0 {
			x = c.text(x, 0, inkFaint, " "+m.theme.dot+" ")
		}
		x = c.spans(x, 0, m.w-x, piece[:]...)
	}
	return c.lines(m.theme)[0]
}

// hints are the footer's pieces, from the key map: those pinned in any case, and
// as many of the others as fit w columns, in the order of the map.
func (m *Model) hints(w int) [][2]span {
	type hint struct {
		text [2]span
		show bool
	}
	var all []hint
	for _, b := range m.keysNow() {
		if b.brief == "" {
			continue
		}
		all = append(all, hint{[2]span{{inkKey, b.Help().Key}, {inkDim, " " + b.brief}}, b.pinned})
		if len(all) == 1 && m.tour == nil && !m.past.away {
			if m.w < tabsWidth { // nothing else names the pages
				all = append(all, hint{[2]span{{inkKey, "1-" + strconv.Itoa(len(m.pages))}, {inkDim, " pages"}}, false})
			}
			for _, a := range m.page().arrows() {
				all = append(all, hint{[2]span{{inkKey, a[0]}, {inkDim, " " + a[1]}}, false})
			}
		}
	}
	const gap = 3
	room := w + gap
	take := func(h *hint) bool {
		n := spansWidth(h.text[:]) + gap
		h.show = n <= room
		if h.show {
			room -= n
		}
		return h.show
	}
	for i := range all {
		if all[i].show {
			take(&all[i])
		}
	}
	for i := range all {
		if !all[i].show && !take(&all[i]) {
			break
		}
	}
	var out [][2]span
	for _, h := range all {
		if h.show {
			out = append(out, h.text)
		}
	}
	return out
}
