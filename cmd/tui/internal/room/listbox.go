package room

import (
	"cmp"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/fuzzy"
	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
)

// ListBox is an overlay with a list of items, one of which is selected. "/" begins a filter. If items have details, the
// box stands beside the page, so that it does not cover charts; it fills a screen that is too small for both.
type ListBox struct {
	Title string
	Names func() []string // the name of each item
	Enter func(item int) Request
	Keys  []Binding // further keys

	Summary func(item int) string                          // text that the filter finds too; nil for none
	Compare func(a, b int) int                             // orders items by the column Table.Sort; nil if the order is fixed
	Details func(c *look.Canvas, th *look.Theme, item int) // draws what an item is; nil for none
	Table   grid.Table                                     // with columns that call At; the box sets its rows and its cursor
	Width   int                                            // columns in which no cell is cut off
	Item    int                                            // the selected item; -1 if no item matches the filter

	DetailsFocused bool // the details get most rows
	Grows          bool // items are added while the box is open, so that it has the height of the screen at once
	Reading        bool // more items will be added

	filter string // in lower case; "" shows all items
	typing bool   // keys edit the filter
	shown  []int  // the items that match the filter, from top to bottom
}

// At returns the item in a row of the table.
func (b *ListBox) At(cell grid.Cell) int { return b.shown[cell.Row] }

// update lists the items that match the filter: in the order of Names or of the sorted column or, while there is a
// filter, the best matches first, see fuzzy.Rank.
func (b *ListBox) update() {
	names := b.Names()
	b.shown = fuzzy.Rank(b.filter, names)
	if b.filter != "" && b.Summary != nil {
		for i := range names {
			if strings.Contains(strings.ToLower(b.Summary(i)), b.filter) && !slices.Contains(b.shown, i) {
				b.shown = append(b.shown, i)
			}
		}
	}
	if b.filter == "" && b.Compare != nil {
		slices.SortStableFunc(b.shown, b.Compare)
	}
	b.Table.NumRows = len(b.shown)
	b.Table.Cursor = max(slices.Index(b.shown, b.Item), 0)
	b.selectRow()
}

// selectRow selects the item under the cursor of the table.
func (b *ListBox) selectRow() {
	b.Item = -1
	if at := b.Table.Cursor; 0 <= at && at < len(b.shown) {
		b.Item = b.shown[at]
	}
}

// setFilter changes the filter and selects the first match.
func (b *ListBox) setFilter(filter string) {
	b.filter = strings.ToLower(filter)
	b.Item = -1
	b.update()
}

// Key implements Overlay.
func (b *ListBox) Key(msg tea.KeyMsg) Request {
	b.update()
	if b.typing {
		return b.typeKey(msg)
	}
	if k := FindBinding(b.Keys, msg); k != nil {
		return k.Press(msg)
	}
	step := ReadStep(msg)
	switch {
	case step != 0:
		b.move(step)
	case msg.String() == "/":
		b.typing = true
	case msg.String() == "S" && b.Compare != nil:
		b.Table.SortNext(1)
	case msg.Type == tea.KeyEnter:
		return b.enter()
	case msg.Type == tea.KeyEsc && b.filter != "":
		b.setFilter("")
	case msg.Type == tea.KeyEsc:
		return Request{Closes: true}
	}
	return Request{}
}

// typeKey handles a key while the filter is typed.
func (b *ListBox) typeKey(msg tea.KeyMsg) Request {
	filter := []rune(b.filter)
	step := ListStep(msg)
	switch {
	case step != 0:
		b.move(step)
	case msg.Type == tea.KeyEnter:
		b.typing = false
		return b.enter()
	case msg.Type == tea.KeyTab:
		b.typing = false
	case msg.Type == tea.KeyEsc:
		b.typing = false
		b.setFilter("")
	case msg.Type == tea.KeyBackspace:
		b.typing = len(filter) > 0
		b.setFilter(string(filter[:max(len(filter)-1, 0)]))
	case msg.Type == tea.KeyCtrlU, msg.Type == tea.KeyCtrlW:
		b.setFilter("")
	case msg.Type == tea.KeyRunes, msg.Type == tea.KeySpace:
		b.setFilter(b.filter + string(msg.Runes))
	}
	return Request{}
}

