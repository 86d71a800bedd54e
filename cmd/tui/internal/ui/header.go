package ui

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/session"
	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/internal/units"
)

// shortSource names the data: files without the folders that they are in, a table by its
// schema.
func shortSource(spec string, schema *frame.Schema) string {
	kind, arg, ok := strings.Cut(spec, ":")
	switch {
	case !ok:
		return spec
	case kind == "table" && schema != nil:
		return schema.Name
	}
	parts := strings.Split(arg, ",")
	for i, p := range parts {
		parts[i] = filepath.Base(strings.TrimSpace(p))
	}
	return kind + ":" + strings.Join(parts, ",")
}

// bar is the header and the footer of the screen.
type bar struct {
	th    *look.Theme
	w     int
	s     *session.Session
	pages []room.Page
	open  int
	tour  bool // one is under way
}

func (m *Model) bar() *bar { return &bar{m.theme, m.w, m.lab, m.pages, m.open, m.tour != nil} }

// header names the experiment and says how time goes. If anything was decoded
// wrong it says only that, in red.
func (b *bar) header() string {
	c, th, snap := look.NewCanvas(b.w, 1), b.th, b.s.Snap
	cfg := b.s.Config()
	badge := b.badge()
	if n := b.wrong(); n > 0 {
		c.Fill(0, 0, b.w, look.Alarm, ' ')
		c.Clip(1, 0, b.w-2, look.Alarm, fmt.Sprintf("WRONG DATA: %d packets decoded without complaint, yet differ from what was "+
			"sent. %s, seed %d, %s",
			n, b.wrongEncoder(), cfg.Seed, look.Clock(snap.Now)))
		return c.Lines(th)[0]
	}
	room := b.w - 2 - look.TextWidth(badge.Text)
	if tabs := b.tabs(); b.w >= tabsWidth {
		room -= look.SpansWidth(tabs)
		c.Spans(1+room, 0, b.w, tabs...)
	}
	c.Spans(1, 0, room, b.title(room)...)
	c.Right(b.w, 0, badge.Ink, badge.Text)
	return c.Lines(th)[0]
}

// longestSource is how many columns the name of the data may take, so that what else the
// header says keeps its place.
const longestSource = 32

// tabsWidth is the width from which the header names the pages.
const tabsWidth = 104

// tabs names the pages and the keys that show them.
func (b *bar) tabs() []look.Span {
	var out []look.Span
	for i, p := range b.pages {
		k := look.Dim
		if i == b.open {
			k = look.Focus
		}
		left, right := " ", " "
		if i == b.open { // colour may be missing
			left, right = "[", "]"
		}
		out = append(out, k.Span(left+strconv.Itoa(i+1)+" "+p.Name()+right))
	}
	return append(out, look.Plain.Span(" "))
}

// tabAt is the page whose name stands at column x; -1: none.
func (b *bar) tabAt(x int) int {
	tabs := b.tabs()
	from := b.w - 1 - look.TextWidth(b.badge().Text) - look.SpansWidth(tabs)
	for i := range b.pages {
		to := from + look.TextWidth(tabs[i].Text)
		if x >= from && x < to && b.w >= tabsWidth {
			return i
		}
		from = to
	}
	return -1
}

// title is the text of the header in at most w columns. If there are few, first
// the gaps shrink, then the name of the program goes, then the seed.
func (b *bar) title(w int) []look.Span {
	cfg, th := b.s.Config(), b.th
	for tight := 0; ; tight++ {
		gap := "  "
		if tight > 0 {
			gap = " "
		}
		dot := look.Faint.Span(gap + th.Dot + gap)
		pieces := []look.Span{look.Plain.Span(look.Short(shortSource(cfg.Data.Source, b.s.Snap.Schema), longestSource)), dot, look.Title.Span(b.encoders(cfg)), dot}
		if to := b.s.Snap.To; to != "" {
			pieces = append(pieces, look.Dim.Span("to "), look.Plain.Span(to), dot)
		}
		if tight < 3 {
			pieces = append(pieces, look.Dim.Span("seed "), look.Plain.Span(strconv.FormatUint(cfg.Seed, 10)), dot)
		}
		if tight < 2 {
			pieces = append([]look.Span{look.Focus.Span("wirelab"), dot}, pieces...)
		}
		pieces = append(append(pieces, b.pace()...), dot, look.Value.Span(look.Clock(b.s.Shown().Now.Truncate(clockStep(b.s.Snap)))))
		n := 0
		for _, p := range pieces {
			n += look.TextWidth(p.Text)
		}
		if n <= w || tight == 3 {
			return pieces
		}
	}
}

