package packets

import (
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/units"
)

// details shows one packet opened: why it ended as it did, its way through the
// link, the baseline it needed, and what its bits went to. While none is chosen it
// shows the last one that was of no use, for long enough to be read.
type details struct {
	chosen   packetlog.ID
	choosing bool

	opened  *inspector.Opened
	trouble bool // opened is the last trouble and not the chosen packet
	reasons []inspector.Reason
	cfg     *config.Config
	schema  *frame.Schema
	since   time.Duration // virtual time at which the trouble was first shown
	seen    bool
}

// heldFor is how long a trouble stays before another takes its place. It is counted in
// virtual time, which goes on while another page is in sight.
const heldFor = 4 * time.Second

// held reports whether the trouble shown has not been there long enough to be read.
func (p *details) held(v room.View) bool {
	pace := max(v.Snap.Speed, 1)
	if v.Snap.Speed == 0 { // as fast as it can
		pace = max(v.Snap.Actual, 1)
	}
	shown := v.Snap.Now - p.since
	return v.Running() && shown >= 0 && shown < time.Duration(pace*float64(heldFor))
}

func (p *details) Name() string { return "Packet" }

func (p *details) Observe(v room.View) bool {
	p.cfg, p.schema = v.Cfg, v.Snap.Schema
	first := !p.seen
	p.seen = true
	if p.choosing {
		o := v.Snap.Opened
		if o == nil || o.ID != p.chosen {
			o = nil
		}
		if !first && p.opened != nil && o != nil && !p.trouble && p.opened.ID == o.ID && p.opened.Record == o.Record &&
			p.opened.Inside.AckDue == o.Inside.AckDue {
			return false
		}
		p.set(o, false)
		return true
	}
	if !first && p.trouble && p.held(v) {
		return false
	}
	i, ok := lastTrouble(v.Snap)
	if ok && p.opened != nil && p.trouble && p.opened.ID == i.Opened.ID && p.opened.Record == i.Opened.Record || !ok &&
		p.opened == nil && !first {
		return false
	}
	p.since = v.Snap.Now
	if !ok {
		p.set(nil, true)
		return true
	}
	p.set(&i.Opened, true)
	p.reasons = []inspector.Reason{i.Reason}
	return true
}

func (p *details) set(o *inspector.Opened, trouble bool) {
	p.opened, p.trouble, p.reasons = o, trouble, nil
	if o != nil {
		p.reasons = o.Reasons()
	}
}

// lastTrouble is the newest incident that the snapshot knows of.
func lastTrouble(snap *engine.Snapshot) (inspector.Incident, bool) {
	list := troubles(snap)
	if len(list) == 0 {
		return inspector.Incident{}, false
	}
	return list[0], true
}

// troubles are the incidents up to the moment that is shown.
func troubles(snap *engine.Snapshot) (list []inspector.Incident) {
	if len(snap.Lanes) == 0 {
		return nil
	}
	for _, i := range snap.Lanes[0].Troubles {
		if i.T <= snap.Now {
			list = append(list, i)
		}
	}
	return list
}

func (p *details) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	switch {
	case p.opened == nil && p.choosing:
		c.Frame(th, focused, "Packet "+packetName(p.chosen))
		c.Clip(2, 1, c.W-4, look.Dim, "...")
		return
	case p.opened == nil:
		c.Frame(th, focused, "Packet")
		c.Clip(2, 1, c.W-4, look.Dim, "nothing has gone wrong yet; arrows choose a packet to open")
		return
	case p.opened.Gone:
		c.Frame(th, focused, "Packet "+packetName(p.opened.ID))
		c.Clip(2, 1, c.W-4, look.Dim, "it has left the lab's memory, or was never sent")
		return
	}
	title := "Packet " + packetName(p.opened.ID)
	if p.trouble {
		title = "The last trouble: packet " + packetName(p.opened.ID)
	}
	r := &p.opened.Record
	mark := look.OutcomeInk(r.Outcome).Span(string(th.Outcome[min(r.Outcome, packetlog.NumOutcomes-1)]) + " " +
		look.OutcomeWord(r.Outcome))
	c.Frame(th, focused, title, look.Fit(look.HeadRoom(c.W, title),
		[]look.Span{mark, look.Dim.Span("  " + look.Short(r.Encoder, 30))}, []look.Span{mark}, nil)...)
	p.body(c, th)
}

