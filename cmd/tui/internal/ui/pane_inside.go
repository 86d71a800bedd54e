package ui

import (
	"strconv"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// insidePane shows one packet opened: why it ended as it did, its way through the
// link, the baseline it needed, and what its bits went to. While none is chosen it
// shows the last one that was of no use, for long enough to be read.
type insidePane struct {
	chosen   engine.PacketID
	choosing bool

	opened  *engine.Opened
	trouble bool // opened is the last trouble and not the chosen packet
	reasons []engine.Reason
	cfg     *config.Config
	schema  *frame.Schema
	held    int // slow redraws until another trouble is shown
	seen    bool
}

// heldFor is how many redraws a trouble stays before another takes its place: four
// seconds.
const heldFor = 8

func (p *insidePane) name() string { return "Packet" }

func (p *insidePane) observe(v sight) bool {
	p.cfg, p.schema = v.cfg, v.snap.Schema
	first := !p.seen
	p.seen = true
	if p.choosing {
		p.held = 0
		o := v.snap.Opened
		if o == nil || o.ID != p.chosen {
			o = nil
		}
		if !first && p.opened != nil && o != nil && !p.trouble && p.opened.ID == o.ID && p.opened.Record == o.Record && p.opened.Inside.AckDue == o.Inside.AckDue {
			return false
		}
		p.set(o, false)
		return true
	}
	if v.slow {
		p.held--
	}
	if !first && p.trouble && p.held > 0 && v.running() {
		return false
	}
	i, ok := lastTrouble(v.snap)
	if ok && p.opened != nil && p.trouble && p.opened.ID == i.Opened.ID && p.opened.Record == i.Opened.Record || !ok && p.opened == nil && !first {
		return false
	}
	p.held = heldFor
	if !ok {
		p.set(nil, true)
		return true
	}
	p.set(&i.Opened, true)
	p.reasons = []engine.Reason{i.Reason}
	return true
}

func (p *insidePane) set(o *engine.Opened, trouble bool) {
	p.opened, p.trouble, p.reasons = o, trouble, nil
	if o != nil {
		p.reasons = o.Reasons()
	}
}

// lastTrouble is the newest incident that the snapshot knows of.
func lastTrouble(snap *engine.Snapshot) (engine.Incident, bool) {
	list := troubles(snap)
	if len(list) == 0 {
		return engine.Incident{}, false
	}
	return list[0], true
}

// troubles are the incidents up to the moment that is shown.
func troubles(snap *engine.Snapshot) (list []engine.Incident) {
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

func (p *insidePane) draw(c *canvas, th *theme, focused bool) {
	switch {
	case p.opened == nil && p.choosing:
		c.frame(th, focused, "Packet "+packetName(p.chosen))
		c.clip(2, 1, c.w-4, inkDim, "...")
		return
	case p.opened == nil:
		c.frame(th, focused, "Packet")
		c.clip(2, 1, c.w-4, inkDim, "nothing has gone wrong yet; arrows choose a packet to open")
		return
	case p.opened.Gone:
		c.frame(th, focused, "Packet "+packetName(p.opened.ID))
		c.clip(2, 1, c.w-4, inkDim, "it has left the lab's memory, or was never sent")
		return
	}
	title := "Packet " + packetName(p.opened.ID)
	if p.trouble {
		title = "The last trouble: packet " + packetName(p.opened.ID)
	}
	r := &p.opened.Record
	mark := span{outcomeInk(r.Outcome), string(th.outcome[min(r.Outcome, engine.NumOutcomes-1)]) + " " + outcomeWord(r.Outcome)}
	c.frame(th, focused, title, fit(headRoom(c.w, title), []span{mark, {inkDim, "  " + short(r.Encoder, 30)}}, []span{mark}, nil)...)
	p.body(c, th)
}

func packetName(id engine.PacketID) string {
	s := strconv.FormatUint(id.Seq, 10)
	if id.Copy > 0 {
		s += ", copy " + strconv.Itoa(id.Copy)
	}
	return s
}

// body writes the sections one below the other, with a blank line between them
// where there is room.
func (p *insidePane) body(c *canvas, th *theme) {
	budget := p.opened.Inside.Spent.Budget()
	parts := (&bitsPane{schema: p.schema, recent: engine.Recent{Budget: budget}}).parts()
	way := p.way(th)
	base := p.baseline()
	why := p.why(c.w - 6)
	gap := 0
	if c.h-2 >= len(why)+len(way)+len(base)+len(parts)+4+3 {
		gap = 1
	}
	y := 1
	put := func(lines ...[]span) {
		for _, line := range lines {
			if y < c.h-1 {
				c.spans(2, y, c.w-4, line...)
				y++
			}
		}
	}
	put(why...)
	y += gap
	put(flow(p.size(), c.w-4)...)
	y += gap
	for _, line := range base {
		put(flow(line, c.w-4)...)
	}
	y += gap
	if room := c.h - 1 - y; room < len(way)+gap+len(parts) { // side by side, and first: it is what else would be cut off
		put(flow(p.shares(th, parts), c.w-4)...)
		put(way...)
		return
	}
	put(way...)
	y += gap
	p.bits(c, th, y, &budget, parts)
}

// shares are the parts in a row.
func (p *insidePane) shares(th *theme, parts []part) (line []span) {
	for _, part := range parts {
		line = append(line, span{slotInk(part.ink), string(th.swatch(part.ink))}, span{inkPlain, "\u00a0" + part.name + "\u00a0"}, span{inkValue, fixed(100*part.share, 1) + "%   "})
	}
	return line
}

// bits lists what the payload went to, field by field.
func (p *insidePane) bits(c *canvas, th *theme, y int, b *encoders.Budget, parts []part) {
	total := float64(b.Total()) / encoders.BitUnit
	const name, number, share = 15, 11, 9
	for _, part := range parts {
		if y >= c.h-1 {
			return
		}
		c.spans(2, y, name-1, span{slotInk(part.ink), string(th.swatch(part.ink)) + " "}, span{inkPlain, part.name})
		c.right(2+name+number, y, inkValue, fixed(part.share*total, 1)+" bits")
		c.right(2+name+number+share, y, inkPlain, fixed(100*part.share, 1)+" %")
		room := max(c.w-4-name-number-share-2, 0)
		c.fill(2+name+number+share+2, y, int(part.share*float64(room)+0.5), slotInk(part.ink), th.swatch(part.ink))
		y++
	}
}
