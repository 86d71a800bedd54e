package ui

import (
	"fmt"
	"strings"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// filter says which packets are listed: 0 all of them, 1 those that were of no use
// or are late, from 2 on those that ended in one way.
type filter int

const (
	filterAll filter = iota
	filterTrouble
	filterOutcome // and the outcome added to it
	numFilters    = filterOutcome + filter(engine.NumOutcomes)
)

// String is how the filter is typed.
func (f filter) String() string {
	switch {
	case f == filterAll:
		return "all"
	case f == filterTrouble:
		return "trouble"
	}
	return strings.ToLower(strings.ReplaceAll(outcomeWord(f.outcome()), " ", "-"))
}

func (f filter) outcome() engine.Outcome { return engine.Outcome(f - filterOutcome) }

// takes reports whether a packet is listed.
func (f filter) takes(r *engine.PacketRecord) bool {
	switch f {
	case filterAll:
		return true
	case filterTrouble:
		return troubled(r)
	}
	return r.Outcome == f.outcome()
}

// troubled reports whether a packet was of no use, or came late.
func troubled(r *engine.PacketRecord) bool {
	switch r.Outcome {
	case engine.InFlight, engine.Decoded, engine.Duplicate:
		return false
	}
	return true
}

func filterNames() []string {
	names := make([]string, numFilters)
	for i := range names {
		names[i] = filter(i).String()
	}
	return names
}

// parseFilter reads "filter lost".
func parseFilter(args []string) (order, error) {
	name := strings.ToLower(strings.Join(args, "-"))
	for i, n := range filterNames() {
		if n == name {
			f := filter(i)
			return order{filter: &f}, nil
		}
	}
	if name == "" {
		return order{}, errUsage
	}
	if near := config.Near(name, filterNames()); near != "" {
		return order{}, fmt.Errorf("packets cannot be filtered by %q; did you mean %s?", name, near)
	}
	return order{}, fmt.Errorf("packets cannot be filtered by %q; expected one of %s", name, strings.Join(filterNames(), ", "))
}

func completeFilter(_ desk, before []string) []string { return firstOnly(before, filterNames()) }
