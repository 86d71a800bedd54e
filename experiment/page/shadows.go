package page

import (
	"fmt"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
)

// shadows sets the further encoders beside the first: the frames and the losses were the
// same, so that each ratio is one of encoders alone.
func (d *document) shadows(x *engine.Result) {
	if len(x.Shadows) == 0 {
		return
	}
	t := table{Caption: "Encoders on the same frames and the same losses; ratios are to the first",
		Head: heads("encoder", ">payload kbps", ">ratio", ">wire kbps", ">bits per item", ">p95 bytes", ">decoded", ">failed", ">starved", ">wrong")}
	first := &x.Totals
	row := func(name string, y *figures.Totals, ratio string) {
		wrong := cell{Text: digits(float64(y.Wrong))}
		if y.Wrong > 0 {
			wrong.Class = "bad"
		}
		starved := "–"
		if v, known := y.Playout.StarvedRatio.Value(); known && y.BitsPerCube != nil {
			starved = percent(v)
		}
		t.row(name, digits(y.PayloadKbps), ratio, digits(y.WireKbps), figure(y.BitsPerItem), figure(y.PacketBytes.Of(y.PacketBytes.P95)),
			digits(float64(y.Decoded)), digits(float64(y.Failed())), starved, wrong)
	}
	row(encoderOf(x), first, "1")
	for i := range x.Shadows {
		s := &x.Shadows[i]
		name, ratio := s.Encoder, "–"
		if s.FromS > 0 {
			name += fmt.Sprintf(", from %.1f s on", s.FromS)
		} else if first.PayloadKbps > 0 {
			ratio = fmt.Sprintf("%.3f", s.Totals.PayloadKbps/first.PayloadKbps)
		}
		row(name, &s.Totals, ratio)
	}
	d.Sections = append(d.Sections, section{ID: "shadows", Title: "Side by side", Tables: []table{t}})
}

// transfer tells how a file came across.
func (d *document) transfer(x *engine.Result) {
	if x.Totals.Transfer == nil {
		return
	}
	t := table{Caption: "The file", Head: heads("encoder", ">packed bytes", ">of the new file", ">blocks", ">datagrams", ">resent", ">seconds")}
	row := func(name string, y *figures.Totals) {
		if f := y.Transfer; f != nil {
			t.row(name, digits(float64(f.PackedBytes)), percent(figures.Ratio(float64(f.PackedBytes), float64(f.NewBytes))),
				digits(float64(f.Blocks)), digits(float64(y.Sent)), digits(float64(f.Resent)), f.Verdict())
		}
	}
	row(encoderOf(x), &x.Totals)
	for i := range x.Shadows {
		row(x.Shadows[i].Encoder, &x.Shadows[i].Totals)
	}
	d.Sections = append(d.Sections, section{ID: "file", Title: "The file", Tables: []table{t}})
}
