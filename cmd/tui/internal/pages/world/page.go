package world

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/worldview"
	"wirelab/experiment/config"
)

var _ room.Binder = (*page)(nil)

// page is page 4: the world from above at both ends, how the receiver's
// display fares, and the keys to play it.
type page struct {
	world      *views
	slot       *room.Slot // of world
	summary    *room.Slot
	playout    *panes.Playout
	charts     *room.Slot // of playout
	showCharts *bool      // nil if the user chose neither
	play       *play
	player     *room.Slot // of play
	w, h       int
}

// New returns the page.
func New() *page {
	p := &page{world: &views{shown: -1, cam: worldview.Camera{Rung: worldview.FirstZoom, Follow: true}}, play: &play{},
		playout: panes.NewPlayout(true)}
	p.slot, p.player, p.summary, p.charts = room.NewSlot(p.world), room.NewSlot(p.play), room.NewSlot(&panes.SummaryLine{}),
		room.NewSlot(p.playout)
	return p
}

func (p *page) Name() string { return "World" }

func (p *page) Observe(v room.View) bool {
	changed := p.summary.Observe(v)
	p.slot.Observe(v)
	if p.player.Observe(v) {
		changed = true
	}
	if p.charts.Observe(v) && p.charted(p.h) {
		changed = true
	}
	if p.world.due && (v.Spare || !v.Running()) {
		p.slot.Redraw()
	}
	return changed || !p.slot.Fresh
}

// The room of the charts of the display: how high they are, and from which height of the page
// they are shown unasked.
const (
	playoutRows = 8
	playoutFrom = 40
)

// charted reports whether a page of h rows shows the charts of the display.
func (p *page) charted(h int) bool {
	if p.showCharts != nil {
		return *p.showCharts && h > 2*playoutRows
	}
	return h >= playoutFrom
}

// Lines puts the line of vital numbers above the world, and the charts and the
// player's keys below.
func (p *page) Lines(th *look.Theme, w, h int) []string {
	const above, below = 1, 1
	p.w, p.h = w, h
	rows := 0
	if p.charted(h) {
		rows = playoutRows
	}
	lines := append(make([]string, 0, h), p.summary.Render(th, w, above, false)...)
	lines = append(lines, p.slot.Render(th, w, h-above-below-rows, false)...)
	if rows > 0 {
		lines = append(lines, p.charts.Render(th, w, rows, false)...)
	}
	if p.play.cam.Lens() != p.world.cam.Lens() {
		p.player.Redraw()
	}
	p.play.cam = p.world.cam // drawing told it how much is in sight
	return append(lines, p.player.Render(th, w, below, false)...)
}

// redraw draws the world anew although nothing in it moved.
func (p *page) redraw() {
	p.world.due = true
	p.slot.Redraw()
	p.player.Redraw()
}

func (p *page) Focus(step int) {
	p.world.nextViews(p.w)
	p.redraw()
}

// Move comes nearer, or goes back.
func (p *page) Move(dx, _ int) room.Request {
	p.zoomBy(dx)
	return room.Request{}
}

// Wheel does so too.
func (p *page) Wheel(up int) room.Request { return p.Move(up, 0) }

// Zoom changes how much time the charts show.
func (p *page) Zoom() {
	p.playout.NextSpan()
	p.charts.Redraw()
}

func (p *page) Fit() {
	p.playout.Fit()
	p.charts.Redraw()
}

// chart shows the charts of the display, or makes room for the world.
func (p *page) chart() {
	on := !p.charted(p.h)
	p.showCharts = &on
	p.redraw()
}

// Release goes back to the first look.
func (p *page) Release() {
	p.world.cam, p.world.shown = worldview.Camera{Rung: worldview.FirstZoom, Follow: true}, -1
	p.redraw()
}

func (p *page) zoomBy(n int) {
	p.world.cam.Zoom(n)
	p.redraw()
}

func (p *page) pan(dx, dy int) {
	p.world.cam.Pan(dx, dy)
	p.redraw()
}

func (p *page) follow() {
	k := &p.world.cam
	k.Follow = !k.Follow
	if k.Follow && p.world.pic != nil {
		k.X, k.Y = float64(p.world.pic.Sent[0].X), float64(p.world.pic.Sent[0].Y)
	}
	p.redraw()
}

func (p *page) Arrows() [][2]string {
	if p.play.live {
		return [][2]string{{"←↑↓→", "push"}}
	}
	return [][2]string{{"←↑↓→", "look around"}}
}

func (p *page) Means(key string) string {
	return map[string]string{"tab": "which views to show, as v", "z": "fit the axis; how much time; dots or lines", "esc": "the first look again"}[key]
}

func (p *page) Bindings() []room.Binding {
	const group = "World, page 4"
	on := func(keys []string, shown, help string, do func()) room.Binding {
		return room.Bind(group, keys, shown, help, room.Quietly(do))
	}
	flip := func(t toggle) func() room.Request { return func() room.Request { return p.play.flip(t) } }
	notPlayed := func() bool { return !p.play.live }
	list := []room.Binding{
		room.Bind(group, []string{"h"}, "h", "hover: fly, and blow away what is below", flip(toggleHover)).InFooter("hover").Pin().Unless(notPlayed),
		room.Bind(group, []string{"k"}, "k", "katamari: draw in what is around", flip(toggleKatamari)).InFooter("katamari").Pin().Unless(notPlayed),
		room.Bind(group, []string{"a"}, "a", "autopilot: let the script play, and take over again",
			flip(toggleAutopilot)).InFooter("autopilot").Unless(notPlayed),
		room.Bind(group, []string{"r"}, "r", "reset: all cubes back in the grid",
			func() room.Request { return room.Change(config.NewChange("reset", true)) }).InFooter("reset").Unless(notPlayed),
		on([]string{"v"}, "v", "sender, receiver, error: which of them to show", func() { p.Focus(1) }).InFooter("views"),
		on([]string{"c"}, "c", "charts of the display: age, starved, off, turned, late; or more room for the world", p.chart).InFooter("charts"),
		on([]string{"f"}, "f", "follow the player, or stay", p.follow).InFooter("follow"),
		on([]string{"+", "="}, "+", "closer, farther away", func() { p.zoomBy(1) }).InFooter("closer"),
		on([]string{"-"}, "", "", func() { p.zoomBy(-1) }),
	}
	for i, d := range config.Directions() {
		dx, dy := [4]int{-1, 1, 0, 0}[i], [4]int{0, 0, 1, -1}[i]
		push := room.Bind(group, []string{d}, "←↑↓→", "push the player; in a recording: look around",
			func() room.Request { return p.pushOrPan(d, dx, dy) })
		look := on([]string{"shift+" + d}, "shift+←↑↓→", "look around", func() { p.pan(dx, dy) })
		if i > 0 { // one row of the help is enough for all four
			push.SetHelp("", "")
			look.SetHelp("", "")
		}
		list = append(list, push, look)
	}
	return list
}

// pushOrPan pushes the player of a live world in a direction. In a recording it pans the view by dx, dy.
func (p *page) pushOrPan(direction string, dx, dy int) room.Request {
	if !p.play.live {
		p.pan(dx, dy)
		return room.Request{}
	}
	return room.Change(config.NewChange("press", direction))
}
