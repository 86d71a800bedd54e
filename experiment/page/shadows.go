package page

import (
	"cmp"
	"fmt"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/texttable"
)

// addShadows adds a comparison of the active encoder with the shadows. All ran on the same frames and
// losses, so that the ratios depend on the encoders only.
func (d *document) addShadows(x *engine.Result) {
	if len(x.Shadows) == 0 {
		return
	}
	s := section{ID: "shadows", Title: "Encoders compared"}
	s.Tables = append(s.Tables, ratioTable(x.Comparison)...)
	t := newTable("Each since its start, on the same frames and losses", "encoder", ">payload kbps", ">wire kbps", ">bits per item", ">p95 bytes", ">decoded", ">failed", ">starved", ">wrong")
	row := func(name string, y *figures.Totals) {
		wrong := texttable.Cell{Text: formatNumber(float64(y.Wrong))}
		if y.Wrong > 0 {
			wrong.Class = "bad"
		}
		starved := "–"
		if y.BitsPerCube != nil {
			starved = formatShare(y.Playout.StarvedRatio)
		}
		t.Add(name, formatNumber(y.PayloadKbps), formatNumber(y.WireKbps), formatFigure(y.BitsPerItem), formatFigure(y.PacketBytes.Of(y.PacketBytes.P95)),
			formatNumber(float64(y.Decoded)), formatNumber(float64(y.Failed())), starved, wrong)
	}
	row(cmp.Or(x.Label, initialEncoder(x)), &x.Totals)
	for i := range x.Shadows {
		y := &x.Shadows[i]
		name := cmp.Or(y.Label, y.Encoder)
		if y.FromS > 0 {
			name += fmt.Sprintf(", from %.1f s", y.FromS)
		}
		row(name, &y.Totals)
	}
	s.Tables = append(s.Tables, t)
	d.Sections = append(d.Sections, s)
}

// ratioTable compares the encoders over their common period, by pairs of samples. It returns nil for
// reports of versions without this comparison.
func ratioTable(c *engine.Comparison) []table {
	if c == nil || len(c.Lanes) < 2 {
		return nil
	}
	t := newTable(fmt.Sprintf("Payload ratio to the first, from %s to %s s, by pairs of samples", formatNumber(c.FromS), formatNumber(c.ToS)), "encoder", ">payload kbps", ">bits per changed", ">ratio", ">95 % CI")
	if c.SeamS > 0 {
		t.Caption += fmt.Sprintf("; without %s s at loop points", formatNumber(c.SeamS))
	}
	for i := range c.Lanes {
		l := &c.Lanes[i]
		times, interval := texttable.Cell{Text: formatFigure(l.Times)}, "–"
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
		t.Add(l.Label, formatFigure(l.PayloadKbps), formatFigure(l.BitsPerChanged), times, interval)
	}
	return []table{t}
}

// addTransfer adds the table of the file transfer, if the session sent a file.
func (d *document) addTransfer(x *engine.Result) {
	if x.Totals.Transfer == nil {
		return
	}
	t := newTable("File transfer", "encoder", ">packed bytes", ">of the new file", ">blocks", ">datagrams", ">resent", ">seconds")
	row := func(name string, y *figures.Totals) {
		if f := y.Transfer; f != nil {
			t.Add(name, formatNumber(float64(f.PackedBytes)), formatPercent(figures.Ratio(float64(f.PackedBytes), float64(f.NewBytes))),
				formatNumber(float64(f.Blocks)), formatNumber(float64(y.Sent)), formatNumber(float64(f.Resent)), f.Verdict())
		}
	}
	row(initialEncoder(x), &x.Totals)
	for i := range x.Shadows {
		row(cmp.Or(x.Shadows[i].Label, x.Shadows[i].Encoder), &x.Shadows[i].Totals)
	}
	d.Sections = append(d.Sections, section{ID: "file", Title: "File transfer", Tables: []table{t}})
}
