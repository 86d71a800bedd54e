package proxyview

import (
	"fmt"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/internal/units"
	"wirelab/internal/words"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"
)

// newDatagramBox returns a box that explains the outcome of a datagram, stage by stage. It follows a datagram in flight
// until it has left.
func (m *model) newDatagramBox(d relay.TracedDatagram) *room.TextBox {
	return &room.TextBox{Title: fmt.Sprintf("%s %d", d.Way, d.Seq), Text: func(w int) [][]look.Span {
		d = m.refreshOutcome(d)
		lines := room.Paragraphs(m.explanation(&d)...)(w)
		if d.Lost() {
			lines[0][0].Style = look.Lost
		}
		return lines
	}}
}

// explanation returns what a datagram is, its outcome, a line for each stage, and the random stream.
func (m *model) explanation(d *relay.TracedDatagram) []string {
	serverRole := "to the server" // of the server: the receiver or the sender
	if d.Way == relay.Down {
		serverRole = "from the server"
	}
	lines := []string{"outcome: " + d.Describe(0) + delayParts(d),
		fmt.Sprintf("%d bytes of client %d (%s) %s, read at %.6f s", d.Size, d.Client.Number, d.Client.Addr, serverRole, d.At.Seconds())}
	return append(append(lines, stages(d)...),
		fmt.Sprintf("Numbers are drawn from random stream %q of seed %d: the same seed, sizes and times give the same outcome again.",
			m.streamName(d), m.proxy.Live.Script.Seed))
}

// streamName returns the name of the random stream that decides what the link of a datagram does.
func (m *model) streamName(d *relay.TracedDatagram) string {
	client := d.Client.Number
	if m.proxy.Shared {
		client = 0 // the number of a link of all clients
	}
	return relay.LinkName(d.Way, client)
}

// delayParts returns the parts of the delay of a datagram that has left: " = queue 4.200 + latency 20.000 ms"; "" for others.
func delayParts(d *relay.TracedDatagram) string {
	rest, hasLeft := d.Delay()
	if !hasLeft {
		return ""
	}
	var parts []string
	add := func(name string, t time.Duration) {
		if t != 0 {
			parts = append(parts, name+" "+milliseconds(t))
		}
		rest -= t
	}
	for _, s := range d.Trail.All() {
		switch s.Stage {
		case lossmodel.StageRate:
			add("queue", s.Delay-sendingTime(d, &s))
			add("sending", sendingTime(d, &s))
		case lossmodel.StageDelay:
			add("latency", s.BaseDelay)
			add(variation(d.Spec), s.Delay-s.BaseDelay)
		default:
			add(s.Stage.String(), s.Delay)
		}
	}
	add("this proxy", rest)
	return " = " + strings.Join(parts, " + ") + " ms"
}

func milliseconds(t time.Duration) string { return units.Fixed(units.Milliseconds(t), 3) }

// sendingTime returns the time that the line took to send a datagram, without the time in the queue.
func sendingTime(d *relay.TracedDatagram, s *lossmodel.Step) time.Duration {
	if d.Spec == nil || d.Spec.Rate.BitsPerSecond == 0 {
		return 0
	}
	return min(s.Delay, time.Duration(int64(d.Verdict.Wire)*8*int64(time.Second)/d.Spec.Rate.BitsPerSecond))
}

// variation names the part of the delay that differs from datagram to datagram.
func variation(spec *lossmodel.Spec) string {
	var names []string
	if spec != nil {
		d := &spec.Delay
		for _, part := range []struct {
			name string
			on   bool
		}{{"jitter", d.Jitter > 0}, {"spike", d.SpikeEvery > 0}, {"burst", d.Burst > 0}, {"capture", d.Trace.Path != ""}, {"order", d.KeepOrder}} {
			if part.on {
				names = append(names, part.name)
			}
		}
	}
	return strings.Join(names, "/")
}

// stages returns a line for each stage of the link, up to the one that lost the datagram, and for each copy.
func stages(d *relay.TracedDatagram) (list []string) {
	add := func(name, text string) { list = append(list, name+": "+text) }
	for _, s := range d.Trail.All() {
		text := stageText(d, &s)
		if set := settings(d.Spec, s.Stage.String()); set != "" {
			text += " (set: " + set + ")"
		}
		add(s.Stage.String(), text)
		if s.Lost != lossmodel.None {
			break // the later stages have no effect
		}
	}
	if len(list) == 0 {
		add("link", "no setting delays or changes datagrams")
	}
	for i := range d.Verdict.Copies {
		add(fmt.Sprintf("copy %d", i+1), d.Describe(i+1))
	}
	return list
}

