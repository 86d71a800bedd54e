package room

import (
	"time"

	"wirelab/cmd/tui/internal/packetfilter"
	"wirelab/experiment/engine/packetlog"
)

// The following interfaces are optional methods of panes. Page calls them for keys, the mouse and ticks.

// Binder is a pane with keys of its own, which have priority over the common ones.
type Binder interface{ Bindings() []Binding }

// Observer is a pane that shows the state of the lab.
type Observer interface {
	// Observe stores what is shown of the view and reports whether the picture changes.
	Observe(View) bool
}

// Absent is a pane that may have nothing to show. It then cannot have the focus, and has no tab.
type Absent interface{ Absent() bool }

// Mover is a pane in which the arrow keys select or adjust. It can have the focus.
type Mover interface {
	Move(dx, dy int) Request // dx in steps to the right, or of a control; dy in rows down
}

// Enterer is a pane that handles the enter key.
type Enterer interface{ Enter() Request }

// Lister is a pane with rows that have one order.
type Lister interface{ ListsRows() }

// The next four interfaces are those of keys that act on one pane of the page: the focused one if it has the
// method, or else the first that has it. The pane needs no binding. Explainer describes what the key does there,
// in place of the common text of the help. A request with a Notice that is an error reports why nothing changed.

// Sorter is a pane with rows. The key S sorts them by the next column.
type Sorter interface{ NextSort() Request }

// Switcher is a pane with several figures or pictures. The key c shows the next one.
type Switcher interface{ NextFigure() Request }

// Referrer is a pane that compares rows, points or lanes with one of them, the reference. The key r selects it.
type Referrer interface{ NextReference() Request }

// Writer is a pane with a list. The key w writes it to a file.
type Writer interface{ WriteFile() Request }

// HTMLWriter is a pane with saved reports. The command html writes the HTML page of the selected one.
type HTMLWriter interface{ WriteHTML() Request }

// Releaser is a pane with a selection that esc clears.
type Releaser interface{ Release() Request }

// Aimer is a pane whose controls set the downlink, the uplink or both.
type Aimer interface {
	Aim() Request // selects the next of the links that the controls set
}

// Timed is a pane with charts over time that show View.Crosshair.
type Timed interface {
	NextSpan()           // shows the next span of time
	ZoomBy(notches int)  // shows a shorter time if notches is positive, otherwise a longer one
	Span() time.Duration // the time that the charts show
}

// Clicker is a pane that uses mouse clicks. The position is that in the pane.
type Clicker interface{ Click(x, y int) Request }

// Wheeler is a pane or an overlay with an action of its own for the mouse wheel. In other panes the
// wheel changes the time span of charts or moves the selection.
type Wheeler interface {
	Wheel(x, y, notches int) Request // (x, y) is in the pane; positive is away from the user
}

// Copier is a pane whose selection can be copied to the clipboard.
type Copier interface {
	Selection() string // the selection as text; "" if nothing is selected
}

// Hinter is a pane whose arrow keys have hints in the footer.
type Hinter interface {
	Arrows() [][2]string // pairs of keys and what they do, such as {"↑↓", "select"}
}

// Explainer describes what shared keys do in a pane.
type Explainer interface {
	// KeyHelp returns what a shared key does, for the help; "up" stands for the arrows up and down, "left" for the
	// others. "" means that the common text applies.
	KeyHelp(key string) string
}

// Reasoner is a pane with an explanation of its own for the key that explains problems.
type Reasoner interface {
	// Reasons returns the request to show the explanation, false if there is nothing to explain.
	Reasons() (Request, bool)
}

// Worker is a pane with work that takes longer than a tick.
type Worker interface {
	// Work returns a function, read, to call in another goroutine; nil if there is no work. read
	// returns a function that stores the result, to call in the goroutine of the dashboard.
	Work() (read func() (storeResult func()))
}

// PacketLister is the pane that lists packets.
type PacketLister interface {
	ShowPacket(packetlog.ID) Request
	// ListPackets executes an order for the list of packets. The error is for the user.
	ListPackets(PacketOrder) (Request, error)
}

// ReportLister is the pane that lists saved reports.
type ReportLister interface {
	// ShowReport lists and selects the report with this report.json, which may be in any folder.
	ShowReport(path string) Request
}

// PacketOrder is an order for the list of packets. Fields with a zero value have no effect.
type PacketOrder struct {
	Filter *packetfilter.Filter // list only the packets that it selects
	Find   *packetfilter.Filter // the packets to which the keys for the next and the previous match go
	Sort   *PacketSort          // the order of the list
	Number *uint64              // select the packet with this number
	Sent   *time.Duration       // select the first packet that was sent at this time or later
	Export string               // write the listed packets to this file; its extension is the format
}

// PacketSort is the order of a list of packets.
type PacketSort struct {
	Field     string // the name of a field of packetfilter; "" means the order of sending
	Ascending bool   // smallest first
}

// RowFinder is the pane that shows the bits of a row in the selected packet.
type RowFinder interface {
	// FindRow shows the bits of a row. It returns an error if the row does not exist or the packet has
	// no bits of it.
	FindRow(row int) (Request, error)
}

// PacketChooser is a pane in which packets can be selected.
type PacketChooser interface {
	// ChosenPacket returns the selected packet, false if none exists.
	ChosenPacket() (packetlog.ID, bool)
}

// Wide reports whether a screen of w x h shows all panes of a page at once.
func Wide(w, h int) bool { return w >= 104 && h >= 30 }

// RightColumn returns the width of the column with the controls on a screen of w columns: 36 % of the screen, but
// at least 52 columns, in which a control fits with its gauge, and at most 66.
func RightColumn(w int) int { return min(max(w*36/100, 52), 66) }
