package packetfilter

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/units"
	"wirelab/lossmodel"
)

// Env is what filters need in addition to the record of a packet.
type Env struct {
	RateHz int // packets per second, which converts the distance of a baseline to its age; 0 if unknown
	// Carries reports whether packet seq carries a row, if that is known; otherwise the packet matches no
	// comparison of rows. It is nil if that is known of no packet.
	Carries func(seq uint64, row int) (carries, known bool)
}

// field is a property of packets that filters compare and lists are sorted by.
type field struct {
	Name string
	// Value returns the value of a packet: a number, a time in milliseconds, or for a text its place in
	// texts. It returns false if the packet has none. It is nil for the fields row and encoder.
	Value  func(*Env, *packetlog.Record) (v float64, ok bool)
	isTime bool
	texts  []string // the possible values of a text; nil if the field is no text with a fixed set of values
}

func fields() []field {
	number := func(value func(*packetlog.Record) float64) func(*Env, *packetlog.Record) (float64, bool) {
		return func(_ *Env, r *packetlog.Record) (float64, bool) { return value(r), true }
	}
	wallTime := func(ns func(*packetlog.Record) int64) func(*Env, *packetlog.Record) (float64, bool) {
		return func(_ *Env, r *packetlog.Record) (float64, bool) { return float64(ns(r)) / 1e6, ns(r) > 0 }
	}
	return []field{
		{Name: "packet", Value: number(func(r *packetlog.Record) float64 { return float64(r.Seq) })},
		{Name: "bytes", Value: number(func(r *packetlog.Record) float64 { return float64(r.Payload) })},
		{Name: "wire", Value: number(func(r *packetlog.Record) float64 { return float64(r.Wire) })},
		// Rows that differ from the baseline.
		{Name: "changed", Value: number(func(r *packetlog.Record) float64 { return float64(r.Changed) })},
		// Its distance in packets, 0 for the initial state.
		{Name: "baseline", Value: number(func(r *packetlog.Record) float64 { return float64(r.Baseline) })},
		{Name: "age", isTime: true, Value: func(e *Env, r *packetlog.Record) (float64, bool) {
			return float64(r.Baseline) * 1000 / float64(max(e.RateHz, 1)), r.Baseline > 0 && e.RateHz > 0
		}},
		{Name: "sent", isTime: true, Value: number(func(r *packetlog.Record) float64 { return units.Milliseconds(r.Sent) })},
		// From sending to arrival.
		{Name: "took", isTime: true, Value: func(_ *Env, r *packetlog.Record) (float64, bool) {
			arrived := r.Outcome != packetlog.Lost && r.Outcome != packetlog.Unknown && r.Outcome != packetlog.InFlight
			return units.Milliseconds(r.Arrived - r.Sent), arrived
		}},
		{Name: "encode", isTime: true, Value: wallTime(func(r *packetlog.Record) int64 { return r.EncodeNS })},
		{Name: "decode", isTime: true, Value: wallTime(func(r *packetlog.Record) int64 { return r.DecodeNS })},
		// Number of changes of the encoder before it.
		{Name: "epoch", Value: number(func(r *packetlog.Record) float64 { return float64(r.Epoch) })},
		// 0 for the packet itself, from 1 for duplicates.
		{Name: "copy", Value: number(func(r *packetlog.Record) float64 { return float64(r.Copy) })},
		{Name: "outcome", texts: outcomeNames(),
			Value: number(func(r *packetlog.Record) float64 { return float64(r.Outcome) })},
		// The stage that dropped it.
		{Name: "cause", texts: causeNames(), Value: func(_ *Env, r *packetlog.Record) (float64, bool) {
			return float64(r.Cause), r.Outcome == packetlog.Lost
		}},
		// 1 if redundancy delivered it, otherwise 0.
		{Name: "repaired", Value: number(func(r *packetlog.Record) float64 {
			return float64(min(r.Repair, 1))
		})},
		{Name: "encoder"},
		// A row that the packet carries; known for 2 s.
		{Name: "row"},
	}
}

func FieldNames() (names []string) {
	for _, f := range fields() {
		names = append(names, f.Name)
	}
	return names
}

// SortNames returns the names of the fields by which packets can be sorted.
func SortNames() (names []string) {
	for _, f := range fields() {
		if f.Value != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// FindField returns the field with a name, false if no field has it.
func FindField(name string) (field, bool) {
	list := fields()
	i := slices.IndexFunc(list, func(f field) bool { return f.Name == name })
	if i < 0 {
		return field{}, false
	}
	return list[i], true
}

// outcomeNames returns the names of the outcomes as users type them, by outcome.
func outcomeNames() []string {
	names := make([]string, packetlog.NumOutcomes)
	for o := range names {
		names[o] = strings.ToLower(strings.ReplaceAll(look.OutcomeName(packetlog.Outcome(o)), " ", "-"))
	}
	return names
}

// causeNames returns the names of the causes of loss, by cause.
func causeNames() []string {
	names := make([]string, lossmodel.NumCauses)
	for c := range names {
		names[c] = lossmodel.Cause(c).String()
	}
	return names
}

// parseValue parses what a comparison of the field compares with; false if text is no such value. A time
// without a unit is in milliseconds, and a time of day such as 00:42.3 is minutes and seconds.
func (f *field) parseValue(text string) (v float64, ok bool) {
	switch {
	case f.texts != nil:
		i := slices.Index(f.texts, strings.ToLower(text))
		return float64(i), i >= 0
	case f.isTime:
		if minutes, seconds, found := strings.Cut(text, ":"); found {
			m, errM := strconv.ParseUint(minutes, 10, 32)
			s, errS := strconv.ParseFloat(seconds, 64)
			return float64(m)*60_000 + s*1000, errM == nil && errS == nil && s >= 0 && s < 60
		}
		d, valid := units.ParseDuration(units.AppendUnit(text, "ms"))
		return float64(d) / float64(time.Millisecond), valid
	}
	v, ok = units.ParseDecimal(text, 0)
	return v, ok && !math.IsInf(v, 0)
}
