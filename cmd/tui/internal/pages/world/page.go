package world

import (
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/worldview"
	"wirelab/dataset/frame"
	"wirelab/experiment/config"
)

var _ room.Binder = (*page)(nil)

// page is page 4: the world from above at both endpoints, charts of the receiver's display, and the
// line of the player.
type page struct {
	world        *views
	slot         *room.Slot // of world
	summary      *room.Slot
	budgets      *room.Slot // of lanes with a budget, in place of the world
	showsBudgets bool
	hasBudget    bool // a lane has a budget
	playout      *panes.Playout
	charts       *room.Slot // of playout
	chartsChoice *bool      // whether to show the charts; nil if the user has not chosen
	play         *play
	player       *room.Slot // of play
	alone        panes.Alone
	w, h         int
}

func New() *page {
	p := &page{world: &views{arrangement: -1, cam: worldview.Camera{ZoomLevel: worldview.FirstZoom, Follow: true}}, play: &play{},
		playout: panes.NewPlayout(frame.Cubes(1))}
	p.slot, p.player, p.summary, p.charts = room.NewSlot(p.world), room.NewSlot(p.play), room.NewSlot(&panes.SummaryLine{}),
		room.NewSlot(p.playout)
	p.budgets = room.NewSlot(&panes.Budgets{})
	return p
}

func (p *page) Name() string { return "World" }

// Observe implements room.Observer. While the session runs, the world is
// redrawn only if the budget of output to the terminal allows a redraw of the whole page.
func (p *page) Observe(v room.View) bool {
	changed := p.summary.Observe(v)
	p.slot.Observe(v)
	p.hasBudget = panes.HasBudget(v.Snap)
	p.showsBudgets = p.showsBudgets && p.hasBudget && p.world.costs == nil
	if p.budgets.Observe(v) && p.showsBudgets {
		changed = true
	}
	if p.player.Observe(v) {
		changed = true
	}
	if p.charts.Observe(v) && p.showsCharts(p.h) {
		changed = true
	}
	if p.world.dirty && (v.CanRedrawAll || !v.Running()) {
		p.slot.Redraw()
	}
	return changed || !p.slot.UpToDate
}

// chartRows is the height of the charts of the display; minHeightForCharts is the height of the page
// from which they are shown by default.
const (
	chartRows          = 8
	minHeightForCharts = 40
)

// showsCharts reports whether a page of h rows shows the charts of the display.
func (p *page) showsCharts(h int) bool {
	if p.alone != panes.Both {
		return p.alone == panes.ChartsAlone
	}
	if p.chartsChoice != nil {
		return *p.chartsChoice && h > 2*chartRows
	}
	return h >= minHeightForCharts
}

// Lines renders the summary line, the world, the charts and the line of the player.
func (p *page) Lines(th *look.Theme, w, h int) []string {
	const summaryRows, playRows = 1, 1
	p.w, p.h = w, h
	rows := 0
	if p.showsCharts(h) {
		rows = p.alone.ChartRows(h-summaryRows-playRows, chartRows)
	}
	lines := append(make([]string, 0, h), p.summary.Render(th, w, summaryRows, look.Unfocused)...)
	if world := h - summaryRows - playRows - rows; world > 0 {
		slot := p.slot
		if p.showsBudgets {
			slot = p.budgets
		}
		lines = append(lines, slot.Render(th, w, world, look.Unfocused)...)
	}
	if rows > 0 {
		lines = append(lines, p.charts.Render(th, w, rows, look.Unfocused)...)
	}
	if p.play.cam.WithoutPosition() != p.world.cam.WithoutPosition() {
		p.player.Redraw()
	}
	p.play.cam = p.world.cam // drawing set its Width
	return append(lines, p.player.Render(th, w, playRows, look.Unfocused)...)
}

// redraw marks the world and the line of the player for redrawing.
func (p *page) redraw() {
	p.world.dirty = true
	p.slot.Redraw()
	p.player.Redraw()
}

// Focus selects the next arrangement of views.
func (p *page) Focus(step int) {
	p.showsBudgets = false
	p.world.nextArrangement(p.w)
	p.redraw()
}

// Move zooms in or out.
func (p *page) Move(dx, _ int) room.Request {
	p.zoomBy(dx)
	return room.Request{}
}

// Wheel implements room.Wheeler: over the world it zooms in or out.
func (p *page) Wheel(_, y, notches int) room.Request {
	const summaryRows = 1
	worldRows := p.slot.H
	if p.alone == panes.ChartsAlone {
		worldRows = 0
	}
	switch belowWorld := y - summaryRows - worldRows; {
	case y < summaryRows: // the line of figures
	case belowWorld < 0:
		p.zoomBy(notches)
	case p.showsCharts(p.h) && belowWorld < p.charts.H:
		p.playout.ZoomBy(notches)
		p.charts.Redraw()
	}
	return room.Request{}
}

