package world

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/world"
)

// play is the line below a world of cubes: who plays, which keys are pressed, and the commands of the player.
type play struct {
	live      bool        // the world is simulated, so that it can be played; false for a recording
	autopilot bool        // a script plays
	known     bool        // the snapshot has a world; otherwise nothing is drawn
	keys      world.Input // the pressed keys
}

func (p *play) Name() string { return "Play" }

func (p *play) Observe(v room.View) bool {
	before := *p
	p.known = v.Snap.World != nil && !v.Past
	if p.known {
		p.live, p.autopilot, p.keys = v.Snap.World.Live, v.Snap.World.Autopilot, v.Snap.World.Keys
	}
	return *p != before
}

// Draw implements room.Pane.
func (p *play) Draw(c *look.Canvas, th *look.Theme, _ bool) {
	switch {
	case !p.known:
	case p.live:
		c.Spans(1, 0, c.W-2, look.FitGroups(c.W-2, p.player(th))...)
	default:
		c.Spans(1, 0, c.W-2, look.Fit(c.W-2, []look.Span{look.Dim.Span("a recording cannot be played; for a live world: "),
			look.Key.Span("tui --data world")}, []look.Span{look.Dim.Span("recording; to play: "), look.Key.Span("--data world")})...)
	}
}

// player describes who plays, the pressed arrows, and the commands with what they have set.
func (p *play) player(th *look.Theme) [][]look.Span {
	who := []look.Span{look.Focus.Span("you play   ")}
	if p.autopilot {
		who = []look.Span{look.Value.Span("autopilot  ")}
	}
	for _, d := range []struct {
		isPressed bool
		arrow     string
	}{{p.keys.Left, "←"}, {p.keys.Up, "↑"}, {p.keys.Down, "↓"}, {p.keys.Right, "→"}} {
		style, text := look.Faint, th.Dot
		if d.isPressed {
			style, text = look.Value, d.arrow
		}
		who = append(who, style.Span(text))
	}
	// command returns a command with the state of its switch, of constant width.
	command := func(name string, on bool) []look.Span {
		if on {
			return []look.Span{look.Key.Span("  /" + name), look.Value.Span(": on ")}
		}
		return []look.Span{look.Key.Span("  /" + name), look.Faint.Span(": off")}
	}
	// In the world hover is called Push, because it pushes cubes away, and katamari Pull.
	return [][]look.Span{who, command("hover", p.keys.Push), command("katamari", p.keys.Pull),
		command("autopilot", p.autopilot), {look.Key.Span("  /reset")}}
}
