package ui

import (
	"fmt"
	"strconv"
	"time"

	"wirelab/experiment"
)

// bar is the header and the footer of the screen.
type bar struct {
	th    *theme
	w     int
	s     *session
	pages []page
	open  int
	tour  bool // one is under way
}

func (m *Model) bar() *bar { return &bar{m.theme, m.w, m.lab, m.pages, m.open, m.tour != nil} }

// header names the experiment and says how time goes. If anything was decoded
// wrong it says only that, in red.
func (b *bar) header() string {
	c, th, snap := newCanvas(b.w, 1), b.th, b.s.snap
	cfg := b.s.config()
	badge := b.badge()
	if n := b.wrong(); n > 0 {
		c.fill(0, 0, b.w, inkAlarm, ' ')
		c.clip(1, 0, b.w-2, inkAlarm, fmt.Sprintf("WRONG DATA: %d packets decoded without complaint, yet differ from what was sent. %s, seed %d, %s",
			n, b.wrongdoer(), cfg.Seed, clock(snap.Now)))
		return c.lines(th)[0]
	}
	room := b.w - 2 - textWidth(badge.text)
	if tabs := b.tabs(); b.w >= tabsWidth {
		room -= spansWidth(tabs)
		c.spans(1+room, 0, b.w, tabs...)
	}
	c.spans(1, 0, room, b.title(room)...)
	c.right(b.w, 0, badge.ink, badge.text)
	return c.lines(th)[0]
}

// tabsWidth is the width from which the header names the pages.
const tabsWidth = 104

// tabs names the pages and the keys that show them.
func (b *bar) tabs() []span {
	var out []span
	for i, p := range b.pages {
		k := inkDim
		if i == b.open {
			k = inkFocus
		}
		left, right := " ", " "
		if i == b.open { // colour may be missing
			left, right = "[", "]"
		}
		out = append(out, span{k, left + strconv.Itoa(i+1) + " " + p.name() + right})
	}
	return append(out, span{inkPlain, " "})
}

// tabAt is the page whose name stands at column x; -1: none.
func (b *bar) tabAt(x int) int {
	tabs := b.tabs()
	from := b.w - 1 - textWidth(b.badge().text) - spansWidth(tabs)
	for i := range b.pages {
		to := from + textWidth(tabs[i].text)
		if x >= from && x < to && b.w >= tabsWidth {
			return i
		}
		from = to
	}
	return -1
}

// title is the header's text in at most w columns: if they are few the dots move
// together, then the name of the program and the seed go.
func (b *bar) title(w int) []span {
	cfg, th := b.s.config(), b.th
	for tight := 0; ; tight++ {
		gap := "  "
		if tight > 0 {
			gap = " "
		}
		dot := span{inkFaint, gap + th.dot + gap}
		pieces := []span{{inkPlain, shortSource(cfg.Data.Source)}, dot, {inkTitle, b.encoders(cfg)}, dot}
		if tight < 3 {
			pieces = append(pieces, span{inkDim, "seed "}, span{inkPlain, strconv.FormatUint(cfg.Seed, 10)}, dot)
		}
		if tight < 2 {
			pieces = append([]span{{inkFocus, "wirelab"}, dot}, pieces...)
		}
		pieces = append(append(pieces, b.pace()...), dot, span{inkValue, clock(b.s.shown().Now.Truncate(clockStep(b.s.snap)))})
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
func (b *bar) encoders(cfg *experiment.Config) string {
	name, lanes := cfg.Encoder.Name, b.s.shown().Lanes
	if b.s.past.away && len(lanes) > 0 {
		name = lanes[0].Encoder // it may have been another
	}
	if n := len(lanes) - 1; n > 2 {
		return fmt.Sprintf("%s %s %d shadows", name, b.th.chosen, n)
	}
	for i := 1; i < len(lanes); i++ {
		name += " " + b.th.chosen + " " + lanes[i].Encoder
	}
	return name
}

// wrongdoer names the encoder, or the shadow, that decoded wrong.
func (b *bar) wrongdoer() string {
	for i := range b.s.snap.Lanes {
		if b.s.snap.Lanes[i].Totals.Wrong > 0 {
			return b.s.snap.Lanes[i].Encoder
		}
	}
	return ""
}

func (b *bar) wrong() int64 {
	n := int64(0)
	for i := range b.s.snap.Lanes {
		n += b.s.snap.Lanes[i].Totals.Wrong
	}
	return n
}

// clockStep is how much virtual time passes before the header shows it: while it
// runs a tenth of a second is more than the eye can read.
func clockStep(snap *experiment.Snapshot) time.Duration {
	if snap.State == experiment.Running {
		return 200 * time.Millisecond
	}
	return time.Millisecond
}

// keepsUp is the share of the speed asked for that counts as reached.
const keepsUp = 0.93

// pace says how fast virtual time goes, and that it goes slower than asked if
// the engine cannot keep up.
func (b *bar) pace() []span {
	asked, actual := b.s.speed(), b.s.snap.Actual
	text := speedText(b.th, asked)
	switch {
	case b.s.snap.State != experiment.Running || actual <= 0:
	case asked <= 0:
		return []span{{inkDim, text + " "}, {inkPlain, b.th.times + fixed(actual, 0)}}
	case actual < keepsUp*asked && b.s.pending.speed == nil:
		return []span{{inkWarn, b.th.times + fixed(actual, 1)}, {inkDim, " of " + text}}
	}
	return []span{{inkPlain, text}}
}

// badge is the state of the session.
func (b *bar) badge() span {
	th, snap := b.th, b.s.snap
	switch {
	case b.s.past.away:
		return span{inkPaused, " " + th.back + " " + fixed((snap.Now-b.s.past.at).Seconds(), 1) + " s AGO "}
	case snap.State == experiment.Paused:
		return span{inkPaused, " " + th.pause + " PAUSED "}
	case snap.State == experiment.Ended:
		return span{inkEnded, " " + th.stop + " ENDED "}
	case snap.State == experiment.Seeking:
		return span{inkPaused, " " + th.play + " TO " + clock(snap.Seek) + " "}
	case snap.Making != nil:
		return span{inkPaused, " " + th.pause + " MAKING PATCH "}
	case b.s.fails():
		return span{inkAlarm, " ! ENCODER FAILS "}
	}
	return span{inkLive, " " + th.play + " LIVE "}
}

// footer is the keys worth knowing.
func (b *bar) footer(keys []binding) string {
	c := newCanvas(b.w, 1)
	x := 1
	for i, piece := range b.hints(keys, b.w-2) {
		if i > 0 {
			x = c.text(x, 0, inkFaint, " "+b.th.dot+" ")
		}
		x = c.spans(x, 0, b.w-x, piece[:]...)
	}
	return c.lines(b.th)[0]
}

// hints are the footer's pieces, from the key map: those pinned in any case, and
// as many of the others as fit w columns, in the order of the map.
func (b *bar) hints(keys []binding, w int) [][2]span {
	type hint struct {
		text [2]span
		show bool
	}
	var all []hint
	for _, k := range keys {
		if k.brief == "" {
			continue
		}
		all = append(all, hint{[2]span{{inkKey, k.Help().Key}, {inkDim, " " + k.brief}}, k.pinned})
		if len(all) == 1 && !b.tour && !b.s.past.away {
			if b.w < tabsWidth { // nothing else names the pages
				all = append(all, hint{[2]span{{inkKey, "1-" + strconv.Itoa(len(b.pages))}, {inkDim, " pages"}}, false})
			}
			for _, a := range b.pages[b.open].arrows() {
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
