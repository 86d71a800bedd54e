package panes

import (
	"math"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
)

// LaneFigures contains the figures of a lane by their keys in the table of figures, which has their titles, units and
// decimals: those of the last two seconds, and those of the whole run. All pages show these values.
type LaneFigures struct {
	lane   *engine.Lane
	recent map[string]float64
	run    map[string]float64 // nil until a figure of the run is needed, because all figures are computed for one
	item   string             // name of an item, such as "cube"
}

// FiguresOf returns the figures of a lane. item is the name of an item of the data; "" means unknown.
func FiguresOf(l *engine.Lane, item string) *LaneFigures {
	recent := meansOf(&l.Recent, meters.Tail(l.Samples, room.RecentSpan))
	recent[EncodeTime], recent[DecodeTime] = l.Recent.EncodeUS, l.Recent.DecodeUS
	return &LaneFigures{lane: l, item: item, recent: recent}
}

// meansOf returns the figures of a period of which r are the means.
func meansOf(r *meters.Recent, samples []meters.Sample) map[string]float64 {
	return map[string]float64{
		"payload_kbps":          r.PayloadKbps,
		"wire_kbps":             r.WireKbps,
		"feedback_kbps":         r.FeedbackKbps,
		"bits_per_item":         r.BitsPerItem,
		"bits_per_changed_cube": perChangedOf(r),
		"network.loss_rate":     lossOf(samples),
		"playout.starved_ratio": r.StarvedRatio,
		MeanPacket:              r.BitsPerPacket / 8,
		MeanBaselineAge:         r.BaselineAgeTicks,
	}
}

// perChangedOf returns bits per changed item, NaN if none changed.
func perChangedOf(r *meters.Recent) float64 {
	if r.ChangedPerFrame == 0 {
		return math.NaN()
	}
	return r.BitsPerChanged
}

// Keys of figures that are not in the table of figures.
const (
	MeanPacket      = "packet size, mean"
	MeanBaselineAge = "baseline age, mean"
	EncodeTime      = "encoding, median"
	DecodeTime      = "decoding, median"
)

// lossOf returns the share of packets lost in samples. Packets of unknown outcome, sent over a network that did not
// report them, count as lost.
func lossOf(samples []meters.Sample) float64 {
	s := meters.Sum(samples)
	return float64(s.Lost+s.Unknown) / float64(s.Sent)
}

// row returns title, unit and decimals of a figure.
func (f *LaneFigures) row(key string) figures.Row {
	r := figures.Find(key)
	switch key {
	case MeanPacket:
		r.Unit = "bytes"
	case MeanBaselineAge:
		r.Unit = "ticks"
		r.Decimals = 1
	case EncodeTime, DecodeTime:
		r.Unit = "µs" + f.lane.Timing.Mark()
	case "bits_per_item":
		if f.item != "" {
			r.Title = strings.Replace(r.Title, "item", f.item, 1)
		}
	case "bits_per_changed_cube":
		if f.item != "" {
			r.Title = strings.Replace(r.Title, "cube", f.item, 1)
		}
	}
	return r
}

// Title returns the title of a figure.
func (f *LaneFigures) Title(key string) string { return f.row(key).Title }

// Label returns the title and the unit of a figure.
func (f *LaneFigures) Label(key string) string {
	r := f.row(key)
	return r.Label()
}

// Recent returns the text of a figure in the last two seconds: "" if it exists only for the run, and "-" if it is unknown.
func (f *LaneFigures) Recent(key string) string { return f.text(f.recent, key) }

// Run returns the text of a figure in the whole run: "" if it exists only for the last two seconds, and "-" if it is
// unknown.
func (f *LaneFigures) Run(key string) string {
	if f.run == nil {
		f.run = figures.Flatten(&f.lane.Totals)
		f.run[EncodeTime] = f.lane.Timing.EncodeUS.P50
		f.run[DecodeTime] = f.lane.Timing.DecodeUS.P50
	}
	return f.text(f.run, key)
}

func (f *LaneFigures) text(values map[string]float64, key string) string {
	v, known := values[key]
	switch {
	case !known:
		return ""
	case math.IsNaN(v):
		return "-"
	case key == EncodeTime || key == DecodeTime:
		return look.FormatMicroseconds(v)
	case strings.HasPrefix(key, "bits_per_"):
		return FormatBitsPerItem(v)
	}
	r := f.row(key)
	return r.Text(v)
}

// Spans returns title, value and unit of a figure in the last two seconds. The value keeps its width.
func (f *LaneFigures) Spans(key string, style look.Style) []look.Span {
	r := f.row(key)
	return []look.Span{style.Span("  " + r.Title + " "), look.Value.Span(look.PadLeft(f.Recent(key), figureWidth)), look.Dim.Span(" " + r.Unit)}
}