// Zoom selects the next time span of the charts.
func (p *page) Zoom() {
	p.playout.NextSpan()
	p.charts.Redraw()
}

func (p *page) Span() time.Duration { return p.playout.Span() }

// Maximise implements room.Maximiser: the world alone, then the charts alone, then both.
func (p *page) Maximise() {
	p.alone.Next()
	p.redraw()
}

// toggleCharts shows or hides the charts of the display.
func (p *page) toggleCharts() {
	on := !p.showsCharts(p.h)
	p.chartsChoice = &on
	p.redraw()
}

// Release resets the camera and the arrangement of views.
func (p *page) Release() room.Request {
	p.showsBudgets = false
	p.world.cam, p.world.arrangement = worldview.Camera{ZoomLevel: worldview.FirstZoom, Follow: true}, -1
	p.redraw()
	return room.Request{}
}

// zoomBy zooms in by n levels, or out if n is negative.
func (p *page) zoomBy(n int) {
	p.world.cam.Zoom(n)
	p.redraw()
}

// pan moves the view by steps; see worldview.Camera.Pan.
func (p *page) pan(dx, dy int) {
	p.world.cam.Pan(dx, dy)
	p.redraw()
}

// toggleFollow makes the camera follow the player, or stay.
func (p *page) toggleFollow() {
	cam := &p.world.cam
	cam.Follow = !cam.Follow
	if cam.Follow && p.world.pic != nil {
		player := &p.world.pic.Sent[0] // cube 0 is the player
		cam.X, cam.Y = float64(player.X), float64(player.Y)
	}
	p.redraw()
}

func (p *page) Arrows() [][2]string {
	if p.play.live {
		return [][2]string{{"←↑↓→", "push"}}
	}
	return [][2]string{{"←↑↓→", "pan"}}
}

func (p *page) KeyHelp(key string) string {
	return map[string]string{"tab": "next views, same as v", "esc": "reset the view"}[key]
}

// Bindings implements room.Binder. The keys of the player have no effect in a recording.
func (p *page) Bindings() []room.Binding {
	const group = "World, page 4"
	// on returns a binding of keys to do, an action without a request.
	on := func(keys []string, shown, help string, do func()) room.Binding {
		return room.Bind(group, keys, shown, help, room.WithoutRequest(do))
	}
	// flip returns an action that flips a switch of the live world.
	flip := func(t toggle) func() room.Request { return func() room.Request { return p.play.flipToggle(t) } }
	notPlayed := func() bool { return !p.play.live }
	list := []room.Binding{
		room.Bind(group, []string{"h"}, "h", "hover: fly, and blow cubes away", flip(toggleHover)).InFooter("hover").Pin().Unless(notPlayed),
		room.Bind(group, []string{"k"}, "k", "katamari: attract cubes", flip(toggleKatamari)).InFooter("katamari").Pin().Unless(notPlayed),
		room.Bind(group, []string{"a"}, "a", "autopilot: the script plays, or you do",
			flip(toggleAutopilot)).InFooter("autopilot").Unless(notPlayed),
		room.Bind(group, []string{"r"}, "r", "reset: put all cubes back into the grid",
			func() room.Request { return room.Change(config.NewChange("reset", true)) }).InFooter("reset").Unless(notPlayed),
		on([]string{"v"}, "v", "next views: sender, receiver, error", func() { p.Focus(1) }).InFooter("views").
			NotifyIdle("the heat map of costs stands beside the receiver; $ ends it"),
		on([]string{"c"}, "c", "charts of the display (age, errors), or a larger world", p.toggleCharts).InFooter("charts"),
		on([]string{"f"}, "f", "follow the player, or stop", p.toggleFollow).InFooter("follow"),
		on([]string{"+", "="}, "+", "zoom in, zoom out", func() { p.zoomBy(1) }).InFooter("zoom in"),
		on([]string{"-"}, "", "", func() { p.zoomBy(-1) }),
		panes.RowCostBinding(group, "heat map of the bits that each cube cost in the last 2 s",
			func() bool { return p.world.costs != nil }),
		p.budgetBinding(group),
	}
	for i, d := range config.Directions() { // left, right, up, down; up is the direction of growing y
		dx, dy := [4]int{-1, 1, 0, 0}[i], [4]int{0, 0, 1, -1}[i]
		push := room.Bind(group, []string{d}, "←↑↓→", "push the player; in a recording: pan",
			func() room.Request { return p.pushOrPan(d, dx, dy) })
		pan := on([]string{"shift+" + d}, "shift+←↑↓→", "pan", func() { p.pan(dx, dy) })
		if i > 0 { // the help has one row for all four directions
			push.SetHelp("", "")
			pan.SetHelp("", "")
		}
		list = append(list, push, pan)
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
