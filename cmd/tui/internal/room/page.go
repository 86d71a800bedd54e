package room

import (
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/packetfilter"
	"wirelab/experiment/engine/packetlog"
)

// Page is the content between header and footer. Optional features are the interfaces below.
type Page interface {
	Name() string
	// Lines returns h lines of w columns.
	Lines(th *look.Theme, w, h int) []string
}

// Binder is a page with its own keys, which have priority over the common ones.
type Binder interface{ Bindings() []Binding }

// PageBindings returns the page's own keys.
func PageBindings(p Page) []Binding {
	if b, ok := p.(Binder); ok {
		return b.Bindings()
	}
	return nil
}

// Dispatch calls do with the page if that implements the optional interface T, and returns the resulting request;
// otherwise an empty one.
func Dispatch[T any](p Page, do func(T) Request) Request {
	if q, ok := p.(T); ok {
		return do(q)
	}
	return Request{}
}

// Observer is a page or a pane that shows the state of the lab.
type Observer interface {
	// Observe stores what is shown of the view and reports whether the picture changes.
	Observe(View) bool
}

// Focuser is a page with several panes.
type Focuser interface {
	Focus(step int) // focuses the next pane (1) or the previous one (-1)
}

// Mover is a page on which the arrow keys select or adjust.
type Mover interface {
	Move(dx, dy int) Request // dx in steps to the right, or of a control; dy in rows down
}

// Enterer is a page that handles the enter key.
type Enterer interface{ Enter() Request }

// Releaser is a page with a selection that esc clears.
type Releaser interface {
	Release() Request // clears the selection
}

// Aimer is a page whose controls set the downlink, the uplink or both.
type Aimer interface {
	Aim() Request // selects the next of the links that the controls set
}

// Zoomer is a page with charts over time.
type Zoomer interface {
	Zoom() // shows the next span of time
}

// Spanner is a page with charts over time that show View.Crosshair.
type Spanner interface {
	Span() time.Duration // the time that the charts show
}

// Maximiser is a page on which one pane can fill the page.
type Maximiser interface {
	Maximise() // shows one pane alone, then the next one on pages without focus, then all panes again
}

// Clicker is a page that uses mouse clicks.
type Clicker interface{ Click(x, y int) Request }

// Wheeler is a page that handles the mouse wheel.
type Wheeler interface {
	// Wheel handles the wheel over (x, y) of the page, in notches; positive is away from the user. It acts on
	// the pane under the pointer: over charts it changes the time span, over a control it sets the control,
	// over a list it moves the cursor. Nowhere else does it change a setting.
	Wheel(x, y, notches int) Request
}

// Copier is a page whose selection can be copied to the clipboard.
type Copier interface {
	Selection() string // the selection as text; "" if nothing is selected
}

// Hinter is a page whose arrow keys have hints in the footer.
type Hinter interface {
	Arrows() [][2]string // pairs of keys and what they do, such as {"↑↓", "select"}
}

// Explainer describes what shared keys do on a page.
type Explainer interface {
	// KeyHelp returns what a shared key does on this page, for the help; "up" stands for the
	// arrows up and down, "left" for the others. "" means that the common text applies.
	KeyHelp(key string) string
}

// Reasoner is a page with an explanation of its own for the key that explains problems.
type Reasoner interface {
	// Reasons returns the request to show the explanation, false if there is nothing to explain.
	Reasons() (Request, bool)
}

// Worker is a page with work that takes longer than a tick.
type Worker interface {
	// Work returns a function, read, to call in another goroutine; nil if there is no work. read
	// returns a function that stores the result, to call in the goroutine of the dashboard.
	Work() (read func() (storeResult func()))
}

// PacketPage is the page that shows packets.
type PacketPage interface {
	ShowPacket(packetlog.ID) Request
	// ListPackets executes an order for the list of packets. The error is for the user.
	ListPackets(PacketOrder) (Request, error)
}

// PacketOrder is an order for the list of packets. Fields with a zero value have no effect.
type PacketOrder struct {
	Filter *packetfilter.Filter // list only the packets that it selects
	Find   *packetfilter.Filter // the packets to which the keys for the next and the previous match go
	Sort   *PacketSort          // the order of the list
	Number *uint64              // select the packet with this number
	Export string               // write the listed packets to this file; its extension is the format
}

// PacketSort is the order of a list of packets.
type PacketSort struct {
	Field     string // the name of a field of packetfilter; "" means the order of sending
	Ascending bool   // smallest first
}

// RowFinder is the page that shows the bits of a row in the selected packet.
type RowFinder interface {
	// FindRow shows them. It returns an error if the row does not exist or the packet has no bits of it.
	FindRow(row int) (Request, error)
}

// PacketChooser is a page on which packets can be selected.
type PacketChooser interface {
	// ChosenPacket returns the selected packet, false if none exists.
	ChosenPacket() (packetlog.ID, bool)
}

// Wide reports whether a screen of w x h shows all panes of a page at once.
func Wide(w, h int) bool { return w >= 104 && h >= 30 }

// RightColumn returns the width of the column with the controls on a screen of w columns: 36 % of the screen, but
// at least 52 columns, in which a control fits with its gauge, and at most 66.
func RightColumn(w int) int { return min(max(w*36/100, 52), 66) }
