package crowd

import (
	"cmp"
	"slices"
	"time"

	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/live"
)

// order is the order of the clients, the largest figure first, and the selected client. Panes share it.
type order struct {
	*clientTable
	values   func() []float64 // by which the clients are ordered
	sorted   []int            // indices of the clients that were in the game in the time of the figures, in order
	renewed  time.Duration    // virtual time of the figures and the order
	selected int              // index of the selected client; -1 if none
	chosen   bool             // the user has selected it; otherwise the lab does
}

// renewEvery is the virtual time for which the clients keep their figures and their places.
const renewEvery = 2 * time.Second

// update sets the clients to those of v and sorts them, if it is time.
func (o *order) update(v room.View) {
	x := v.Snap.Crowd
	isEarly := o.renewed < renewEvery // the figures are of few packets
	isDue := isEarly || v.Snap.Now < o.renewed || v.Snap.Now-o.renewed >= renewEvery || !v.Running()
	if isDue || o.view == nil || x.Recent.Clients != o.view.Recent.Clients {
		o.clientTable.update(x)
		o.renewed = v.Snap.Now
		o.sort()
	}
	if !o.chosen || o.selected >= len(x.Clients) {
		o.selected = x.Selected - 1
	}
}

// sort orders the clients, those with equal figures by number.
func (o *order) sort() {
	o.sorted = o.sorted[:0]
	for i := range o.view.Clients {
		if o.view.Clients[i].WasInGame() {
			o.sorted = append(o.sorted, i)
		}
	}
	values := o.values()
	slices.SortFunc(o.sorted, func(a, b int) int { return cmp.Or(cmp.Compare(values[b], values[a]), a-b) })
}

// place returns the place of the selected client in the order; -1 if none is selected.
func (o *order) place() int { return slices.Index(o.sorted, o.selected) }

// move returns the request to select the client that is n places further in the order.
func (o *order) move(n int) room.Request { return o.choose(o.place() + n) }

// choose returns the request to select the client at a place in the order, or at its nearest end.
func (o *order) choose(place int) room.Request {
	if len(o.sorted) == 0 {
		return room.Request{}
	}
	o.chosen = true
	o.selected = o.sorted[min(max(place, 0), len(o.sorted)-1)]
	return room.Request{Command: &live.Command{Client: o.selected + 1}}
}
