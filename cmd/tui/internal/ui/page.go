package ui

import "wirelab/experiment"

// page is one screenful between header and footer: its panes, how they are
// arranged, and what the keys mean on it. A page embeds base and implements what it
// does otherwise.
type page interface {
	name() string
	observe(sight) bool // what is new for its panes; reports whether anything is
	// view returns h lines of w columns.
	view(th *theme, w, h int) []string
	focus(step int)          // the next pane
	move(dx, dy int) request // arrows; dx in rungs
	enter() request
	release()     // let go of what is selected
	aim() request // the next of the links that the controls may set
	zoom()
	click(x, y int) request // at a place of the page

	// bindings are the keys that hold on this page only; they go before those that
	// hold everywhere.
	bindings() []binding
	// arrows are what the arrow keys do here, for the footer: signs and a word.
	arrows() [][2]string
}

// base is a page that does nothing with any key.
type base struct{}

func (base) focus(int)              {}
func (base) move(int, int) request  { return request{} }
func (base) enter() request         { return request{} }
func (base) release()               {}
func (base) aim() request           { return request{} }
func (base) zoom()                  {}
func (base) click(int, int) request { return request{} }
func (base) bindings() []binding    { return nil }
func (base) arrows() [][2]string    { return nil }

// worker is a page with work that takes longer than a tick may.
type worker interface {
	// work returns what is to be done now, away from the screen; that returns what to
	// do with the result, back at the screen. nil: there is nothing.
	work() (read func() (take func()))
}

// packetPage is the page on which packets are looked at.
type packetPage interface {
	showPacket(experiment.PacketID) request
	filterPackets(filter)
}

// packetChooser is a page with a cursor on packets.
type packetChooser interface {
	// chosenPacket is the packet under the cursor; false if there is none.
	chosenPacket() (experiment.PacketID, bool)
}

// wide reports whether all panes fit the screen at once.
func wide(w, h int) bool { return w >= 104 && h >= 30 }

// rightColumn is the width of the controls and what stands below them.
func rightColumn(w int) int { return min(max(w*36/100, 52), 66) }