// encoders names the encoder, and what runs beside it.
func (b *bar) encoders(cfg *config.Config) string {
	name, lanes := cfg.Encoder.Name, b.s.Shown().Lanes
	if len(lanes) > 0 && (b.s.Past.Away || lanes[0].Encoder == name) { // it may have been another
		name = lanes[0].Name()
	}
	if n := len(lanes) - 1; n > 2 {
		return fmt.Sprintf("%s %s %d shadows", name, b.th.Chosen, n)
	}
	for i := 1; i < len(lanes); i++ {
		name += " " + b.th.Chosen + " " + lanes[i].ShortName(&lanes[0])
	}
	return name
}

// wrongEncoder names the encoder, or the shadow, that decoded wrong.
func (b *bar) wrongEncoder() string {
	for i := range b.s.Snap.Lanes {
		if b.s.Snap.Lanes[i].Totals.Wrong > 0 {
			return b.s.Snap.Lanes[i].Name()
		}
	}
	return ""
}

func (b *bar) wrong() int64 {
	n := int64(0)
	for i := range b.s.Snap.Lanes {
		n += b.s.Snap.Lanes[i].Totals.Wrong
	}
	return n
}

// clockStep is the step in which the header shows virtual time: while it runs, a
// tenth of a second is more than the eye can read.
func clockStep(snap *engine.Snapshot) time.Duration {
	if snap.State == engine.Running {
		return 200 * time.Millisecond
	}
	return time.Millisecond
}

// keepsUp is the share of the speed asked for that counts as reached.
const keepsUp = 0.93

// pace says how fast virtual time goes, and that it goes slower than asked if
// the engine cannot keep up.
func (b *bar) pace() []look.Span {
	asked, actual := b.s.Speed(), b.s.Snap.Actual
	text := look.SpeedText(b.th, asked)
	switch {
	case b.s.Snap.State != engine.Running || actual <= 0:
	case asked <= 0:
		return []look.Span{look.Dim.Span(text + " "), look.Plain.Span(b.th.Times + units.Fixed(actual, 0))}
	case actual < keepsUp*asked && b.s.Pending.Speed == nil:
		return []look.Span{look.Warn.Span(b.th.Times + units.Fixed(actual, 1)), look.Dim.Span(" of " + text)}
	}
	return []look.Span{look.Plain.Span(text)}
}

// badge is the state of the session.
func (b *bar) badge() look.Span {
	th, snap := b.th, b.s.Snap
	switch {
	case b.s.Past.Away:
		return look.Paused.Span(" " + th.Back + " " + units.Fixed((snap.Now-b.s.Past.At).Seconds(), 1) + " s AGO ")
	case snap.State == engine.Paused:
		return look.Paused.Span(" " + th.Pause + " PAUSED ")
	case snap.State == engine.Ended:
		return look.Ended.Span(" " + th.Stop + " ENDED ")
	case snap.State == engine.Seeking:
		return look.Paused.Span(" " + th.Play + " TO " + look.Clock(snap.Seek) + " ")
	case snap.Making != nil:
		return look.Paused.Span(" " + th.Pause + " MAKING PATCH ")
	case b.s.Fails():
		return look.Alarm.Span(" ! ENCODER FAILS ")
	}
	return look.Live.Span(" " + th.Play + " LIVE ")
}

// footer is the keys worth knowing.
func (b *bar) footer(keys []room.Binding) string {
	c := look.NewCanvas(b.w, 1)
	x := 1
	for i, piece := range b.hints(keys, b.w-2) {
		if i > 0 {
			x = c.Text(x, 0, look.Faint, " "+b.th.Dot+" ")
		}
		x = c.Spans(x, 0, b.w-x, piece[:]...)
	}
	return c.Lines(b.th)[0]
}

// hints are the footer's pieces, from the key map: those pinned in any case, and
// as many of the others as fit w columns, in the order of the map.
func (b *bar) hints(keys []room.Binding, w int) [][2]look.Span {
	type hint struct {
		text [2]look.Span
		show bool
	}
	var all []hint
	for _, k := range keys {
		if k.Brief == "" {
			continue
		}
		all = append(all, hint{[2]look.Span{look.Key.Span(k.Help().Key), look.Dim.Span(" " + k.Brief)}, k.Pinned})
		if len(all) == 1 && !b.tour && !b.s.Past.Away {
			if b.w < tabsWidth { // nothing else names the pages
				all = append(all, hint{[2]look.Span{look.Key.Span("1-" + strconv.Itoa(len(b.pages))), look.Dim.Span(" pages")}, false})
			}
			for _, a := range b.pages[b.open].Arrows() {
				all = append(all, hint{[2]look.Span{look.Key.Span(a[0]), look.Dim.Span(" " + a[1])}, false})
			}
		}
	}
	const gap = 3
	room := w + gap
	take := func(h *hint) bool {
		n := look.SpansWidth(h.text[:]) + gap
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
	var out [][2]look.Span
	for _, h := range all {
		if h.show {
			out = append(out, h.text)
		}
	}
	return out
}
