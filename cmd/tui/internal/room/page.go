package room

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine/packetlog"
)

// Page is one screenful between header and footer: its panes, how they are
// arranged, and what the keys mean on it. A page embeds Base and implements what it
// does otherwise.
type Page interface {
	Name() string
	Observe(View) bool // what is new for its panes; reports whether anything is
	// Lines returns h lines of w columns.
	Lines(th *look.Theme, w, h int) []string
	Focus(step int)          // the next pane
	Move(dx, dy int) Request // arrows; dx in rungs
	Enter() Request
	Release()               // let go of what is selected
	Aim() Request           // the next of the links that the controls may set
	Zoom()                  // the next span of time that the charts show
	Fit()                   // axes of values go by the data alone, or from zero again
	Wheel(up int) Request   // of the mouse: notches away from the hand
	Click(x, y int) Request // at a place of the page

	// Bindings are the keys that hold on this page only; they go before those that
	// hold everywhere.
	Bindings() []Binding
	// Arrows are what the arrow keys do here, for the footer: signs and a word.
	Arrows() [][2]string
	// Means is what a key that holds everywhere is for on this page, for the help: "up"
	// stands for the arrows up and down, "left" for the others. "": nothing of its own.
	Means(key string) string
}

// Base is a page that does nothing with any key.
type Base struct{}

func (Base) Focus(int) {}

func (Base) Move(int, int) Request { return Request{} }

func (Base) Enter() Request { return Request{} }

func (Base) Release() {}

func (Base) Aim() Request { return Request{} }

func (Base) Zoom() {}

func (Base) Fit() {}

func (Base) Wheel(int) Request { return Request{} }

func (Base) Click(int, int) Request { return Request{} }

func (Base) Bindings() []Binding { return nil }

func (Base) Arrows() [][2]string { return nil }

func (Base) Means(string) string { return "" }

// Worker is a page with work that takes longer than a tick may.
type Worker interface {
	// Work returns what is to be done now, away from the screen; that returns what to
	// do with the result, back at the screen. nil: there is nothing.
	Work() (read func() (take func()))
}

// PacketPage is the page on which packets are looked at.
type PacketPage interface {
	ShowPacket(packetlog.ID) Request
	FilterPackets(Filter)
}

// PacketChooser is a page with a cursor on packets.
type PacketChooser interface {
	// ChosenPacket is the packet under the cursor; false if there is none.
	ChosenPacket() (packetlog.ID, bool)
}

// Wide reports whether all panes fit the screen at once.
func Wide(w, h int) bool { return w >= 104 && h >= 30 }

// RightColumn is the width of the controls and what stands below them.
func RightColumn(w int) int { return min(max(w*36/100, 52), 66) }