// settings returns the settings of a stage that are not defaults: "loss 5%, burst 2".
func settings(spec *lossmodel.Spec, stage string) string {
	if spec == nil {
		return ""
	}
	var list []string
	for _, k := range lossmodel.Keys() {
		value, err := spec.Get(k.Key)
		if k.Stage == stage && err == nil && value != k.Default {
			list = append(list, k.Key+" "+value)
		}
	}
	return strings.Join(list, ", ")
}

// stageText describes what a stage did to a datagram and why.
func stageText(d *relay.TracedDatagram, s *lossmodel.Step) string {
	switch {
	case s.Stage == lossmodel.StageRate:
		return rateText(d, s)
	case s.Stage == lossmodel.StageDelay:
		text := milliseconds(s.Delay) + " ms: latency " + milliseconds(s.BaseDelay)
		if name := variation(d.Spec); name != "" {
			text += ", " + name + " " + milliseconds(s.Delay-s.BaseDelay)
		}
		return text
	case s.Lost != lossmodel.None && s.Draw.Chance > 0:
		chance, _ := s.Draw.Shares()
		return "LOST" + draw(s) + "; from " + percent(chance) + " on it would have passed"
	case s.Lost == lossmodel.Burst:
		return "LOST in a burst, which loses all datagrams; outside of it, this one would have passed"
	case s.Lost != lossmodel.None:
		return "LOST, as set"
	case s.Copies > 0:
		return words.Count(int(s.Copies), "copy") + " made" + draw(s)
	case s.Flipped > 0:
		return words.Count(int(s.Flipped), "bit") + " flipped" + draw(s)
	case s.Stage == lossmodel.StageLoss && s.Draw.Chance == 0:
		return "no effect: the loss model is in its good state"
	case s.Delay != 0:
		return "held back for " + milliseconds(s.Delay) + " ms" + draw(s)
	}
	return "no effect" + draw(s)
}

// draw describes the random decision of a stage: ": drew 3.214 %, below 5 %"; "" without one.
func draw(s *lossmodel.Step) string {
	if s.Draw.Chance == 0 {
		return ""
	}
	chance, drawn := s.Draw.Shares()
	relation := "not below"
	if drawn < chance {
		relation = "below"
	}
	return ": drew " + percent(drawn) + ", " + relation + " " + percent(chance)
}

// percent formats a share with the digits that draws need.
func percent(share float64) string { return units.Trimmed(100*share, 4) + " %" }

// rateText describes what the queue and the line of the rate stage did.
func rateText(d *relay.TracedDatagram, s *lossmodel.Step) string {
	ahead := fmt.Sprintf("%s of %d bytes", words.Count(s.QueueAhead.Packets, "datagram"), s.QueueAhead.Bytes)
	wire := int64(d.Verdict.Wire)
	switch {
	case s.Lost == lossmodel.None && d.Verdict.Waiting && d.Outcomes[0].Kind == relay.Entered:
		return "in the queue behind " + ahead
	case s.Lost == lossmodel.None:
		sending := sendingTime(d, s)
		return fmt.Sprintf("%s ms: queue %s behind %s, sending %s for %d bytes", milliseconds(s.Delay), milliseconds(s.Delay-sending), ahead,
			milliseconds(sending), wire)
	case s.Discipline != "":
		return fmt.Sprintf("DROPPED by %s after %s ms in the queue behind %s", s.Discipline, milliseconds(s.Delay), ahead)
	case s.QueueLimit > 0 && s.QueueAhead.Bytes+wire > s.QueueLimit:
		return fmt.Sprintf("LOST: the queue of %d bytes is full: %s ahead, and this one takes %d; behind %d bytes or less it would have passed",
			s.QueueLimit, ahead, wire, s.QueueLimit-wire)
	}
	return fmt.Sprintf("LOST: the queue is full: %s ahead; behind fewer it would have passed", ahead)
}
