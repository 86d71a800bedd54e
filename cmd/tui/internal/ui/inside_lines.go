package ui

import (
	"strconv"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/report"
	"wirelab/lossmodel"
)

// The sections of an opened packet, as lines of text.

// why is the sentences that explain it.
func (p *insidePane) why(w int) (lines [][]span) {
	reasons := p.reasons
	if len(reasons) == 0 {
		reasons = []engine.Reason{engine.NoReason}
	}
	for _, r := range reasons {
		for _, line := range wrap(report.Explain(p.opened, r, p.cfg), w) {
			lines = append(lines, []span{{reasonInk(r), line}})
		}
	}
	return lines
}

// reasonInk is the colour of a sentence.
func reasonInk(r engine.Reason) ink {
	switch {
	case r == engine.NoReason:
		return inkPlain
	case r.Large():
		return inkWarn
	case r == engine.BecauseWrong:
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

func heldText(in *engine.Inside) (string, ink) {
	switch in.Base {
	case engine.BaseHeld:
		return "held", inkGood
	case engine.BaseDropped:
		return "dropped from the history before", inkNoBase
	case engine.BaseLost:
		return "not held, the link had lost it", inkNoBase
	case engine.BaseFailed:
		return "not held, it could not be decoded", inkNoBase
	case engine.BasePending:
		return "not held, it is still under way", inkNoBase
	case engine.BaseStrange:
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
	case r.Outcome == engine.Lost:
	case r.Outcome == engine.InFlight:
		line(inkDim, "receiver", stamp(r.Due), "due; still on its way")
	default:
		line(outcomeInk(r.Outcome), "receiver", stamp(r.Arrived), string(th.outcome[min(r.Outcome, engine.NumOutcomes-1)])+" "+outcomeWord(r.Outcome)+" after "+msText(r.Arrived-r.Sent))
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
