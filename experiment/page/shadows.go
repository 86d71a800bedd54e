package page

import (
	"cmp"
	"fmt"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/texttable"
)

// shadows sets the further encoders beside the first: the frames and the losses were the
// same, so that each ratio is one of encoders alone.
func (d *document) shadows(x *engine.Result) {
	if len(x.Shadows) == 0 {
		return
	}
	s := section{ID: "shadows", Title: "Side by side"}
	s.Tables = append(s.Tables, ratioTable(x.Comparison)...)
	t := newTable("Each since it joined; the frames and the losses are the same", "encoder", ">payload kbps", ">wire kbps", ">bits per item", ">p95 bytes", ">decoded", ">failed", ">starved", ">wrong")
	row := func(name string, y *figures.Totals) {
		wrong := texttable.Cell{Text: digits(float64(y.Wrong))}
		if y.Wrong > 0 {
			wrong.Class = "bad"
		}
		starved := "–"
		if y.BitsPerCube != nil {
			starved = share(y.Playout.StarvedRatio)
		}
		t.Add(name, digits(y.PayloadKbps), digits(y.WireKbps), figure(y.BitsPerItem), figure(y.PacketBytes.Of(y.PacketBytes.P95)),
			digits(float64(y.Decoded)), digits(float64(y.Failed())), starved, wrong)
	}
	row(cmp.Or(x.Label, encoderOf(x)), &x.Totals)
	for i := range x.Shadows {
		y := &x.Shadows[i]
		name := cmp.Or(y.Label, y.Encoder)
		if y.FromS > 0 {
			name += fmt.Sprintf(", from %.1f s on", y.FromS)
		}
		row(name, &y.Totals)
	}
	s.Tables = append(s.Tables, t)
	d.Sections = append(d.Sections, s)
}

// ratioTable compares the encoders over the time that they have in common, by pairs of
// samples; nothing in reports that are older than the comparison.
func ratioTable(c *engine.Comparison) []table {
	if c == nil || len(c.Lanes) < 2 {
		return nil
	}
	t := newTable(fmt.Sprintf("Payload against that of the first, from %s to %s s, sample by sample", digits(c.FromS), digits(c.ToS)), "encoder", ">payload kbps", ">bits per changed", ">times the first", ">interval of 95 %")
	if c.SeamS > 0 {
		t.Caption += fmt.Sprintf("; %s s at seams of the data are left out", digits(c.SeamS))
	}
	for i := range c.Lanes {
		l := &c.Lanes[i]
		times, interval := texttable.Cell{Text: figure(l.Times)}, "–"
		lo, known := l.TimesLo.Value()
		hi, also := l.TimesHi.Value()
		if i > 0 && known && also {
			interval = fmt.Sprintf("%.3f to %.3f", lo, hi)
			switch {
			case hi < 1:
				times.Class = "good"
			case lo > 1:
				times.Class = "bad"
			}
		}
		t.Add(l.Label, figure(l.PayloadKbps), figure(l.BitsPerChanged), times, interval)
	}
	return []table{t}
}

// transfer tells how a file came across.
func (d *document) transfer(x *engine.Result) {
	if x.Totals.Transfer == nil {
		return
	}
	t := newTable("The file", "encoder", ">packed bytes", ">of the new file", ">blocks", ">datagrams", ">resent", ">seconds")
	row := func(name string, y *figures.Totals) {
		if f := y.Transfer; f != nil {
			t.Add(name, digits(float64(f.PackedBytes)), percent(figures.Ratio(float64(f.PackedBytes), float64(f.NewBytes))),
				digits(float64(f.Blocks)), digits(float64(y.Sent)), digits(float64(f.Resent)), f.Verdict())
		}
	}
	row(encoderOf(x), &x.Totals)
	for i := range x.Shadows {
		row(cmp.Or(x.Shadows[i].Label, x.Shadows[i].Encoder), &x.Shadows[i].Totals)
	}
	d.Sections = append(d.Sections, section{ID: "file", Title: "The file", Tables: []table{t}})
}
