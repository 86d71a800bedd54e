package world

import (
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/worldview"
	"wirelab/dataset/world"
	"wirelab/experiment/config"
	"wirelab/internal/units"
)

// play is the line below the world: who plays it, with which keys, and how
// the camera looks at it.
type play struct {
	live, autopilot, known bool
	source                 string
	keys                   world.Input
	cam                    worldview.Camera
	requested              [numToggles]toggleRequest
	now                    time.Duration // at present, whatever moment is shown
}

// toggle is a switch of the live world.
type toggle uint8

const (
	toggleHover toggle = iota
	toggleKatamari
	toggleAutopilot
	numToggles
)

// toggleRequest is a switch that was set and that no snapshot shows yet. While time stands
// still, no picture will show it.
type toggleRequest struct {
	on       bool
	at, till time.Duration // virtual time from which, and until which, not to believe the pictures
}

func (p *play) Name() string { return "Play" }

func (p *play) Observe(v room.View) bool {
	p.now = v.Present().Now
	before := *p
	p.known = v.Snap.World != nil && !v.Back
	p.source = v.Cfg.Data.Source
	if p.known {
		p.live, p.autopilot, p.keys = v.Snap.World.Live, v.Snap.World.Autopilot, v.Snap.World.Keys
	}
	return *p != before
}

func (p *play) Draw(c *look.Canvas, th *look.Theme, _ bool) {
	shown := p.camera(th)
	room := c.W - 3 - look.SpansWidth(shown)
	c.Spans(1, 0, room, p.playerSpans(th, room)...)
	c.Spans(c.W-1-look.SpansWidth(shown), 0, look.SpansWidth(shown), shown...)
}

// playerSpans describes who plays, the person or the autopilot, and which keys are held; nil if
// unknown.
func (p *play) playerSpans(th *look.Theme, room int) []look.Span {
	switch {
	case !p.known:
		return nil
	case !p.live:
		return look.Fit(room, []look.Span{look.Dim.Span("a recording: nobody can play it; the live world is "),
			look.Key.Span("tui --data world")},
			[]look.Span{look.Dim.Span("recording; to play: "), look.Key.Span("--data world")}, []look.Span{look.Dim.Span("a recording")})
	}
	who := look.Focus.Span("you play ")
	if p.autopilot {
		who = look.Value.Span("autopilot")
	}
	out := []look.Span{who, look.Dim.Span("  ")}
	for _, d := range []struct {
		on   bool
		sign string
	}{{p.keys.Left, "←"}, {p.keys.Up, "↑"}, {p.keys.Down, "↓"}, {p.keys.Right, "→"}} {
		k, sign := look.Faint, th.Dot
		if d.on {
			k, sign = look.Value, d.sign
		}
		out = append(out, k.Span(sign))
	}
	out = append(out, mode("hover", p.keys.Push)...)
	return append(out, mode("katamari", p.keys.Pull)...)
}

func mode(name string, on bool) []look.Span {
	if on {
		return []look.Span{look.Dim.Span("  " + name + " "), look.Value.Span("on")}
	}
	return []look.Span{look.Faint.Span("  " + name + " off")}
}

// camera says how much is in sight and whether the player is followed.
func (p *play) camera(th *look.Theme) []look.Span {
	if !p.known {
		return nil
	}
	follow := look.Dim.Span(" following")
	if !p.cam.Follow {
		follow = look.Dim.Span(" staying")
	}
	return []look.Span{look.Value.Span(units.Fixed(p.cam.Width, 0)), look.Dim.Span(" m across"), look.Faint.Span(" " + th.Dot), follow}
}

// switched is how a switch stands at now: as asked for, if that is still on its
// way. A lab that jumped back forgot it.
func (p *play) switched(t toggle, now time.Duration) bool {
	if a := p.requested[t]; now >= a.at && now < a.till {
		return a.on
	}
	return [numToggles]bool{p.keys.Push, p.keys.Pull, p.autopilot}[t]
}

// askSpan is how long a switch may take to come back in a picture: a frame, and
// the pause between two pictures.
const askSpan = 100 * time.Millisecond

// flip throws a switch of the live world.
func (p *play) flip(t toggle) room.Request {
	now := p.now
	on := !p.switched(t, now)
	r := room.Change(config.NewChange([numToggles]string{"hover", "katamari", "autopilot"}[t], on))
	r.Accepted = func(*config.Config) { p.requested[t] = toggleRequest{on, now, now + askSpan} }
	return r
}
