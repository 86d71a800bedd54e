package ui

import (
	"strconv"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment"
	"wirelab/lossmodel"
)

// insidePane shows one packet opened: why it ended as it did, its way through the
// link, the baseline it needed, and what its bits went to. While none is chosen it
// shows the last one that was of no use, for long enough to be read.
type insidePane struct {
	chosen   experiment.PacketID
	choosing bool

	opened  *experiment.Opened
	trouble bool // opened is the last trouble and not the chosen packet
	reasons []experiment.Reason
	cfg     *experiment.Config
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
	p.reasons = []experiment.Reason{i.Reason}
	return true
}

func (p *insidePane) set(o *experiment.Opened, trouble bool) {
	p.opened, p.trouble, p.reasons = o, trouble, nil
	if o != nil {
		p.reasons = o.Reasons()
	}
}

// lastTrouble is the newest incident that the snapshot knows of.
func lastTrouble(snap *experiment.Snapshot) (experiment.Incident, bool) {
	list := troubles(snap)
	if len(list) == 0 {
		return experiment.Incident{}, false
	}
	return list[0], true
}

// troubles are the incidents up to the moment that is shown.
func troubles(snap *experiment.Snapshot) (list []experiment.Incident) {
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
	mark := span{outcomeInk(r.Outcome), string(th.outcome[min(r.Outcome, experiment.NumOutcomes-1)]) + " " + outcomeWord(r.Outcome)}
	c.frame(th, focused, title, fit(headRoom(c.w, title), []span{mark, {inkDim, "  " + short(r.Encoder, 30)}}, []span{mark}, nil)...)
	p.body(c, th)
}

func packetName(id experiment.PacketID) string {
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
	parts := (&bitsPane{schema: p.schema, recent: experiment.Recent{Budget: budget}}).parts()
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
		line = append(line, span{slotInk(part.ink), string(swatch(th, part))}, span{inkPlain, "\u00a0" + part.name + "\u00a0"}, span{inkValue, fixed(100*part.share, 1) + "%   "})
	}
	return line
}

// why is the sentences that explain it.
func (p *insidePane) why(w int) (lines [][]span) {
	reasons := p.reasons
	if len(reasons) == 0 {
		reasons = []experiment.Reason{experiment.NoReason}
	}
	for _, r := range reasons {
		for _, line := range wrap(p.opened.Explain(r, p.cfg), w) {
			lines = append(lines, []span{{reasonInk(r), line}})
		}
	}
	return lines
}

// reasonInk is the colour of a sentence.
func reasonInk(r experiment.Reason) ink {
	switch {
	case r == experiment.NoReason:
		return inkPlain
	case r.Large():
		return inkWarn
	case r == experiment.BecauseWrong:
		return inkAlarm
	}
	return inkValue
}

// size is what it took on the wire.
func (p *insidePane) size() []span {
	r, in := &p.opened.Record, &p.opened.Inside
	n := func(v int) span { return span{inkValue, strconv.Itoa(v)} }
	out := []span{{inkDim, "payload "}, n(r.Payload), {inkDim, " + header "}, n(in.Header), {inkDim, " + UDP/IP "}, n(r.Wire - r.Payload - in.Header), {inkDim, " = "}, n(r.Wire), {inkDim, " bytes"}}
	if in.Fragments > 1 {
		out = append(out, span{inkDim, " in "}, n(in.Fragments), span{inkDim, " fragments"})
	}
	if in.Usual.Payload > 0 {
		out = append(out, span{inkDim, ", mean before "}, span{inkPlain, fixed(in.Usual.Payload, 0)})
	}
	return append(out, span{inkDim, "; "}, n(r.Changed), span{inkDim, " changed"})
}

// baseline is what it builds on, what the sender knew of that, and whether the
// receiver held it.
func (p *insidePane) baseline() [][]span {
	r, in := &p.opened.Record, &p.opened.Inside
	if r.Baseline == 0 {
		return [][]span{{{inkDim, "builds on "}, {inkValue, "the initial state"}, {inkDim, ", which both ends were configured with"}}}
	}
	first := []span{{inkDim, "builds on "}, {inkValue, strconv.FormatUint(r.Seq-uint64(r.Baseline), 10)}, {inkDim, ", "}, {inkPlain, strconv.Itoa(r.Baseline)}, {inkDim, " back"}}
	if in.Usual.Baseline > 0 {
		first = append(first, span{inkDim, " (usual " + fixed(in.Usual.Baseline, 1) + ")"})
	}
	first = append(first, span{inkDim, ", sent "}, span{inkPlain, msText(r.Sent - in.BaseSent)})
	if in.BaseAcked > 0 {
		first = append(first, span{inkDim, " and acked "}, span{inkPlain, msText(r.Sent - in.BaseAcked)})
	}
	first = append(first, span{inkDim, " before"})
	held, k := heldText(in)
	return [][]span{first, {{inkDim, "at the receiver: "}, {k, held}, {inkDim, "; history "}, {inkPlain, strconv.Itoa(in.History)}, {inkDim, " frames"}}}
}

