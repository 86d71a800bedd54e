package ui

import "wirelab/experiment"

// page is one screenful between header and footer. A page is one file: its panes,
// how they are arranged, and what the arrows mean on it.
type page interface {
	name() string
	number() int        // the key that shows it
	observe(sight) bool // what is new for its panes; reports whether anything is
	// view returns h lines of w columns.
	view(th *theme, w, h int) []string
	focus(step int)       // the next pane
	move(dx, dy int) wish // arrows; dx in rungs
	enter() wish
	release() // let go of what is selected
	aim()     // the next of the links that the controls may set
	zoom()
	click(x, y int) // at a place of the page

	// bindings are the keys that hold on this page only; they go before those that
	// hold everywhere.
	bindings() []binding
	// arrows are what the arrow keys do here, for the footer: signs and a word.
	arrows() [][2]string
}

// wish is what a page wants done that it cannot do itself.
type wish struct {
	command *experiment.Command
	pick    *picker // open this list
	edit    string  // open the command line with this text
}

// place is where a pane lies on a page.
type place struct {
	slot       *slot
	x, y, w, h int
}

// join puts panes together into h lines of w columns. The places must tile the
// page; those of one row must be given from left to right. The focused pane has the keys, the lit one is pointed at.
func join(th *theme, places []place, h int, focused pane, lit *slot) []string {
	lines := make([]string, h)
	for _, p := range places {
		for i, line := range p.slot.render(th, p.w, p.h, p.slot.pane == focused || p.slot == lit) {
			lines[p.y+i] += line
		}
	}
	return lines
}