// move selects the item n rows below, or above if n is negative.
func (b *ListBox) move(n int) {
	b.Table.Move(n)
	b.selectRow()
}

// enter returns the request of the selected item, or a notice without one.
func (b *ListBox) enter() Request {
	if b.Item < 0 {
		return Refusal("nothing matches the filter " + b.filter + "; esc shows all")
	}
	return b.Enter(b.Item)
}

// Bindings returns the keys of the box, for the footer and the help.
func (b *ListBox) Bindings() []Binding {
	list := append(slices.Clone(b.Keys), OverlayKey("↑↓", "move", "select an item; j and k do too"))
	if b.typing {
		return append(list, OverlayKey("a-z", "filter", "type part of a name or of a summary; letters may be left out"),
			OverlayKey("tab", "keys", "end typing; letters are keys again").Pin(), OverlayKey("esc", "show all", "show all items").Pin())
	}
	if b.Compare != nil {
		list = append(list, OverlayKey("S", "sort", "sort by the next column").Pin())
	}
	return append(list, OverlayKey("/", "filter", "list what matches a text"), OverlayKey("esc", "close", "close the list").Pin())
}

// sideWidth returns the width of a box beside the page on a screen of w columns.
func (b *ListBox) sideWidth(w int) int {
	const minCharts = 90 // columns of the page that remain if the box is wide
	if b.Width <= w-minCharts {
		return max(b.Width, RightColumn(w))
	}
	return RightColumn(w)
}

// Size implements Overlay.
func (b *ListBox) Size(w, h int) (boxW, boxH int, beside bool) {
	if b.Details == nil {
		const edges = 2 // rows of the frame
		boxW = min(w, cmp.Or(b.Width, 96))
		boxH = min(h, edges+b.Table.TitleRows()+max(len(b.Names()), 1))
		if b.Grows {
			boxH = h
		}
		return boxW, boxH, false
	}
	const minPage, minRows = 60, 24 // columns of the page, and rows of the screen
	side := b.sideWidth(w)
	if w-side >= minPage && h >= minRows {
		return side, h, true
	}
	return w, h, false
}

// Draw implements Overlay.
func (b *ListBox) Draw(c *look.Canvas, th *look.Theme) {
	b.update()
	hint := look.Dim.Span("/ filters")
	switch {
	case b.typing:
		hint = look.Plain.Span("/" + b.filter + "_")
	case b.filter != "":
		hint = look.Plain.Span("/" + b.filter)
	}
	reading := look.Dim.Span("")
	if b.Reading {
		reading.Text = "reading the folders…  "
	}
	c.FitFrame(th, look.Focused, b.Title, []look.Span{reading, hint})
	const y = 1
	if len(b.shown) == 0 && b.filter != "" {
		c.Text(6, y+b.Table.TitleRows(), look.Dim, "no match")
	}
	end := c.H - 1
	if b.Details != nil {
		end = b.detailsTop(c.H)
	}
	b.Table.Draw(c, th, y, end-y)
	if b.Details == nil || b.Item < 0 {
		return
	}
	c.Divider(th, end, b.DetailsFocused, b.Names()[b.Item])
	details := look.NewCanvas(c.W-4, c.H-end-2)
	b.Details(details, th, b.Item)
	c.Paste(2, end+1, details)
}

// detailsTop returns the row of the line above the details in a box of h rows: below all items if there is enough
// space for both.
func (b *ListBox) detailsTop(h int) int {
	const edge, minList = 1, 3 // rows: the frame; items
	titles := edge + b.Table.TitleRows()
	rows := h * 3 / 5
	if b.DetailsFocused {
		rows = max(h-16, minList+titles)
	}
	return min(len(b.Names())+titles, rows)
}
