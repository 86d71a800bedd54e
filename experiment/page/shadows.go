package page

import (
	"cmp"
	"fmt"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/texttable"
)

// addStretches adds a table of the stretches between swaps of the encoder, if it was swapped.
func (d *document) addStretches(x *engine.Result) {
	if len(x.Stretches) == 0 {
		return
	}
	t := newTable("Lane "+x.Lane+" between swaps of its encoder", "encoder", ">from, s", ">to, s", ">payload kbps", ">wire kbps", ">bits per "+x.Item,
		">bits per changed", ">sent", ">decoded", ">stale", ">lost", ">failed", ">wrong")
	for i := range x.Stretches {
		s := &x.Stretches[i]
		t.Add(s.Encoder, fmt.Sprintf("%.1f", s.FromS), fmt.Sprintf("%.1f", s.ToS), formatNumber(s.PayloadKbps), formatNumber(s.WireKbps),
			formatFigure(s.BitsPerItem), formatFigure(s.BitsPerChanged), formatNumber(float64(s.Sent)), formatNumber(float64(s.Decoded)),
			formatNumber(float64(s.Stale)), formatNumber(float64(s.Lost)), formatNumber(float64(s.Failed)), formatNumber(float64(s.Wrong)))
	}
	d.Sections = append(d.Sections, section{ID: "stretches", Title: "Between swaps", Tables: []table{t}})
}

// addShadows adds a comparison of the active encoder with the shadows. All ran on the same frames and
// losses, so that the ratios depend on the encoders only.
func (d *document) addShadows(x *engine.Result) {
	if len(x.Shadows) == 0 {
		return
	}
	s := section{ID: "shadows", Title: "Encoders compared"}
	s.Tables = append(s.Tables, ratioTable(x.Comparison)...)
	t := newTable("Each since its start, on the same frames and losses", "lane", "encoder", ">payload kbps", ">wire kbps", ">bits per item", ">p95 bytes", ">decoded", ">failed", ">starved", ">wrong")
	addRow := func(lane, name string, totals *figures.Totals) {
		wrong := texttable.Cell{Text: formatNumber(float64(totals.Wrong))}
		if totals.Wrong > 0 {
			wrong.Class = "bad"
		}
		t.Add(lane, name, formatNumber(totals.PayloadKbps), formatNumber(totals.WireKbps), formatFigure(totals.BitsPerItem),
			formatFigure(totals.PacketBytes.Of(totals.PacketBytes.P95)), formatNumber(float64(totals.Decoded)),
			formatNumber(float64(totals.Failed())), formatShare(totals.Playout.StarvedRatio), wrong)
	}
	addRow(x.Lane, x.Encoders(), &x.Totals)
	for i := range x.Shadows {
		shadow := &x.Shadows[i]
		name := cmp.Or(shadow.Label, shadow.Encoder)
		if shadow.FromS > 0 { // added during the run
			name += fmt.Sprintf(", from %.1f s", shadow.FromS)
		}
		if shadow.ToS > 0 { // removed during the run
			name += fmt.Sprintf(", to %.1f s", shadow.ToS)
		}
		addRow(shadow.Lane, name, &shadow.Totals)
	}
	s.Tables = append(s.Tables, t)
	d.Sections = append(d.Sections, s)
}

// ratioTable returns a table of the payload of each encoder divided by the payload of the first, over the period
// in which all of them ran. The confidence intervals are from pairs of samples. A ratio whose interval excludes
// 1 is marked as good or bad. ratioTable returns nil if the report has no comparison (c is nil) or only one lane.
func ratioTable(c *engine.Comparison) []table {
	if c == nil || len(c.Lanes) < 2 {
		return nil
	}
	t := newTable(fmt.Sprintf("Payload ratio to the first, from %s to %s s, by pairs of samples", formatNumber(c.FromS), formatNumber(c.ToS)), "lane", "encoder", ">payload kbps", ">bits per changed", ">ratio", ">95 % CI")
	if c.SeamS > 0 {
		t.Caption += fmt.Sprintf("; without %s s at loop points", formatNumber(c.SeamS))
	}
	for i := range c.Lanes {
		l := &c.Lanes[i]
		ratio, interval := texttable.Cell{Text: formatFigure(l.Times)}, "–"
		lo, hasLo := l.TimesLo.Value()
		hi, hasHi := l.TimesHi.Value()
		if i > 0 && hasLo && hasHi {
			interval = fmt.Sprintf("%.3f to %.3f", lo, hi)
			switch {
			case hi < 1:
				ratio.Class = "good"
			case lo > 1:
				ratio.Class = "bad"
			}
		}
		t.Add(l.Lane, l.Label, formatFigure(l.PayloadKbps), formatFigure(l.BitsPerChanged), ratio, interval)
	}
	return []table{t}
}

// addTransfer adds the table of the file transfer, if the session sent a file.
func (d *document) addTransfer(x *engine.Result) {
	if x.Totals.Transfer == nil {
		return
	}
	t := newTable("File transfer", "encoder", ">packed bytes", ">of the new file", ">blocks", ">datagrams", ">resent", ">seconds")
	addRow := func(name string, totals *figures.Totals) {
		if f := totals.Transfer; f != nil {
			t.Add(name, formatNumber(float64(f.PackedBytes)), formatPercent(figures.RatioOrZero(float64(f.PackedBytes), float64(f.NewBytes))),
				formatNumber(float64(f.Blocks)), formatNumber(float64(totals.Sent)), formatNumber(float64(f.Resent)), f.Verdict())
		}
	}
	addRow(initialEncoder(x), &x.Totals)
	for i := range x.Shadows {
		addRow(cmp.Or(x.Shadows[i].Label, x.Shadows[i].Encoder), &x.Shadows[i].Totals)
	}
	d.Sections = append(d.Sections, section{ID: "file", Title: "File transfer", Tables: []table{t}})
}
