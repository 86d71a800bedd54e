package room

import (
	"slices"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine/packetlog"
)

// Page is a name and a layout of panes. A large screen shows the panes of the layout, a small one the
// focused pane below a row of tabs, or another layout. Keys act on the focused pane, or on the first
// pane with a method for them; the wheel and clicks act on the pane under the pointer.
type Page struct {
	Name  string
	Slots []*Slot // the panes, in the order of the tab key
	Keys  []Binding
	// LayOut places panes on a page of w x h cells of a large screen, without Top and Bottom. Places
	// side by side are in order from left to right.
	LayOut func(w, h int) []Place
	// Small places panes on a small screen; nil for the focused pane with tabs.
	Small func(w, h int) []Place

	Top    *Slot // a line above the panes; nil for none
	Bottom *Slot // a line below the panes; nil for none
	// TopIfWide and BottomIfWide show the lines on large screens too, not only on small ones.
	TopIfWide, BottomIfWide bool
	// Squeezed means that a box takes part of the screen. If there is not enough space for all panes, the page shows
	// its chart, if it has one, because the box may change that.
	Squeezed bool

	bindings    []Binding // as Bindings returns them; nil before its first call
	highlighted *Slot     // the pane that the tour highlights; nil for none
	focused     int       // index of the focused pane, if that can be focused; see Focused
	userChose   bool      // the user selected the focused pane
	maximised   bool      // the focused pane fills the page
	places      []Place   // as last drawn
	w, h        int       // size of the page
	tabRow      int       // the row of the tabs; -1 for none
}

// Add appends panes, in the order of the tab key, and returns their slots.
func (p *Page) Add(list ...Pane) []*Slot {
	for _, x := range list {
		p.Slots = append(p.Slots, NewSlot(x))
	}
	return p.Slots[len(p.Slots)-len(list):]
}

// Wide reports whether the page shows the panes of LayOut.
func (p *Page) Wide() bool { return Wide(p.w, p.h) && !p.maximised }

// alone reports whether the page shows the focused pane alone.
func (p *Page) alone() bool { return p.maximised || !Wide(p.w, p.h) && p.Small == nil }

// isAbsent reports whether a pane has nothing to show.
func isAbsent(s *Slot) bool {
	pane, ok := s.Pane.(Absent)
	return ok && pane.Absent()
}

// canFocus reports whether a pane can be focused: every pane with content if one pane is shown at a
// time, otherwise only a pane that implements Mover.
func (p *Page) canFocus(s *Slot) bool {
	_, moves := s.Pane.(Mover)
	return !isAbsent(s) && (moves || p.alone())
}

// Focused returns the focused pane; nil if no pane can be focused.
func (p *Page) Focused() *Slot {
	if p.focused < len(p.Slots) && p.canFocus(p.Slots[p.focused]) {
		return p.Slots[p.focused]
	}
	if i := slices.IndexFunc(p.Slots, p.canFocus); i >= 0 {
		return p.Slots[i]
	}
	return nil
}

// Places returns where the panes are on the page, as last drawn.
func (p *Page) Places() []Place { return p.places }

// FocusedIndex returns the index of the focused pane; 0 if no pane can be focused.
func (p *Page) FocusedIndex() int { return max(slices.Index(p.Slots, p.Focused()), 0) }

// FocusOn focuses a pane. It does nothing if s is nil or cannot be focused.
func (p *Page) FocusOn(s *Slot) {
	if i := slices.Index(p.Slots, s); i >= 0 && p.canFocus(s) {
		p.focused, p.userChose = i, true
	}
}

// Focus focuses the next pane (1) or the previous one (-1), cyclically.
func (p *Page) Focus(step int) {
	n := len(p.Slots)
	at := slices.Index(p.Slots, p.Focused())
	for range p.Slots {
		at = (at + step + n) % n
		if p.canFocus(p.Slots[at]) {
			p.FocusOn(p.Slots[at])
			return
		}
	}
}

// Maximise shows the focused pane alone or, if the user has focused none, the first one that has something to show. The
// next call shows all panes again.
func (p *Page) Maximise() {
	shown := slices.DeleteFunc(slices.Clone(p.Slots), isAbsent)
	if !p.maximised && (p.alone() || len(shown) < 2) { // the screen shows one pane anyway
		return
	}
	p.maximised = !p.maximised
	if p.maximised && !p.userChose {
		p.focused = max(slices.IndexFunc(p.Slots, p.canFocus), 0)
	}
}

// Highlight draws a pane as if it had the focus, and shows it on a small screen; nil ends that.
func (p *Page) Highlight(s *Slot) {
	p.highlighted = s
	if i := slices.Index(p.Slots, s); i >= 0 && p.alone() {
		p.focused = i
	}
}

// Observe passes the view to all panes, and reports whether any of them has to be redrawn.
func (p *Page) Observe(v View) bool {
	changed := false
	for _, s := range slices.Concat(p.Slots, []*Slot{p.Top, p.Bottom}) {
		if s != nil {
			changed = s.Observe(v) || changed
		}
	}
	return changed
}

