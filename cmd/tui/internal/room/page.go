package room

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine/packetlog"
)

// Page is one screenful between header and footer. What else a page can do it declares by
// implementing the interfaces below.
type Page interface {
	Name() string
	// Lines returns h lines of w columns.
	Lines(th *look.Theme, w, h int) []string
}

// Binder is a page with keys of its own; they go before those of every page.
type Binder interface{ Bindings() []Binding }

// BindingsOf returns the keys of a page alone.
func BindingsOf(p Page) []Binding {
	if b, ok := p.(Binder); ok {
		return b.Bindings()
	}
	return nil
}

// Ask passes a key or a click to a page that implements T; other pages ignore it.
func Ask[T any](p Page, do func(T) Request) Request {
	if q, ok := p.(T); ok {
		return do(q)
	}
	return Request{}
}

// Observer is a page, or a pane, that shows the lab.
type Observer interface {
	// Observe takes from the view what is shown, and reports whether the picture changes.
	Observe(View) bool
}

// Focuser is a page of several panes.
type Focuser interface {
	Focus(step int) // gives the keys to the next pane (1) or the one before (-1)
}

// Mover is a page on which the arrow keys choose and adjust.
type Mover interface {
	Move(dx, dy int) Request // dx in steps of a control
}

// Enterer is a page with something to open.
type Enterer interface{ Enter() Request }

// Releaser is a page on which something can be selected.
type Releaser interface{ Release() }

// Aimer is a page with controls for either link, or both.
type Aimer interface {
	Aim() Request // selects the next of the links that the controls set
}

// Zoomer is a page of charts over time.
type Zoomer interface {
	Zoom() // shows the next span of time
}

// Fitter is a page of charts whose value axes can begin above zero.
type Fitter interface {
	Fit() // switches between an axis that fits the data and one from zero
}

// Clicker is a page that uses mouse clicks.
type Clicker interface{ Click(x, y int) Request }

// Wheeler is a page on which the mouse wheel does not move what is chosen up and down.
type Wheeler interface {
	Wheel(up int) Request // in notches away from the hand
}

// Hinter is a page whose arrow keys are named in the footer.
type Hinter interface {
	Arrows() [][2]string // signs and a word
}

// Explainer describes what shared keys do on a page.
type Explainer interface {
	// Means returns what a shared key does on this page, for the help; "up" stands for the
	// arrows up and down, "left" for the others. "" means that the common text applies.
	Means(key string) string
}

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
