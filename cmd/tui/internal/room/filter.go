package room

import (
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine/packetlog"
)

// Filter selects packets: FilterAll, filterFailed for packets that failed or are stale, or filterOutcome
// plus an outcome.
type Filter int

const (
	FilterAll Filter = iota
	filterFailed
	filterOutcome // plus a packetlog.Outcome
	NumFilters    = filterOutcome + Filter(packetlog.NumOutcomes)
)

// String returns the filter as users type it.
func (f Filter) String() string {
	switch {
	case f == FilterAll:
		return "all"
	case f == filterFailed:
		return "trouble" // the fixed name in commands
	}
	return strings.ToLower(strings.ReplaceAll(look.OutcomeName(f.outcome()), " ", "-"))
}

// outcome returns the outcome of a filter from filterOutcome on.
func (f Filter) outcome() packetlog.Outcome { return packetlog.Outcome(f - filterOutcome) }

// Matches reports whether the filter selects a packet.
func (f Filter) Matches(r *packetlog.Record) bool {
	switch f {
	case FilterAll:
		return true
	case filterFailed:
		return IsFailure(r)
	}
	return r.Outcome == f.outcome()
}

// IsFailure reports whether a packet was lost, was stale, failed to decode, or has an unknown outcome.
func IsFailure(r *packetlog.Record) bool {
	switch r.Outcome {
	case packetlog.InFlight, packetlog.Decoded, packetlog.Duplicate:
		return false
	}
	return true
}

// FilterNames returns all filters as users type them.
func FilterNames() []string {
	names := make([]string, NumFilters)
	for i := range names {
		names[i] = Filter(i).String()
	}
	return names
}
