package room

import (
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine/packetlog"
)

// Filter says which packets are listed: 0 all of them, 1 those that were of no use
// or are stale, from 2 on those that ended in one way.
type Filter int

const (
	FilterAll Filter = iota
	filterFailed
	filterOutcome // and the outcome added to it
	NumFilters    = filterOutcome + Filter(packetlog.NumOutcomes)
)

// String is how the filter is typed.
func (f Filter) String() string {
	switch {
	case f == FilterAll:
		return "all"
	case f == filterFailed:
		return "trouble"
	}
	return strings.ToLower(strings.ReplaceAll(look.OutcomeWord(f.outcome()), " ", "-"))
}

func (f Filter) outcome() packetlog.Outcome { return packetlog.Outcome(f - filterOutcome) }

// Matches reports whether a packet is listed.
func (f Filter) Matches(r *packetlog.Record) bool {
	switch f {
	case FilterAll:
		return true
	case filterFailed:
		return IsFailure(r)
	}
	return r.Outcome == f.outcome()
}

// IsFailure reports whether a packet was of no use, or was stale.
func IsFailure(r *packetlog.Record) bool {
	switch r.Outcome {
	case packetlog.InFlight, packetlog.Decoded, packetlog.Duplicate:
		return false
	}
	return true
}

// FilterNames are the filters as they are typed.
func FilterNames() []string {
	names := make([]string, NumFilters)
	for i := range names {
		names[i] = Filter(i).String()
	}
	return names
}
