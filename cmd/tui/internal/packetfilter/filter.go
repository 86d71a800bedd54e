package packetfilter

import (
	"slices"
	"strings"

	"wirelab/experiment/engine/packetlog"
)

// Filter selects packets. The zero value selects all packets. Filters with equal texts are equal.
type Filter struct {
	text      string // as typed; "" for all packets
	match     predicate
	needsRows bool
}

// predicate reports whether a packet matches.
type predicate func(*Env, *packetlog.Record) bool

// String returns the filter as it was typed, "all" for all packets.
func (f Filter) String() string {
	if f.text == "" {
		return allName
	}
	return f.text
}

// SelectsAll reports whether the filter is that for all packets.
func (f Filter) SelectsAll() bool { return f.match == nil }

// NeedsRows reports whether the filter compares rows, for which it needs Env.Carries.
func (f Filter) NeedsRows() bool { return f.needsRows }

// Matches reports whether the filter selects a packet.
func (f Filter) Matches(e *Env, r *packetlog.Record) bool { return f.match == nil || f.match(e, r) }

// Names of conditions that are no outcomes.
const (
	allName     = "all"
	troubleName = "trouble" // InTrouble
	lateName    = "late"    // Record.Late is known
)

// Conditions returns the names of all conditions, which are filters by themselves: "all", "trouble", and the
// names of the outcomes, those in trouble first.
func Conditions() []string {
	list := []string{allName, troubleName, lateName}
	for _, o := range []packetlog.Outcome{packetlog.Lost, packetlog.Stale, packetlog.NoBaseline, packetlog.Corrupt, packetlog.UnknownCodec,
		packetlog.Wrong, packetlog.Unknown, packetlog.Duplicate, packetlog.Decoded, packetlog.InFlight} {
		list = append(list, outcomeName(o))
	}
	return list
}

// Trouble returns the filter for packets in trouble.
func Trouble() Filter {
	return Filter{text: troubleName, match: func(_ *Env, r *packetlog.Record) bool { return InTrouble(r) }}
}

// InTrouble reports whether a packet was lost, was stale or late, failed to decode, was decoded wrong, or has an unknown
// outcome.
func InTrouble(r *packetlog.Record) bool {
	switch r.Outcome {
	case packetlog.InFlight, packetlog.Decoded, packetlog.Duplicate:
		return r.Late > 0
	}
	return true
}

// condition returns the predicate of a condition, false if no condition has this name.
func condition(name string) (predicate, bool) {
	switch name {
	case allName:
		return func(*Env, *packetlog.Record) bool { return true }, true
	case troubleName:
		return Trouble().match, true
	case lateName:
		return func(_ *Env, r *packetlog.Record) bool { return r.Late > 0 }, true
	}
	i := slices.Index(outcomeNames(), name)
	return func(_ *Env, r *packetlog.Record) bool { return int(r.Outcome) == i }, i >= 0
}

// comparison returns the predicate "field op text", false if text is no value of the field, or if op is no
// operator for it: texts and rows are equal or not.
func comparison(field, op, text string) (predicate, bool) {
	isEqual := op == "=="
	onlyEquality := field == rowField || slices.Contains(texts, field)
	if onlyEquality && !isEqual && op != "!=" {
		return nil, false
	}
	if slices.Contains(texts, field) {
		text = strings.ToLower(text)
		possible := possibleTexts(field)
		return func(_ *Env, r *packetlog.Record) bool {
			got := textOf(field, r)
			return (got == text) == isEqual && (got != "" || field == "encoder")
		}, possible == nil || slices.Contains(possible, text)
	}
	limit, ok := parseValue(field, text)
	if field == rowField {
		return func(e *Env, r *packetlog.Record) bool {
			if e.Carries == nil {
				return false
			}
			carries, known := e.Carries(r.Seq, int(limit))
			return known && carries == isEqual
		}, ok && limit >= 0 && limit == float64(int(limit))
	}
	return func(e *Env, r *packetlog.Record) bool { return holds(Value(field, e, r), op, limit) }, ok
}

// holds reports whether "v op limit" is true; it is false if v is NaN.
func holds(v float64, op string, limit float64) bool {
	switch op {
	case "==":
		return v == limit
	case "!=":
		return v < limit || v > limit
	case "<":
		return v < limit
	case "<=":
		return v <= limit
	case ">":
		return v > limit
	}
	return v >= limit // the remaining operator is ">="
}
