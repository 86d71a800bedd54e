package ui

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// shortSource returns a short name of the data. spec is the source of the configuration, "KIND" or
// "KIND:FILE,...": files are shortened to their names, and a table is called by the name of its
// schema. schema is nil if unknown.
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

// shortenSource shortens the name of data to n columns. The name of a file loses its beginning, because names of files
// differ at their ends.
func shortenSource(name string, n int) string {
	kind, file, ok := strings.Cut(name, ":")
	if !ok || len(kind)+2 > n {
		return look.Shorten(name, n)
	}
	return kind + ":" + look.ShortenStart(file, n-len(kind)-1)
}

// Header implements Screen. If a packet was decoded wrongly, an alarm replaces the title. While the
// time cursor is in the past, the footer lists the keys that move it.
func (m *dashboard) Header(int) Header {
	h := Header{Badge: m.badge()}
	h.Title, h.TitleWidth = m.title()
	if m.opt.Point != "" {
		point := look.Dim.Span("point of the sweep: ")
		h.Below = [][]look.Span{{point, look.Title.Span(look.Shorten(m.opt.Point, m.w-2-look.TextWidth(point.Text)))}}
	}
	if n := m.wrongPackets(); n > 0 {
		h.Alarm = fmt.Sprintf("WRONG DATA: %d packets were decoded without an error but differ from the sent frames. %s, seed %d, %s",
			n, m.wrongEncoder(), m.lab.Config().Seed, look.FormatTime(m.lab.Snap.Now))
	}
	if inPast := m.lab.Past.Active; inPast {
		h.Keys = pastKeys(m.keys, m.page())
	}
	return h
}

// maxSourceWidth is the largest width of the name of the data, so that the rest of the header has
// a fixed place.
const maxSourceWidth = 32

// title returns a function for the first line of the header in at most w columns, and the width that it needs so
// that only the name of the program is left out. If the space is short, seed and speed are left out first, then names
// are shortened. The speed, whose width changes, is the last part and counts with its largest width, so that its changes
// move nothing.
func (m *dashboard) title() (draw func(w int) []look.Span, needed int) {
	cfg := m.lab.Config()
	dot := look.Faint.Span(" " + m.theme.Dot + " ")
	source := look.Plain.Span(shortenSource(shortSource(cfg.Data.Source, m.lab.Snap.Schema), maxSourceWidth))
	lanes, counted := m.encoders(cfg)
	peer := m.peer(dot)
	names := append([]look.Span{source, dot, look.Title.Span(lanes)}, peer...)
	short := []look.Span{source, dot, look.Title.Span(counted)}
	if overNetwork := m.lab.Snap.To != ""; !overNetwork { // an address is too long
		short = append(short, peer...)
	}
	program := []look.Span{look.Focus.Span("wirelab"), dot}
	seed := []look.Span{dot, look.Dim.Span("seed "), look.Plain.Span(strconv.FormatUint(cfg.Seed, 10))}
	clock := []look.Span{dot, look.Value.Span(look.FormatTime(m.lab.Shown().Now.Truncate(clockStep(m.lab.Snap))))}
	setSpeed := []look.Span{dot, look.Plain.Span(look.FormatSpeed(m.theme, m.lab.Speed()))}
	speed := append([]look.Span{dot}, m.speedSpans()...)
	const maxSpeedWidth = 13 // of "×0.9 of ×1" with the dot
	speed = append(speed, look.Plain.Span(strings.Repeat(" ", max(maxSpeedWidth-look.SpansWidth(speed), 0))))
	draw = func(w int) []look.Span {
		for _, parts := range [][][]look.Span{{program, names, seed, clock, speed}, {names, seed, clock, speed},
			{names, clock, speed}, {names, clock, setSpeed}, {names, clock}} {
			if title := slices.Concat(parts...); look.SpansWidth(title) <= w {
				return title
			}
		}
		return shortenNames(slices.Concat(short, clock), w)
	}
	return draw, look.SpansWidth(slices.Concat(names, seed, clock, speed))
}

// peer returns the part of the title about the receiver: its address in a session over a real network, or why the
// session lost it; the client of a crowd; nil in other sessions.
func (m *dashboard) peer(dot look.Span) []look.Span {
	peer := m.lab.Snap.To
	var lost *engine.NetworkError
	switch x := m.lab.Shown().Crowd; {
	case x != nil:
		return []look.Span{dot, clientSpan(x, m.isOfClient())}
	case errors.As(m.lab.Snap.Err, &lost):
		return []look.Span{dot, look.Warn.Span(lost.Problem)}
	case strings.HasPrefix(peer, "127."):
		return []look.Span{dot, look.Dim.Span("UDP loopback to "), look.Plain.Span(peer)}
	case peer != "":
		return []look.Span{dot, look.Dim.Span("UDP to "), look.Plain.Span(peer)}
	}
	return nil
}

// shortenNames shortens the data and then the encoders, the first and the third part of a title, so that it fits in w
// columns. It leaves out the data if both would be too short.
func shortenNames(title []look.Span, w int) []look.Span {
	const minNameWidth = 8
	short := slices.Clone(title)
	for _, name := range []*look.Span{&short[0], &short[2]} {
		if excess, width := look.SpansWidth(short)-w, look.TextWidth(name.Text); excess > 0 {
			name.Text = shortenSource(name.Text, max(width-excess, min(minNameWidth, width)))
		}
	}
	if look.SpansWidth(short) <= w {
		return short
	}
	title = title[2:]
	title[0].Text = look.Shorten(title[0].Text, w-look.SpansWidth(title[1:]))
	return title
}

