package packets

import (
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/report"
	"wirelab/internal/units"
	"wirelab/lossmodel"
)

// The sections of an opened packet, as lines of text.

// why is the sentences that explain it.
func (p *details) why(w int) (lines [][]look.Span) {
	reasons := p.reasons
	if len(reasons) == 0 {
		reasons = []inspector.Reason{inspector.NoReason}
	}
	for _, r := range reasons {
		for _, line := range look.Wrap(report.Explain(p.opened, r, p.cfg), w) {
			lines = append(lines, []look.Span{reasonInk(r).Span(line)})
		}
	}
	return lines
}

// reasonInk is the colour of a sentence.
func reasonInk(r inspector.Reason) look.Ink {
	switch {
	case r == inspector.NoReason:
		return look.Plain
	case r.Large():
		return look.Warn
	case r == inspector.BecauseWrong:
		return look.Alarm
	}
	return look.Value
}

// size is what it took on the wire.
func (p *details) size() []look.Span {
	r, in := &p.opened.Record, &p.opened.Inside
	n := func(v int) look.Span { return look.Value.Span(strconv.Itoa(v)) }
	out := []look.Span{look.Dim.Span("payload "), n(r.Payload), look.Dim.Span(" + header "), n(in.Header),
		look.Dim.Span(" + UDP/IP "), n(r.Wire - r.Payload - in.Header), look.Dim.Span(" = "), n(r.Wire), look.Dim.Span(" bytes")}
	if in.Fragments > 1 {
		out = append(out, look.Dim.Span(" in "), n(in.Fragments), look.Dim.Span(" fragments"))
	}
	if in.Usual.Payload > 0 {
		out = append(out, look.Dim.Span(", mean before "), look.Plain.Span(units.Fixed(in.Usual.Payload, 0)))
	}
	return append(out, look.Dim.Span("; "), n(r.Changed), look.Dim.Span(" changed"))
}

// baseline is what it builds on, what the sender knew of that, and whether the
// receiver held it.
func (p *details) baseline() [][]look.Span {
	r, in := &p.opened.Record, &p.opened.Inside
	if r.Baseline == 0 {
		return [][]look.Span{{look.Dim.Span("builds on "), look.Value.Span("the initial state"),
			look.Dim.Span(", which both ends were configured with")}}
	}
	first := []look.Span{look.Dim.Span("builds on "), look.Value.Span(strconv.FormatUint(r.Seq-uint64(r.Baseline), 10)),
		look.Dim.Span(", "), look.Plain.Span(strconv.Itoa(r.Baseline)), look.Dim.Span(" back")}
	if in.Usual.Baseline > 0 {
		first = append(first, look.Dim.Span(" (usual "+units.Fixed(in.Usual.Baseline, 1)+")"))
	}
	first = append(first, look.Dim.Span(", sent "), look.Plain.Span(msText(r.Sent-in.BaseSent)))
	if in.BaseAcked > 0 {
		first = append(first, look.Dim.Span(" and acked "), look.Plain.Span(msText(r.Sent-in.BaseAcked)))
	}
	first = append(first, look.Dim.Span(" before"))
	held, k := heldText(in)
	return [][]look.Span{first, {look.Dim.Span("at the receiver: "), k.Span(held), look.Dim.Span("; history "),
		look.Plain.Span(strconv.Itoa(in.History)), look.Dim.Span(" frames")}}
}

func heldText(in *inspector.Inside) (string, look.Ink) {
	switch in.Base {
	case inspector.BaseHeld:
		return "held", look.Good
	case inspector.BaseDropped:
		return "dropped from the history before", look.NoBase
	case inspector.BaseLost:
		return "not held, the link had lost it", look.NoBase
	case inspector.BaseFailed:
		return "not held, it could not be decoded", look.NoBase
	case inspector.BasePending:
		return "not held, it is still under way", look.NoBase
	case inspector.BaseUnknown:
		return "not held", look.NoBase
	}
	return "not asked for, it did not get so far", look.Dim
}