func heldText(in *experiment.Inside) (string, ink) {
	switch in.Base {
	case experiment.BaseHeld:
		return "held", inkGood
	case experiment.BaseDropped:
		return "dropped from the history before", inkNoBase
	case experiment.BaseLost:
		return "not held, the link had lost it", inkNoBase
	case experiment.BaseFailed:
		return "not held, it could not be decoded", inkNoBase
	case experiment.BasePending:
		return "not held, it is still under way", inkNoBase
	case experiment.BaseStrange:
		return "not held", inkNoBase
	}
	return "not asked for, it did not get so far", inkDim
}

func msText(d time.Duration) string { return fixed(float64(d)/1e6, 1) + " ms" }

// way is what each stage of the link did, from the sender to the receiver and, as
// an ack, back.
func (p *insidePane) way(th *theme) (lines [][]span) {
	r, in := &p.opened.Record, &p.opened.Inside
	line := func(k ink, stage, at, what string) {
		lines = append(lines, []span{{inkDim, padRight(stage, 11)}, {inkPlain, padRight(at, 12)}, {k, what}})
	}
	line(inkDim, "sender", stamp(r.Sent), "epoch "+strconv.FormatUint(r.Epoch, 10))
	took, ended := time.Duration(0), false
	for _, s := range in.Trail.All() {
		if took += s.Took; ended {
			continue // it draws for lost packets too, and means nothing
		}
		ended = s.Lost != lossmodel.None
		at := ""
		if s.Took != 0 && !ended {
			at = padLeft("+"+fixed(float64(took)/1e6, 1), 9)
		}
		what, k := stepText(th, &s)
		line(k, s.Stage.String(), at, what)
	}
	switch {
	case r.Outcome == experiment.Lost:
	case r.Outcome == experiment.InFlight:
		line(inkDim, "receiver", stamp(r.Due), "due; still on its way")
	default:
		line(outcomeInk(r.Outcome), "receiver", stamp(r.Arrived), string(th.outcome[min(r.Outcome, experiment.NumOutcomes-1)])+" "+outcomeWord(r.Outcome)+" after "+msText(r.Arrived-r.Sent))
	}
	switch {
	case in.AckLost != lossmodel.None:
		line(inkLost, "its ack", "", "lost: "+in.AckLost.String())
	case in.AckDue > 0:
		line(inkDim, "its ack", stamp(in.AckDue), "at the sender, "+msText(in.AckDue-r.Sent)+" after the packet left it")
	}
	return lines
}

// stepText says what a stage did.
func stepText(th *theme, s *lossmodel.Step) (string, ink) {
	extra := s.Took - s.Usual
	switch {
	case s.Lost == lossmodel.Queue:
		return "DROPPED: " + strconv.FormatInt(s.Ahead.Bytes, 10) + " bytes in the queue, no room", inkLost
	case s.Lost != lossmodel.None:
		return "DROPPED: " + s.Lost.String(), inkLost
	case s.Flipped > 0 && s.Stage != lossmodel.StageNetem:
		return strconv.Itoa(int(s.Flipped)) + " bits flipped", inkCorrupt
	case s.Copies > 0 && s.Stage != lossmodel.StageNetem:
		return strconv.Itoa(int(s.Copies)) + " more made of it", inkCopy
	case s.Stage == lossmodel.StageRate && s.Took > 0:
		return msText(s.Took) + " on the line, behind " + strconv.Itoa(s.Ahead.Packets) + " packets of " + strconv.FormatInt(s.Ahead.Bytes, 10) + " bytes", inkPlain
	case (s.Stage == lossmodel.StageDelay || s.Stage == lossmodel.StageNetem) && s.Took > 0:
		sign := " + "
		if extra < 0 {
			sign, extra = " "+"-"+" ", -extra
		}
		return "latency " + msText(s.Usual) + sign + "jitter " + msText(extra), inkPlain
	case s.Stage == lossmodel.StageReorder && s.Took > 0, s.Stage == lossmodel.StageDuplicate && s.Took > 0:
		return "held back by " + msText(s.Took), inkLate
	case s.Bad:
		return "let through, though in its bad state", inkWarn
	}
	return "let through", inkDim
}

// bits lists what the payload went to, field by field.
func (p *insidePane) bits(c *canvas, th *theme, y int, b *encoders.Budget, parts []part) {
	total := float64(b.Total()) / encoders.BitUnit
	const name, number, share = 15, 11, 9
	for _, part := range parts {
		if y >= c.h-1 {
			return
		}
		c.spans(2, y, name-1, span{slotInk(part.ink), string(swatch(th, part)) + " "}, span{inkPlain, part.name})
		c.right(2+name+number, y, inkValue, fixed(part.share*total, 1)+" bits")
		c.right(2+name+number+share, y, inkPlain, fixed(100*part.share, 1)+" %")
		room := max(c.w-4-name-number-share-2, 0)
		c.fill(2+name+number+share+2, y, int(part.share*float64(room)+0.5), slotInk(part.ink), swatch(th, part))
		y++
	}
}