// Redraw makes the next call of Lines redraw all panes and the line above them.
func (p *Page) Redraw() {
	for _, s := range p.Slots {
		s.Redraw()
	}
	if p.Top != nil {
		p.Top.Redraw()
	}
}

// Lines returns the page in h lines of w columns.
func (p *Page) Lines(th *look.Theme, w, h int) []string {
	p.w, p.h, p.tabRow = w, h, -1
	wide := Wide(w, h)
	lines := make([]string, 0, h)
	if p.Top != nil && (!p.Wide() || p.TopIfWide) {
		lines = append(lines, p.Top.Render(th, w, 1, look.Unfocused)...)
	}
	bottomRows := 0
	if p.hasLine() {
		bottomRows = 1
	}
	focused := p.Focused()
	switch {
	case p.alone() && p.chartBesideBox() != nil:
		p.places = []Place{p.chartBesideBox().Place(0, 0, w, h-len(lines)-bottomRows)}
	case p.alone():
		p.tabRow = len(lines)
		lines = append(lines, p.tabs(th))
		p.places = []Place{focused.Place(0, 0, w, h-len(lines)-bottomRows)}
	case wide:
		p.places = p.LayOut(w, h-len(lines)-bottomRows)
	default:
		p.places = p.Small(w, h-len(lines)-bottomRows)
	}
	top := len(lines)
	lines = append(lines, renderPlaces(th, p.places, h-top-bottomRows, focused, p.highlighted)...)
	for i := range p.places {
		p.places[i].Y += top
	}
	if bottomRows > 0 {
		p.Bottom.Redraw() // it may depend on the focus and on what other panes have drawn
		lines = append(lines, p.Bottom.Render(th, w, bottomRows, look.Unfocused)...)
	}
	return lines
}

// chartBesideBox returns the chart that a page beside a box shows; nil without a box or a chart.
func (p *Page) chartBesideBox() *Slot {
	isChart := func(s *Slot) bool {
		_, ok := s.Pane.(Timed)
		return ok && !isAbsent(s)
	}
	if i := slices.IndexFunc(p.Slots, isChart); i >= 0 && p.Squeezed {
		return p.Slots[i]
	}
	return nil
}

// tabs returns the row with the names of the panes.
func (p *Page) tabs(th *look.Theme) string {
	c := look.NewCanvas(p.w, 1)
	x := 1
	for _, s := range p.Slots {
		if !p.canFocus(s) {
			continue
		}
		style, left, right := look.Dim, " ", " "
		if s == p.Focused() {
			style, left, right = look.Focus, "[", "]"
		}
		x = c.Spans(x, 0, p.w-x, style.Span(left+s.Name()+right), look.Faint.Span(" "))
	}
	if p.maximised && p.HasOtherPane() {
		c.Spans(x+1, 0, p.w-x-1, look.Key.Span("tab"), look.Dim.Span(" next pane  "), look.Key.Span("z"), look.Dim.Span(" all panes"))
	}
	return c.Lines(th)[0]
}

// tabAt returns the pane whose tab is at column x; nil if none is.
func (p *Page) tabAt(x int) *Slot {
	from := 1
	for _, s := range p.Slots {
		if !p.canFocus(s) {
			continue
		}
		to := from + look.TextWidth(s.Name()) + 2 // with brackets or spaces around the name
		if x >= from && x < to {
			return s
		}
		from = to + 1 // a space between the tabs
	}
	return nil
}

// The following methods implement the shared keys and the mouse.

// inOrder returns the panes: the focused one, the others, and at last those that have nothing to show.
func (p *Page) inOrder() []*Slot {
	list, focused := slices.Clone(p.Slots), p.Focused()
	rank := func(s *Slot) int {
		switch {
		case s == focused:
			return 0
		case isAbsent(s):
			return 2
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b *Slot) int { return rank(a) - rank(b) })
	return list
}

// HasOtherPane reports whether the focus can move to another pane.
func (p *Page) HasOtherPane() bool {
	return slices.ContainsFunc(p.Slots, func(s *Slot) bool { return s != p.Focused() && p.canFocus(s) })
}

// Find returns the focused pane if it implements T, or else the first pane that does; false if none does.
func Find[T any](p *Page) (found T, ok bool) {
	for _, s := range p.inOrder() {
		if found, ok = s.Pane.(T); ok {
			return found, true
		}
	}
	return found, false
}

// hasLine reports whether the page shows Bottom: on large screens too with BottomIfWide, otherwise below the first pane
// while the page shows one pane at a time, or below the layout of a small screen.
func (p *Page) hasLine() bool {
	switch {
	case p.Bottom == nil || p.BottomIfWide:
		return p.Bottom != nil
	case p.alone():
		return slices.IndexFunc(p.Slots, p.canFocus) == p.FocusedIndex()
	}
	return !Wide(p.w, p.h)
}

// FindActive is Find for keys. If the page shows one pane at a time, only that pane has keys, or any pane while Bottom
// shows what they adjust.
func FindActive[T any](p *Page) (found T, ok bool) {
	if p.alone() && !p.hasLine() && p.Focused() != nil {
		found, ok = p.Focused().Pane.(T)
		return found, ok
	}
	return Find[T](p)
}