func msText(d time.Duration) string { return units.Fixed(float64(d)/1e6, 1) + " ms" }

// way is what each stage of the link did, from the sender to the receiver and, as
// an ack, back.
func (p *details) way(th *look.Theme) (lines [][]look.Span) {
	r, in := &p.opened.Record, &p.opened.Inside
	line := func(k look.Ink, stage, at, what string) {
		lines = append(lines, []look.Span{look.Dim.Span(look.PadRight(stage, 11)), look.Plain.Span(look.PadRight(at, 12)), k.Span(what)})
	}
	line(look.Dim, "sender", stamp(r.Sent), "epoch "+strconv.FormatUint(r.Epoch, 10))
	took, ended := time.Duration(0), false
	for _, s := range in.Trail.All() {
		took += s.Took
		if ended {
			continue // it draws for lost packets too, and means nothing
		}
		ended = s.Lost != lossmodel.None
		at := ""
		if s.Took != 0 && !ended {
			at = look.PadLeft("+"+units.Fixed(float64(took)/1e6, 1), 9)
		}
		what, k := stepText(th, &s)
		line(k, s.Stage.String(), at, what)
	}
	switch {
	case r.Outcome == packetlog.Lost:
	case r.Outcome == packetlog.Unknown:
		line(look.OutcomeInk(r.Outcome), "receiver", "", "never said that it came, and its time is over")
	case r.Outcome == packetlog.InFlight && r.Due == 0:
		line(look.Dim, "receiver", "", "has not told of it yet")
	case r.Outcome == packetlog.InFlight:
		line(look.Dim, "receiver", stamp(r.Due), "due; still on its way")
	default:
		line(look.OutcomeInk(r.Outcome), "receiver", stamp(r.Arrived),
			string(th.Outcome[min(r.Outcome, packetlog.NumOutcomes-1)])+" "+look.OutcomeWord(r.Outcome)+" after "+msText(r.Arrived-r.Sent))
	}
	switch {
	case in.AckLost != lossmodel.None:
		line(look.Lost, "its ack", "", "lost: "+in.AckLost.String())
	case in.AckDue > 0:
		line(look.Dim, "its ack", stamp(in.AckDue), "at the sender, "+msText(in.AckDue-r.Sent)+" after the packet left it")
	}
	return lines
}

// stepText says what a stage did.
func stepText(th *look.Theme, s *lossmodel.Step) (string, look.Ink) {
	extra := s.Took - s.Usual
	switch {
	case s.Lost == lossmodel.Queue:
		return "DROPPED: " + strconv.FormatInt(s.Ahead.Bytes, 10) + " bytes in the queue, no room", look.Lost
	case s.Lost != lossmodel.None:
		return "DROPPED: " + s.Lost.String(), look.Lost
	case s.Flipped > 0 && s.Stage != lossmodel.StageNetem:
		return strconv.Itoa(int(s.Flipped)) + " bits flipped", look.Corrupt
	case s.Copies > 0 && s.Stage != lossmodel.StageNetem:
		return strconv.Itoa(int(s.Copies)) + " more made of it", look.Copy
	case s.Stage == lossmodel.StageRate && s.Took > 0:
		return msText(s.Took) + " on the line, behind " + strconv.Itoa(s.Ahead.Packets) + " packets of " +
			strconv.FormatInt(s.Ahead.Bytes, 10) + " bytes", look.Plain
	case (s.Stage == lossmodel.StageDelay || s.Stage == lossmodel.StageNetem) && s.Took > 0:
		sign := " + "
		if extra < 0 {
			sign, extra = " "+"-"+" ", -extra
		}
		return "latency " + msText(s.Usual) + sign + "jitter " + msText(extra), look.Plain
	case s.Stage == lossmodel.StageReorder && s.Took > 0, s.Stage == lossmodel.StageDuplicate && s.Took > 0:
		return "held back by " + msText(s.Took), look.Late
	case s.Bad:
		return "let through, though in its bad state", look.Warn
	}
	return "let through", look.Dim
}