// clientSpan returns the name of the selected client, in another style until its run is repeated, or why its pages are
// empty if one is open.
func clientSpan(x *engine.CrowdView, isShown bool) look.Span {
	switch {
	case x.NoClient != "" && isShown:
		return look.Warn.Span(x.NoClient)
	case x.Selected == 0:
		return look.Dim.Span("no client")
	case x.Client != nil && clientOf(x) != x.Selected:
		return look.Paused.Span("client " + strconv.Itoa(x.Selected))
	}
	return look.Plain.Span("client " + strconv.Itoa(x.Selected))
}

// encoders returns the names of all lanes, and that of the active encoder with the number of shadows. Both are equal
// if there are more than maxNames shadows.
func (m *dashboard) encoders(cfg *config.Config) (names, counted string) {
	const maxNames = 2
	text, lanes := cfg.Encoder.Text(), m.lab.Shown().Lanes // the active encoder's lane, then those of the shadows
	// Just after a change the newest lane may still have the previous encoder; a lane in the past is right in any case.
	if inPast := m.lab.Past.Active; inPast && len(lanes) > 0 {
		text = lanes[0].Name()
	}
	if len(lanes) < 2 {
		return text, text
	}
	counted = fmt.Sprintf("%s %s %s", text, m.theme.Chosen, words.Count(len(lanes)-1, "shadow"))
	if len(lanes) > 1+maxNames {
		return counted, counted
	}
	for _, l := range lanes[1:] {
		text += " " + m.theme.Chosen + " " + l.Name()
	}
	return text, counted
}

// wrongEncoder returns the name of the first lane, the active encoder or a shadow, with packets that
// were decoded without an error but differ from the sent frames, or the encoder of a crowd; "" if there are no such packets.
func (m *dashboard) wrongEncoder() string {
	if x := m.lab.Snap.Crowd; x != nil && x.Totals.Wrong > 0 {
		return m.lab.Config().Encoder.Text()
	}
	for i := range m.lab.Snap.Lanes {
		if m.lab.Snap.Lanes[i].Totals.Wrong > 0 {
			return m.lab.Snap.Lanes[i].Name()
		}
	}
	return ""
}

// wrongPackets returns the number of packets that were decoded without an error but differ from the
// sent frames, of the active encoder and all shadows, or of all clients of a crowd.
func (m *dashboard) wrongPackets() int64 {
	n := int64(0)
	if x := m.lab.Snap.Crowd; x != nil {
		n = x.Totals.Wrong
	}
	for i := range m.lab.Snap.Lanes {
		n += m.lab.Snap.Lanes[i].Totals.Wrong
	}
	return n
}

// clockStep returns the resolution of the clock in the header: 200 ms while time runs, because
// faster changes are not legible and cost output, otherwise 1 ms.
func clockStep(snap *engine.Snapshot) time.Duration {
	if snap.State == engine.Running {
		return 200 * time.Millisecond
	}
	return time.Millisecond
}

// minSpeedRatio is the ratio of measured to set speed from which the set speed counts as reached.
const minSpeedRatio = 0.93

// speedSpans returns the speed of virtual time: the set speed, after the measured one if that is
// lower, or "max" and the measured speed if no limit is set.
func (m *dashboard) speedSpans() []look.Span {
	set, actual := m.lab.Speed(), m.lab.Snap.Actual
	text := look.FormatSpeed(m.theme, set)
	switch {
	case m.lab.Snap.State != engine.Running || actual <= 0: // no speed was measured
	case set <= 0: // as fast as possible
		return []look.Span{look.Dim.Span(text + " "), look.Plain.Span(m.theme.Times + units.Fixed(actual, 0))}
	case actual < minSpeedRatio*set && m.lab.Pending.Speed == nil: // too slow, and the set speed is not new
		return []look.Span{look.Warn.Span(m.theme.Times + units.Fixed(actual, 1)), look.Dim.Span(" of " + text)}
	}
	return []look.Span{look.Plain.Span(text)}
}

// minReplay is the number of ticks for which the run is repeated before the header shows it.
const minReplay = 20

// badge returns the state of the session, for the right edge of the header: how far the time cursor
// is in the past, paused, ended, replaying up to a time, at work on a patch, failing, or live.
func (m *dashboard) badge() look.Span {
	th, snap := m.theme, m.lab.Snap
	switch p := snap.Past; {
	case p != nil && m.repeating > minReplay: // the run is repeated
		text := look.FormatTime(p.Reached)
		if p.To > 0 {
			text += " of " + look.FormatTime(p.To)
		}
		return look.Paused.Span(" " + th.Back + " REPLAY " + text + ", esc ends ")
	case m.lab.Past.Active: // the time cursor is in the past
		ago := snap.Now - m.lab.Past.At
		text := units.Fixed(ago.Seconds(), 1) + " s"
		if ago >= time.Minute {
			text = look.FormatTime(ago)
		}
		return look.Paused.Span(" " + th.Back + " " + text + " AGO ")
	case snap.State == engine.Paused:
		return look.Paused.Span(" " + th.Pause + " PAUSED ")
	case snap.State == engine.Ended, lostPeer(snap):
		return look.Ended.Span(" " + th.Stop + " ENDED ")
	case snap.State == engine.Seeking:
		return look.Paused.Span(" " + th.Play + " TO " + look.FormatTime(snap.Seek) + " ")
	case snap.Patch != nil:
		return look.Paused.Span(" " + th.Pause + " MAKING PATCH ")
	case m.lab.EncoderFails():
		return look.Alarm.Span(" ! ENCODER FAILS ")
	}
	return look.Live.Span(" " + th.Play + " LIVE ")
}
