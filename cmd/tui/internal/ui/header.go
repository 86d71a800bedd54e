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
	"wirelab/dataset/table"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// shortSource returns a short name of the data with a specification: the names of its files without their folders, or
// the name of the schema of a table. schema is nil if unknown.
func shortSource(spec string, schema *frame.Schema) string {
	if strings.HasPrefix(spec, table.Kind.Name+":") && schema != nil {
		return schema.Name
	}
	files := strings.Split(spec, ",")
	for i, file := range files {
		files[i] = filepath.Base(strings.TrimSpace(file))
	}
	return strings.Join(files, ",")
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
// that only the name of the program and the seed are left out. If the space is short, seed and speed are left out first,
// then names are shortened. The speed, whose width changes, is the last part and counts with its largest width, so that
// its changes move nothing.
func (m *dashboard) title() (draw func(w int) []look.Span, needed int) {
	cfg := m.lab.Config()
	dot := look.Faint.Span(" " + m.theme.Dot + " ")
	source := look.Plain.Span(look.ShortenStart(shortSource(cfg.Data.Source, m.lab.Snap.Schema), maxSourceWidth))
	lanes, counted := m.encoders(cfg)
	peers := m.peer(dot)
	names := append([]look.Span{source, dot, look.Title.Span(lanes)}, peers[0]...)
	program := []look.Span{look.Focus.Span("wirelab"), dot}
	seed := []look.Span{dot, look.Dim.Span("seed "), look.Plain.Span(strconv.FormatUint(cfg.Seed, 10))}
	clock := []look.Span{dot, look.Value.Span(look.FormatTime(m.lab.Shown().Now.Truncate(clockStep(m.lab.Snap))))}
	setSpeed := []look.Span{dot, look.Plain.Span(look.FormatSpeed(m.theme, m.lab.Speed()))}
	speed := append([]look.Span{dot}, m.speedSpans()...)
	const maxSpeedWidth = 13 // of "×0.9 of ×1" with the dot
	speed = append(speed, look.Plain.Span(strings.Repeat(" ", max(maxSpeedWidth-look.SpansWidth(speed), 0))))
	draw = func(w int) (title []look.Span) {
		for _, parts := range [][][]look.Span{{program, names, seed, clock, speed}, {names, seed, clock, speed},
			{names, clock, speed}, {names, clock, setSpeed}, {names, clock}} {
			if title = slices.Concat(parts...); look.SpansWidth(title) <= w {
				return title
			}
		}
		for _, peer := range peers {
			title = slices.Concat([]look.Span{source, dot, look.Title.Span(counted)}, peer, clock)
			shortenName(title, 0, w, look.ShortenStart)
			shortenName(title, 2, w, look.Shorten)
			if look.SpansWidth(title) <= w {
				return title
			}
		}
		title = title[2:] // without the data
		title[0].Text = look.Shorten(title[0].Text, w-look.SpansWidth(title[1:]))
		return title
	}
	return draw, look.SpansWidth(slices.Concat(names, clock, speed))
}

// shortenName shortens one name of a title, so that the title fits in w columns if possible.
func shortenName(title []look.Span, i, w int, shorten func(string, int) string) {
	const minNameWidth = 8
	width := look.TextWidth(title[i].Text)
	left := width - max(look.SpansWidth(title)-w, 0)
	title[i].Text = shorten(title[i].Text, max(left, min(minNameWidth, width)))
}

// peer returns the part of the title about the receiver, in forms of decreasing width: the address in a session over a
// real network, or why the session lost it; the client of a crowd; an empty part in other sessions.
func (m *dashboard) peer(dot look.Span) (forms [][]look.Span) {
	peer := m.lab.Snap.To
	var lost *engine.NetworkError
	switch x := m.lab.Shown().Crowd; {
	case x != nil:
		return [][]look.Span{{dot, clientSpan(x, m.isOfClient())}}
	case errors.As(m.lab.Snap.Err, &lost):
		return [][]look.Span{{dot, look.Warn.Span(lost.Problem)}}
	case peer == "":
		return [][]look.Span{nil}
	}
	protocol, address := look.Dim.Span("UDP to "), look.Plain.Span(peer)
	if strings.HasPrefix(peer, "127.") {
		protocol.Text = "UDP loopback to "
	}
	return [][]look.Span{{dot, protocol, address}, {dot, address}, {dot, look.Dim.Span("UDP")}}
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
