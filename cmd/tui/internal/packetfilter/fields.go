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

// The fields that filters compare. Lists are sorted by those in numbers and times, and by "outcome" and "cause".
var (
	numbers = []string{"packet", "bytes", "wire", "changed", "baseline", "epoch", "copy", "repaired"}
	times   = []string{"age", "sent", "took", "encode", "decode"}
	texts   = []string{"outcome", "cause", "encoder"}
)

// rowField is the field of the rows that a packet carries.
const rowField = "row"

func FieldNames() []string { return slices.Concat(numbers, times, texts, []string{rowField}) }

// SortNames returns the names of the fields by which packets can be sorted.
func SortNames() []string { return slices.Concat(numbers, times, texts[:2]) }

// Value returns the value of a field of a packet, times in milliseconds. It is NaN if the packet has none.
func Value(field string, e *Env, r *packetlog.Record) float64 {
	isArrived := r.Outcome != packetlog.Lost && r.Outcome != packetlog.Unknown && r.Outcome != packetlog.InFlight
	switch field {
	case "packet":
		return float64(r.Seq)
	case "bytes":
		return float64(r.Payload)
	case "wire":
		return float64(r.Wire)
	case "changed": // rows that differ from the baseline
		return float64(r.Changed)
	case "baseline": // its distance in packets, 0 for the initial state
		return float64(r.Baseline)
	case "epoch": // number of changes of the encoder before it
		return float64(r.Epoch)
	case "copy": // 0 for the packet itself, from 1 for duplicates
		return float64(r.Copy)
	case "repaired": // 1 if redundancy delivered it, otherwise 0
		return float64(min(r.Repair, 1))
	case "age":
		return valueIf(r.Baseline > 0 && e.RateHz > 0, float64(r.Baseline)*1000/float64(e.RateHz))
	case "sent":
		return units.Milliseconds(r.Sent)
	case "took": // from sending to arrival
		return valueIf(isArrived, units.Milliseconds(r.Arrived-r.Sent))
	case "encode":
		return valueIf(r.EncodeNS > 0, float64(r.EncodeNS)/1e6)
	case "decode":
		return valueIf(r.DecodeNS > 0, float64(r.DecodeNS)/1e6)
	case "outcome":
		return float64(r.Outcome)
	case "cause": // the stage that dropped it
		return valueIf(r.Outcome == packetlog.Lost, float64(r.Cause))
	}
	return math.NaN()
}

// valueIf returns v, or NaN unless known is set.
func valueIf(known bool, v float64) float64 {
	if !known {
		return math.NaN()
	}
	return v
}

// textOf returns the text of a field of a packet in lower case, "" if the packet has none.
func textOf(field string, r *packetlog.Record) string {
	switch {
	case field == "outcome":
		return outcomeName(r.Outcome)
	case field == "cause" && r.Outcome == packetlog.Lost:
		return r.Cause.String()
	case field == "encoder":
		return strings.ToLower(r.Encoder)
	}
	return ""
}

// possibleTexts returns the texts that a field may have; nil if they are not known.
func possibleTexts(field string) (list []string) {
	switch field {
	case "outcome":
		return outcomeNames()
	case "cause":
		for c := range lossmodel.Cause(lossmodel.NumCauses) {
			list = append(list, c.String())
		}
	}
	return list
}

// outcomeName returns the name of an outcome as users type it.
func outcomeName(o packetlog.Outcome) string {
	return strings.ToLower(strings.ReplaceAll(look.OutcomeName(o), " ", "-"))
}

func outcomeNames() (names []string) {
	for o := range packetlog.NumOutcomes {
		names = append(names, outcomeName(o))
	}
	return names
}

// parseValue parses what a comparison of a number or a time compares with; false if text is no such value. A time
// without a unit is in milliseconds, and a time of day such as 00:42.3 is minutes and seconds.
func parseValue(field, text string) (v float64, ok bool) {
	if !slices.Contains(times, field) {
		v, ok = units.ParseDecimal(text, 0)
		return v, ok && !math.IsInf(v, 0)
	}
	if minutes, seconds, found := strings.Cut(text, ":"); found {
		m, errM := strconv.ParseUint(minutes, 10, 32)
		s, errS := strconv.ParseFloat(seconds, 64)
		return float64(m)*60_000 + s*1000, errM == nil && errS == nil && s >= 0 && s < 60
	}
	d, valid := units.ParseDuration(units.AppendUnit(text, "ms"))
	return float64(d) / float64(time.Millisecond), valid
}
