package packets

import (
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/report"
	"wirelab/internal/units"
	"wirelab/internal/words"
	"wirelab/lossmodel"
)

// The sections of a packet, as lines of text.

// reasonLines returns the sentences that explain the outcome or the size, in lines of w columns.
func (p *details) reasonLines(w int) (lines [][]look.Span) {
	reasons := p.reasons
	if len(reasons) == 0 {
		reasons = []inspector.Reason{inspector.NoReason}
	}
	for _, r := range reasons {
		for _, line := range look.Wrap(report.Explain(p.opened, r, p.cfg), w) {
			lines = append(lines, []look.Span{reasonStyle(r).Span(line)})
		}
	}
	return lines
}

// reasonStyle returns the style of the sentence for a reason.
func reasonStyle(r inspector.Reason) look.Style {
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

// sizeSpans returns the line about the sizes of the packet: the bytes on the wire by layer, the number of fragments if it
// is fragmented, the recent mean of the payload, and the number of changed items. The bytes of a container include the
// packets that it repeats.
func (p *details) sizeSpans() []look.Span {
	r, in := &p.opened.Record, &p.opened.Inside
	var out []look.Span
	add := func(label string, n int) { out = append(out, look.Labelled(label, strconv.Itoa(n))...) }
	dim := func(text string) { out = append(out, look.Dim.Span(text)) }
	add("payload ", r.Payload)
	add(" + header ", in.Header)
	plain := r.Wire // size without a container
	if r.Wire == 0 {
		add(" bytes in the stream; ", r.Changed)
		dim(" changed")
		return out
	}
	if _, ok := p.cfg.HasContainers(); ok {
		plain, _ = lossmodel.WireBytes(r.Payload+in.Header, p.cfg.Down.MTU)
		add(" + container ", r.Wire-plain)
	}
	add(" + UDP/IP ", plain-r.Payload-in.Header)
	add(" = ", r.Wire)
	dim(" bytes")
	if in.Fragments > 1 {
		dim(" in " + words.Count(in.Fragments, "fragment"))
	}
	if in.Usual.Payload > 0 {
		dim(", recent mean ")
		out = append(out, look.Plain.Span(units.Fixed(in.Usual.Payload, 0)))
	}
	add("; ", r.Changed)
	dim(" changed")
	return out
}

// baselineLines returns two lines about the baseline, the packet that this one is relative to: its age,
// when it was acked, and whether the receiver has it. If the baseline is the initial state, there is only one
// line.
func (p *details) baselineLines() [][]look.Span {
	r, in := &p.opened.Record, &p.opened.Inside
	if r.Baseline == 0 { // r.Baseline is the age in packets; 0 means the initial state
		return [][]look.Span{look.Labelled("baseline: ", "the initial state", ", which both endpoints have by configuration")}
	}
	first := []look.Span{look.Dim.Span("baseline "), look.Value.Span(strconv.FormatUint(r.Seq-uint64(r.Baseline), 10)),
		look.Dim.Span(", age "), look.Plain.Span(strconv.Itoa(r.Baseline))}
	if in.Usual.Baseline > 0 {
		first = append(first, look.Dim.Span(" (mean "+units.Fixed(in.Usual.Baseline, 1)+")"))
	}
	first = append(first, look.Dim.Span(", sent "), look.Plain.Span(formatMs(r.Sent-in.BaseSent)))
	if in.BaseAcked > 0 {
		first = append(first, look.Dim.Span(" and acked "), look.Plain.Span(formatMs(r.Sent-in.BaseAcked)))
	}
	first = append(first, look.Dim.Span(" before"))
	state, style := baselineState(in)
	return [][]look.Span{first, {look.Dim.Span("at the receiver: "), style.Span(state)}}
}

// baselineState describes whether the receiver had the baseline when the packet arrived, and why not.
func baselineState(in *inspector.Inside) (string, look.Style) {
	switch in.Base {
	case inspector.BaseHeld:
		return "available", look.Good
	case inspector.BaseDropped:
		return "missing, dropped from the history", look.NoBase
	case inspector.BaseLost:
		return "missing, lost by the link", look.NoBase
	case inspector.BaseFailed:
		return "missing, it arrived but could not be decoded", look.NoBase
	case inspector.BasePending:
		return "missing, still in flight", look.NoBase
	case inspector.BaseUnknown:
		return "missing", look.NoBase
	}
	return "not checked, since the packet was not decoded", look.Dim
}

func formatMs(d time.Duration) string { return units.Fixed(float64(d)/1e6, 1) + " ms" }

// pathLines returns a line for the sender, each stage of the link up to a loss, the receiver and the ack.
// A line has the name of the stage, the virtual time or the delay so far in ms, and what happened.
func (p *details) pathLines(th *look.Theme) (lines [][]look.Span) {
	r, in := &p.opened.Record, &p.opened.Inside
	add := func(style look.Style, stage, at, event string) {
		lines = append(lines, []look.Span{look.Dim.Span(look.PadRight(stage, 11)), look.Plain.Span(look.PadRight(at, 12)), style.Span(event)})
	}
	add(look.Dim, "sender", formatTime(r.Sent), "epoch "+strconv.FormatUint(r.Epoch, 10))
	delay, isLost := time.Duration(0), false
	for _, s := range in.Trail.All() {
		delay += s.Delay
		if isLost {
			continue // stages after the loss have no effect
		}
		isLost = s.Lost != lossmodel.None
		delayText := ""
		if s.Delay != 0 && !isLost {
			delayText = look.PadLeft("+"+units.Fixed(float64(delay)/1e6, 1), 9)
		}
		event, style := describeStep(th, &s)
		add(style, s.Stage.String(), delayText, event)
	}
	switch {
	case r.Outcome == packetlog.Lost: // it did not reach the receiver
	case r.Outcome == packetlog.Unknown:
		add(look.OutcomeStyle(r.Outcome), "receiver", "", "no report of arrival within the timeout")
	case r.Outcome == packetlog.InFlight && r.Due == 0: // over a network the arrival is not known in advance
		add(look.Dim, "receiver", "", "no report yet")
	case r.Outcome == packetlog.InFlight:
		add(look.Dim, "receiver", formatTime(r.Due), "due; in flight")
	default:
		add(look.OutcomeStyle(r.Outcome), "receiver", formatTime(r.Arrived),
			th.OutcomeSymbol(r.Outcome)+" "+look.OutcomeName(r.Outcome)+" after "+formatMs(r.Arrived-r.Sent))
	}
	switch {
	case in.AckLost != lossmodel.None:
		add(look.Lost, "ack", "", "lost: "+in.AckLost.String())
	case in.AckDue > 0:
		add(look.Dim, "ack", formatTime(in.AckDue), "at the sender, "+formatMs(in.AckDue-r.Sent)+" after the packet was sent")
	}
	return lines
}

// describeStep describes what a stage of the link did to the packet: lost, damaged, copied, delayed, or
// nothing. Stage netem is all of Linux netem in one step, whose delay matters more than its damage, and
// whose loss is tested first.
func describeStep(th *look.Theme, s *lossmodel.Step) (event string, style look.Style) {
	jitter := s.Delay - s.BaseDelay
	behind := ", behind " + words.Count(s.QueueAhead.Packets, "packet") + " of " + words.Count(s.QueueAhead.Bytes, "byte")
	switch {
	case s.Lost == lossmodel.Queue && s.Discipline != "":
		return "DROPPED by " + s.Discipline + " after " + formatMs(s.Delay) + behind, look.Lost
	case s.Lost == lossmodel.Queue:
		return "DROPPED: " + strconv.FormatInt(s.QueueAhead.Bytes, 10) + " bytes in the queue, which is full", look.Lost
	case s.Lost != lossmodel.None:
		return "DROPPED: " + s.Lost.String(), look.Lost
	case s.Flipped > 0 && s.Stage != lossmodel.StageNetem:
		return words.Count(int(s.Flipped), "bit") + " flipped", look.Corrupt
	case s.Copies > 0 && s.Stage != lossmodel.StageNetem:
		return words.Count(int(s.Copies), "duplicate") + " made", look.Copy
	case s.Stage == lossmodel.StageRate && s.Delay > 0:
		return formatMs(s.Delay) + " on the line" + behind, look.Plain
	case (s.Stage == lossmodel.StageDelay || s.Stage == lossmodel.StageNetem) && s.Delay > 0:
		sign := " + "
		if jitter < 0 {
			sign, jitter = " - ", -jitter
		}
		return "latency " + formatMs(s.BaseDelay) + sign + "jitter " + formatMs(jitter), look.Plain
	case s.Stage == lossmodel.StageReorder && s.Delay > 0, s.Stage == lossmodel.StageDuplicate && s.Delay > 0:
		return "delayed by " + formatMs(s.Delay), look.Late
	case s.Bad: // the Gilbert-Elliott loss model was in its bad state, in which losses are more likely
		return "passed, although in the bad state", look.Warn
	}
	return "passed", look.Dim
}
