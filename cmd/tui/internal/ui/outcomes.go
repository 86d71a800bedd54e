package ui

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine/packetlog"
)

// HelpParts implements Screen: it returns the symbols of packet outcomes.
func (m *dashboard) HelpParts() []HelpPart {
	part := HelpPart{Title: "Packet symbols", Style: look.Dim}
	for _, o := range []packetlog.Outcome{packetlog.Decoded, packetlog.Lost, packetlog.NoBaseline, packetlog.Corrupt, packetlog.Tainted,
		packetlog.UnknownCodec, packetlog.Stale, packetlog.Duplicate, packetlog.InFlight, packetlog.Wrong} {
		part.Entries = append(part.Entries, HelpEntry{[]look.Span{look.OutcomeStyle(o).Span("  " + look.PadRight(string(m.theme.Outcome[o]), 4)),
			look.Plain.Span(look.PadRight(look.OutcomeName(o), 14))}, describeOutcome(o)})
	}
	return []HelpPart{part}
}

// describeOutcome describes an outcome in one line.
func describeOutcome(o packetlog.Outcome) string {
	return [packetlog.NumOutcomes]string{
		"not yet arrived", "decoded, and the newest frame", "arrived after a newer frame",
		"a second copy of a packet", "dropped by the link", "its baseline is missing at the receiver",
		"damaged, and detected", "its codec is unknown to the receiver",
		"damaged but decoded: no checksum", "decoded, but differs from the sent frame: a bug",
		"not reported by the network",
	}[o]
}
