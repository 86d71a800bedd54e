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

// play is the line below the world: who plays, which keys are pressed, and the camera.
type play struct {
	live      bool                      // the world is simulated, so that it can be played; false for a recording
	autopilot bool                      // a script plays
	known     bool                      // the snapshot has a world; otherwise nothing is drawn
	keys      world.Input               // the pressed keys
	cam       *worldview.Camera         // of the world
	requested [numToggles]toggleRequest // not yet confirmed by a snapshot
	now       time.Duration             // virtual time of the newest snapshot
}

// toggle is a switch of the live world.
type toggle uint8

const (
	toggleHover toggle = iota
	toggleKatamari
	toggleAutopilot
	numToggles
)

// toggleRequest is a toggle that was set and that no snapshot shows yet. While the time stands still,
// snapshots do not change.
type toggleRequest struct {
	on          bool
	from, until time.Duration // virtual times between which the snapshots are not up to date
}

func (p *play) Name() string { return "Play" }

func (p *play) Observe(v room.View) bool {
	p.now = v.Newest().Now
	before := *p
	p.known = v.Snap.World != nil && !v.Past
	if p.known {
		p.live, p.autopilot, p.keys = v.Snap.World.Live, v.Snap.World.Autopilot, v.Snap.World.Keys
	}
	return *p != before
}

// Draw implements room.Pane: the player on the left, the camera on the right.
func (p *play) Draw(c *look.Canvas, th *look.Theme, _ bool) {
	camera := p.cameraSpans(th)
	cameraWidth := look.SpansWidth(camera)
	playerWidth := c.W - 3 - cameraWidth
	c.Spans(1, 0, playerWidth, p.playerSpans(th, playerWidth)...)
	c.Spans(c.W-1-cameraWidth, 0, cameraWidth, camera...)
}

// playerSpans describes who plays, the user or the autopilot, and which keys are pressed, in at most
// maxWidth columns; nil if unknown.
func (p *play) playerSpans(th *look.Theme, maxWidth int) []look.Span {
	switch {
	case !p.known:
		return nil
	case !p.live:
		return look.Fit(maxWidth, []look.Span{look.Dim.Span("a recording cannot be played; for a live world: "),
			look.Key.Span("tui --data world")},
			[]look.Span{look.Dim.Span("recording; to play: "), look.Key.Span("--data world")}, []look.Span{look.Dim.Span("a recording")})
	}
	who := look.Focus.Span("you play ")
	if p.autopilot {
		who = look.Value.Span("autopilot")
	}
	out := []look.Span{who, look.Dim.Span("  ")}
	for _, d := range []struct {
		isPressed bool
		arrow     string
	}{{p.keys.Left, "←"}, {p.keys.Up, "↑"}, {p.keys.Down, "↓"}, {p.keys.Right, "→"}} {
		style, text := look.Faint, th.Dot
		if d.isPressed {
			style, text = look.Value, d.arrow
		}
		out = append(out, style.Span(text))
	}
	// In the world hover is called Push, because it pushes cubes away, and katamari Pull.
	out = append(out, modeSpans("hover", p.keys.Push)...)
	return append(out, modeSpans("katamari", p.keys.Pull)...)
}

// modeSpans describes a toggle of the player.
func modeSpans(name string, on bool) []look.Span {
	if on {
		return []look.Span{look.Dim.Span("  " + name + " "), look.Value.Span("on")}
	}
	return []look.Span{look.Faint.Span("  " + name + " off")}
}

// cameraSpans describes the visible width and whether the camera follows the player.
func (p *play) cameraSpans(th *look.Theme) []look.Span {
	if !p.known {
		return nil
	}
	follow := look.Dim.Span(" following")
	if !p.cam.Follow {
		follow = look.Dim.Span(" fixed")
	}
	return []look.Span{look.Value.Span(units.Fixed(p.cam.Width, 0)), look.Dim.Span(" m across"), look.Faint.Span(" " + th.Dot), follow}
}

// isOn returns the state of a toggle at virtual time now: the requested state until a snapshot can show
// it, then that of the snapshot. If the lab was rewound, now is before the request, which is ignored.
func (p *play) isOn(t toggle, now time.Duration) bool {
	if request := p.requested[t]; now >= request.from && now < request.until {
		return request.on
	}
	return [numToggles]bool{p.keys.Push, p.keys.Pull, p.autopilot}[t]
}

// toggleTimeout is how long a snapshot may not show a toggle yet: a frame and the interval between
// two snapshots.
const toggleTimeout = 100 * time.Millisecond

// flipToggle flips a toggle of the live world.
func (p *play) flipToggle(t toggle) room.Request {
	now := p.now
	on := !p.isOn(t, now)
	r := room.Change(config.NewChange([numToggles]string{"hover", "katamari", "autopilot"}[t], on))
	r.Accepted = func(*config.Config) { p.requested[t] = toggleRequest{on, now, now + toggleTimeout} }
	return r
}