func packetName(id packetlog.ID) string {
	s := strconv.FormatUint(id.Seq, 10)
	if id.Copy > 0 {
		s += ", copy " + strconv.Itoa(id.Copy)
	}
	return s
}

// body writes the sections one below the other, with a blank line between them
// where there is room.
func (p *details) body(c *look.Canvas, th *look.Theme) {
	budget := p.opened.Inside.Spent.Budget()
	parts := panes.BudgetParts(&budget, p.schema)
	way := p.way(th)
	base := p.baseline()
	why := p.why(c.W - 6)
	gap := 0
	if c.H-2 >= len(why)+len(way)+len(base)+len(parts)+4+3 {
		gap = 1
	}
	y := 1
	put := func(lines ...[]look.Span) {
		for _, line := range lines {
			if y < c.H-1 {
				c.Spans(2, y, c.W-4, line...)
				y++
			}
		}
	}
	put(why...)
	y += gap
	put(look.Flow(p.size(), c.W-4)...)
	y += gap
	for _, line := range base {
		put(look.Flow(line, c.W-4)...)
	}
	y += gap
	if room := c.H - 1 - y; room < len(way)+gap+len(parts) { // side by side, and first: it is what else would be cut off
		put(p.flow(th, parts, c.W-4, max(room-len(way), 1))...)
		put(way...)
		return
	}
	put(way...)
	y += gap
	p.bits(c, th, y, &budget, parts)
}

// flow writes the parts one after the other in at most n lines, those with the smallest
// shares together where there is no room for all.
func (p *details) flow(th *look.Theme, parts []panes.Part, w, n int) (lines [][]look.Span) {
	for most := len(parts); most > 0; most-- {
		lines = look.Flow(p.shares(th, panes.LimitParts(parts, most, shareIn(parts))), w)
		if len(lines) <= n {
			break
		}
	}
	return lines
}

// shareIn ranks parts by their own shares.
func shareIn(parts []panes.Part) func(slot int) float64 {
	return func(slot int) float64 {
		for i := range parts {
			if parts[i].Slot == slot {
				return parts[i].Share
			}
		}
		return 0
	}
}

// shares are the parts in a row.
func (p *details) shares(th *look.Theme, parts []panes.Part) (line []look.Span) {
	for _, part := range parts {
		line = append(line, look.SlotInk(part.Slot).Span(string(th.Swatch(part.Slot))),
			look.Plain.Span("\u00a0"+part.Name+"\u00a0"), look.Value.Span(units.Fixed(100*part.Share, 1)+"%   "))
	}
	return line
}

// bits lists what the payload went to, field by field.
func (p *details) bits(c *look.Canvas, th *look.Theme, y int, b *encoders.Budget, parts []panes.Part) {
	total := float64(b.Total()) / encoders.BitUnit
	const name, number, share = 17, 11, 9
	parts = panes.LimitParts(parts, c.H-1-y, shareIn(parts))
	names := panes.PartNames(parts, name-3)
	for i, part := range parts {
		c.Spans(2, y, name-1, look.SlotInk(part.Slot).Span(string(th.Swatch(part.Slot))+" "), look.Plain.Span(names[i]))
		c.Right(2+name+number, y, look.Value, units.Fixed(part.Share*total, 1)+" bits")
		c.Right(2+name+number+share, y, look.Plain, units.Fixed(100*part.Share, 1)+" %")
		room := max(c.W-4-name-number-share-2, 0)
		c.Fill(2+name+number+share+2, y, int(part.Share*float64(room)+0.5), look.SlotInk(part.Slot), th.Swatch(part.Slot))
		y++
	}
}
