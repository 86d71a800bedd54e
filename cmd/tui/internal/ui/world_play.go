package ui

import (
	"time"

	"wirelab/dataset/world"
	"wirelab/experiment"
)

// playPane is the line below the world: who plays it, with which keys, and how
// the camera looks at it.
type playPane struct {
	live, autopilot, known bool
	source                 string
	keys                   world.Input
	cam                    camera
	asked                  [numToggles]ask
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

// ask is a switch that was thrown and is not in a picture yet. While time stands
// still, no picture will show it.
type ask struct {
	on       bool
	at, till time.Duration // virtual time from which, and until which, not to believe the pictures
}

func (p *playPane) name() string { return "Play" }

func (p *playPane) observe(v sight) bool {
	p.now = v.present().Now
	before := *p
	p.known = v.snap.World != nil && !v.back
	p.source = v.cfg.Data.Source
	if p.known {
		p.live, p.autopilot, p.keys = v.snap.World.Live, v.snap.World.Autopilot, v.snap.World.Keys
	}
	return *p != before
}

func (p *playPane) draw(c *canvas, th *theme, _ bool) {
	look := p.camera(th)
	room := c.w - 3 - spansWidth(look)
	c.spans(1, 0, room, p.player(th, room)...)
	c.spans(c.w-1-spansWidth(look), 0, spansWidth(look), look...)
}

// player says who plays, and what is held.
func (p *playPane) player(th *theme, room int) []span {
	switch {
	case !p.known:
		return nil
	case !p.live:
		return fit(room, []span{{inkDim, "a recording: nobody can play it; the live world is "}, {inkKey, "tui --data world"}},
			[]span{{inkDim, "recording; to play: "}, {inkKey, "--data world"}}, []span{{inkDim, "a recording"}})
	}
	who := span{inkFocus, "you play "}
	if p.autopilot {
		who = span{inkValue, "autopilot"}
	}
	out := []span{who, {inkDim, "  "}}
	for _, d := range []struct {
		on   bool
		sign string
	}{{p.keys.Left, "←"}, {p.keys.Up, "↑"}, {p.keys.Down, "↓"}, {p.keys.Right, "→"}} {
		k, sign := inkFaint, th.dot
		if d.on {
			k, sign = inkValue, d.sign
		}
		out = append(out, span{k, sign})
	}
	out = append(out, mode("hover", p.keys.Push)...)
	return append(out, mode("katamari", p.keys.Pull)...)
}

func mode(name string, on bool) []span {
	if on {
		return []span{{inkDim, "  " + name + " "}, {inkValue, "on"}}
	}
	return []span{{inkFaint, "  " + name + " off"}}
}

// camera says how much is in sight and whether the player is followed.
func (p *playPane) camera(th *theme) []span {
	if !p.known {
		return nil
	}
	follow := span{inkDim, " following"}
	if !p.cam.follow {
		follow = span{inkDim, " staying"}
	}
	return []span{{inkValue, fixed(p.cam.width, 0)}, {inkDim, " m across"}, {inkFaint, " " + th.dot}, follow}
}

// switched is how a switch stands at now: as asked for, if that is still on its
// way. A lab that jumped back forgot it.
func (p *playPane) switched(t toggle, now time.Duration) bool {
	if a := p.asked[t]; now >= a.at && now < a.till {
		return a.on
	}
	return [numToggles]bool{p.keys.Push, p.keys.Pull, p.autopilot}[t]
}

// askSpan is how long a switch may take to come back in a picture: a frame, and
// the pause between two pictures.
const askSpan = 100 * time.Millisecond

// flip throws a switch of the live world.
func (p *playPane) flip(t toggle) request {
	now := p.now
	on := !p.switched(t, now)
	r := play([numToggles]experiment.Input{{Hover: &on}, {Katamari: &on}, {Autopilot: &on}}[t])
	r.accepted = func(*experiment.Config) { p.asked[t] = ask{on, now, now + askSpan} }
	return r
}
