package ui

import (
	"wirelab/experiment"
)

// worldPage is page 4: the world from above at both ends, how the receiver's
// display fares, and the keys to play it.
type worldPage struct {
	base
	world   *worldPane
	slot    *slot // of world
	vitals  *slot
	playout *playoutPane
	charts  *slot // of playout
	asked   *bool // whether the charts are shown; nil: nobody chose
	play    *playPane
	player  *slot // of play
	w, h    int
}

func newWorldPage() *worldPage {
	p := &worldPage{world: &worldPane{shown: -1, cam: camera{rung: firstZoom, follow: true}}, play: &playPane{}, playout: newPlayoutPane()}
	p.slot, p.player, p.vitals, p.charts = newSlot(p.world), newSlot(p.play), newSlot(&vitalsPane{}), newSlot(p.playout)
	return p
}

func (p *worldPage) name() string { return "World" }

func (p *worldPage) observe(v sight) bool {
	changed := p.vitals.observe(v)
	p.slot.observe(v)
	if p.player.observe(v) {
		changed = true
	}
	if p.charts.observe(v) && p.charted(p.h) {
		changed = true
	}
	if p.world.due && (v.spare || !v.running()) {
		p.slot.redraw()
	}
	return changed || !p.slot.fresh
}

// charted reports whether a page of h rows shows the charts of the display.
func (p *worldPage) charted(h int) bool {
	if p.asked != nil {
		return *p.asked && h > 2*playoutRows
	}
	return h >= playoutFrom
}

// view puts the line of vital numbers above the world, and the charts and the
// player's keys below.
func (p *worldPage) view(th *theme, w, h int) []string {
	const above, below = 1, 1
	p.w, p.h = w, h
	rows := 0
	if p.charted(h) {
		rows = playoutRows
	}
	lines := append(make([]string, 0, h), p.vitals.render(th, w, above, false)...)
	lines = append(lines, p.slot.render(th, w, h-above-below-rows, false)...)
	if rows > 0 {
		lines = append(lines, p.charts.render(th, w, rows, false)...)
	}
	if p.play.cam.lens() != p.world.cam.lens() {
		p.player.redraw()
	}
	p.play.cam = p.world.cam // drawing told it how much is in sight
	return append(lines, p.player.render(th, w, below, false)...)
}

// redraw draws the world anew although nothing in it moved.
func (p *worldPage) redraw() {
	p.world.due = true
	p.slot.redraw()
	p.player.redraw()
}

func (p *worldPage) focus(step int) {
	p.world.nextViews(p.w)
	p.redraw()
}

// move is the wheel of the mouse.
func (p *worldPage) move(dx, _ int) request {
	p.zoomBy(dx)
	return request{}
}

// zoom changes how much time the charts show.
func (p *worldPage) zoom() {
	p.playout.nextSpan()
	p.charts.redraw()
}

// chart shows the charts of the display, or makes room for the world.
func (p *worldPage) chart() {
	on := !p.charted(p.h)
	p.asked = &on
	p.redraw()
}

// release goes back to the first look.
func (p *worldPage) release() {
	p.world.cam, p.world.shown = camera{rung: firstZoom, follow: true}, -1
	p.redraw()
}

func (p *worldPage) zoomBy(n int) {
	p.world.cam.zoom(n)
	p.redraw()
}

func (p *worldPage) pan(dx, dy int) {
	p.world.cam.pan(dx, dy)
	p.redraw()
}

func (p *worldPage) follow() {
	k := &p.world.cam
	if k.follow = !k.follow; k.follow && p.world.pic != nil {
		k.x, k.y = float64(p.world.pic.Sent[0].X), float64(p.world.pic.Sent[0].Y)
	}
	p.redraw()
}

func (p *worldPage) arrows() [][2]string {
	if p.play.live {
		return [][2]string{{"←↑↓→", "push"}}
	}
	return [][2]string{{"←↑↓→", "look around"}}
}

func (p *worldPage) bindings() []binding {
	const group = "World, page 4"
	on := func(keys []string, shown, help string, do func()) binding {
		return bind(group, keys, shown, help, quietly(do))
	}
	flip := func(t toggle) func() request { return func() request { return p.play.flip(t) } }
	list := []binding{
		bind(group, []string{"h"}, "h", "hover: fly, and blow away what is below", flip(toggleHover)).inFooter("hover").pin(),
		bind(group, []string{"k"}, "k", "katamari: draw in what is around", flip(toggleKatamari)).inFooter("katamari").pin(),
		bind(group, []string{"a"}, "a", "autopilot: let the script play, and take over again", flip(toggleAutopilot)).inFooter("autopilot"),
		bind(group, []string{"r"}, "r", "reset: all cubes back in the grid", func() request { return play(experiment.Input{Reset: true}) }).inFooter("reset"),
		on([]string{"v"}, "v", "sender, receiver, error: which of them to show", func() { p.focus(1) }).inFooter("views"),
		on([]string{"c"}, "c", "charts of the display: starved, off, turned, late; or more room for the world", p.chart).inFooter("charts"),
		on([]string{"f"}, "f", "follow the player, or stay", p.follow).inFooter("follow"),
		on([]string{"+", "="}, "+", "closer", func() { p.zoomBy(1) }).inFooter("closer"),
		on([]string{"-"}, "-", "farther away", func() { p.zoomBy(-1) }),
	}
	for i, d := range experiment.Directions() {
		dx, dy := [4]int{-1, 1, 0, 0}[i], [4]int{0, 0, 1, -1}[i]
		push := bind(group, []string{d}, "←↑↓→", "push the player; in a recording: look around", func() request { return p.push(d, dx, dy) })
		look := on([]string{"shift+" + d}, "shift+←↑↓→", "look around", func() { p.pan(dx, dy) })
		if i > 0 { // one row of the help is enough for all four
			push.SetHelp("", "")
			look.SetHelp("", "")
		}
		list = append(list, push, look)
	}
	return list
}

// push presses a direction of the live world; a recording can only be looked at.
func (p *worldPage) push(direction string, dx, dy int) request {
	if !p.play.live {
		p.pan(dx, dy)
		return request{}
	}
	return play(experiment.Input{Press: direction})
}

// play hands an input to the lab.
func play(in experiment.Input) request { return change(experiment.Change{Input: &in}) }