// Act calls do with the pane that FindActive returns, if any, and redraws all panes.
func Act[T any](p *Page, do func(T) Request) Request {
	defer p.Redraw()
	if pane, ok := FindActive[T](p); ok {
		return do(pane)
	}
	return Request{}
}

// all calls do with all panes that implement T, and redraws all panes.
func all[T any](p *Page, do func(T)) {
	defer p.Redraw()
	for _, s := range p.Slots {
		if pane, ok := s.Pane.(T); ok {
			do(pane)
		}
	}
}

func (p *Page) Move(dx, dy int) Request {
	return Act(p, func(x Mover) Request { return x.Move(dx, dy) })
}

// HasRows reports whether a pane that is shown has rows, to whose ends home and end go.
func (p *Page) HasRows() bool {
	return slices.ContainsFunc(p.Slots, func(s *Slot) bool {
		_, sorts := s.Pane.(Sorter)
		_, lists := s.Pane.(Lister)
		return (sorts || lists) && !isAbsent(s)
	})
}

func (p *Page) Enter() Request { return Act(p, Enterer.Enter) }

func (p *Page) Aim() Request { return Act(p, Aimer.Aim) }

// Release clears the selections of all panes. Of the requests of panes it returns the last one with an
// effect.
func (p *Page) Release() (r Request) {
	all(p, func(x Releaser) {
		if next := x.Release(); next.Command != nil || next.Redraw {
			r = next
		}
	})
	return r
}

// Zoom shows the next span of time in all charts.
func (p *Page) Zoom() { all(p, Timed.NextSpan) }

// Span returns the time that the charts show; 0 without charts.
func (p *Page) Span() time.Duration {
	if x, ok := Find[Timed](p); ok {
		return x.Span()
	}
	return 0
}

// Wheel handles the wheel over (x, y), in notches; positive is away from the user. Over charts it changes the time span,
// over a list it moves the cursor.
func (p *Page) Wheel(x, y, notches int) Request {
	at := placeAt(p.places, x, y)
	if at.Slot == nil {
		return Request{}
	}
	defer p.Redraw()
	switch pane := at.Slot.Pane.(type) {
	case Wheeler:
		return pane.Wheel(x-at.X, y-at.Y, notches)
	case Timed:
		all(p, func(x Timed) { x.ZoomBy(notches) })
	case Mover:
		return pane.Move(0, -notches)
	}
	return Request{}
}

// Click focuses the pane at (x, y), or the one whose tab is there, and selects what the pane shows there.
func (p *Page) Click(x, y int) Request {
	defer p.Redraw()
	if y == p.tabRow {
		p.FocusOn(p.tabAt(x))
		return Request{}
	}
	at := placeAt(p.places, x, y)
	if at.Slot == nil {
		return Request{}
	}
	p.FocusOn(at.Slot)
	if pane, ok := at.Slot.Pane.(Clicker); ok {
		return pane.Click(x-at.X, y-at.Y)
	}
	return Request{}
}

// Bindings returns the keys of the page, then those of its panes. The list never changes.
func (p *Page) Bindings() []Binding {
	if p.bindings == nil {
		p.bindings = slices.Clone(p.Keys)
		for _, s := range p.Slots {
			if pane, ok := s.Pane.(Binder); ok {
				p.bindings = append(p.bindings, pane.Bindings()...)
			}
		}
	}
	return slices.Clip(p.bindings)
}

// Arrows returns the hints for the arrow keys of the focused pane.
func (p *Page) Arrows() [][2]string {
	if x, ok := FindActive[Hinter](p); ok {
		return x.Arrows()
	}
	return nil
}

// KeyHelp returns what a shared key does on this page; "" if the common text applies.
func (p *Page) KeyHelp(key string) string {
	for _, s := range p.inOrder() {
		if x, ok := s.Pane.(Explainer); ok && x.KeyHelp(key) != "" {
			return x.KeyHelp(key)
		}
	}
	return ""
}

// Selection returns what is selected, as text; "" if nothing is.
func (p *Page) Selection() string {
	for _, s := range p.inOrder() {
		if x, ok := s.Pane.(Copier); ok && x.Selection() != "" {
			return x.Selection()
		}
	}
	return ""
}

// Reasons returns the request to show the explanation of a pane for the key that explains problems;
// false if none exists.
func (p *Page) Reasons() (Request, bool) {
	if x, ok := Find[Reasoner](p); ok {
		return x.Reasons()
	}
	return Request{}, false
}

// ChosenPacket returns the packet that is selected in the focused pane; false if there is none.
func (p *Page) ChosenPacket() (packetlog.ID, bool) {
	if s := p.Focused(); s != nil {
		if x, ok := s.Pane.(PacketChooser); ok {
			return x.ChosenPacket()
		}
	}
	return packetlog.ID{}, false
}

// Work returns the background work of a pane, see Worker; nil if there is none.
func (p *Page) Work() (read func() (storeResult func())) {
	if x, ok := Find[Worker](p); ok {
		return x.Work()
	}
	return nil
}
