package world

import (
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/worldview"
	"wirelab/dataset/frame"
	"wirelab/experiment/config"
)

// firstCamera is the camera at the start and after esc.
var firstCamera = worldview.Camera{ZoomLevel: worldview.FirstZoom, Follow: true}

// New returns the page: the world from above at both endpoints, charts of the receiver's display, and
// the line of the player.
func New() *room.Page {
	play := &play{}
	world := &views{arrangement: -1, cam: firstCamera, play: play}
	play.cam = &world.cam
	p := &room.Page{Name: "World", Top: room.NewSlot(&panes.SummaryLine{}), TopIfWide: true, Bottom: room.NewSlot(play), BottomIfWide: true}
	s := p.Add(world, &budgets{world: world}, panes.NewPlayout(frame.Cubes(1)))
	p.LayOut = func(w, h int) []room.Place {
		upper := s[0]
		if world.showsBudgets {
			upper = s[1]
		}
		world.rows = h
		if !world.showsCharts() {
			return []room.Place{upper.Place(0, 0, w, h)}
		}
		return []room.Place{upper.Place(0, 0, w, h-chartRows), s[2].Place(0, h-chartRows, w, chartRows)}
	}
	p.Small = p.LayOut
	return p
}

// budgets shows the lanes with a budget in place of the world.
type budgets struct {
	panes.Budgets
	world *views
}

func (p *budgets) Absent() bool { return !p.world.showsBudgets }

// Move zooms in or out.
func (p *views) Move(dx, _ int) room.Request {
	p.zoomBy(dx)
	return room.Request{}
}

// Wheel implements room.Wheeler.
func (p *views) Wheel(_, _, notches int) room.Request {
	p.zoomBy(notches)
	return room.Request{}
}

// zoomBy zooms in by n levels, or out if n is negative.
func (p *views) zoomBy(n int) {
	p.cam.Zoom(n)
	p.dirty = true
}

// chartRows is the height of the charts of the display.
const chartRows = 8

// showsCharts reports whether the charts of the display are shown.
func (p *views) showsCharts() bool {
	if p.chartsChoice != nil {
		return *p.chartsChoice && p.rows > 2*chartRows
	}
	const minHeightForCharts = 38
	return p.rows >= minHeightForCharts
}

// toggleCharts shows or hides the charts of the display.
func (p *views) toggleCharts() {
	on := !p.showsCharts()
	p.chartsChoice = &on
}

// Release resets the camera and the arrangement of views.
func (p *views) Release() room.Request {
	p.showsBudgets = false
	p.cam, p.arrangement, p.dirty = firstCamera, -1, true
	return room.Request{}
}

// pan moves the view by steps; see worldview.Camera.Pan.
func (p *views) pan(dx, dy int) {
	p.cam.Pan(dx, dy)
	p.dirty = true
}

// toggleFollow makes the camera follow the player, or stay.
func (p *views) toggleFollow() {
	cam := &p.cam
	cam.Follow = !cam.Follow
	if cam.Follow && p.pic != nil {
		player := &p.pic.Sent[0] // cube 0 is the player
		cam.X, cam.Y = float64(player.X), float64(player.Y)
	}
	p.dirty = true
}

func (p *views) Arrows() [][2]string {
	if p.play.live {
		return [][2]string{{"←↑↓→", "push"}}
	}
	return [][2]string{{"←↑↓→", "pan"}}
}

func (p *views) KeyHelp(key string) string {
	return map[string]string{"esc": "reset the view"}[key]
}

// Bindings implements room.Binder. The keys of the player have no effect in a recording.
func (p *views) Bindings() []room.Binding {
	// flip returns an action that flips a switch of the live world.
	flip := func(t toggle) func() room.Request { return func() room.Request { return p.play.flipToggle(t) } }
	notPlayed := func() bool { return !p.play.live }
	reset := func() room.Request { return room.Change(config.NewChange("reset", true)) }
	zoom := func(step int) room.Request {
		p.zoomBy(step)
		return room.Request{}
	}
	push := func(dx, dy int) func(int) room.Request {
		return func(step int) room.Request { return p.pushOrPan(step*dx, step*dy) }
	}
	pan := func(dx, dy int) func(int) room.Request {
		return func(step int) room.Request {
			p.pan(step*dx, step*dy)
			return room.Request{}
		}
	}
	return []room.Binding{
		room.Bind("h", "hover: fly, and blow cubes away", flip(toggleHover)).InFooter("hover").Pin().Unless(notPlayed),
		room.Bind("k", "katamari: attract cubes", flip(toggleKatamari)).InFooter("katamari").Pin().Unless(notPlayed),
		room.Bind("a", "autopilot: the script plays, or you do", flip(toggleAutopilot)).InFooter("autopilot").Unless(notPlayed),
		room.Bind("r", "reset: put all cubes back into the grid", reset).InFooter("reset").Unless(notPlayed),
		room.Bind("v", "next views: sender, receiver, error", room.WithoutRequest(p.nextArrangement)).InFooter("views").
			NotifyIdle("the heat map of costs stands beside the receiver; $ ends it"),
		room.Bind("c", "charts of the display (age, errors), or a larger world", room.WithoutRequest(p.toggleCharts)).InFooter("charts"),
		room.Bind("f", "follow the player, or stop", room.WithoutRequest(p.toggleFollow)).InFooter("follow"),
		room.Pair("-", "+ =", "zoom out, zoom in", zoom).InFooter("zoom"),
		panes.RowCostBinding("heat map of the bits that each cube cost in the last 2 s", func() bool { return p.costs != nil }),
		p.budgetBinding(),
		room.Pair("left", "right", "push the player; in a recording: pan", push(1, 0)),
		room.Pair("down", "up", "push the player; in a recording: pan", push(0, 1)),
		room.Pair("shift+left", "shift+right", "pan", pan(1, 0)),
		room.Pair("shift+down", "shift+up", "pan", pan(0, 1)),
	}
}

// pushOrPan pushes the player of a live world in a direction, of which dx or dy is not 0; y grows upwards. In a
// recording it pans the view.
func (p *views) pushOrPan(dx, dy int) room.Request {
	if !p.play.live {
		p.pan(dx, dy)
		return room.Request{}
	}
	direction := map[[2]int]string{{-1, 0}: "left", {1, 0}: "right", {0, 1}: "up", {0, -1}: "down"}[[2]int{dx, dy}]
	return room.Change(config.NewChange("press", direction))
}
