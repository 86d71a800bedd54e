package ui

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine/packetlog"
)

// HelpParts implements Screen: the signs of packets.
func (m *dashboard) HelpParts() []HelpPart {
	part := HelpPart{Title: "Signs of packets", Ink: look.Dim}
	for _, o := range []packetlog.Outcome{packetlog.Decoded, packetlog.Lost, packetlog.NoBaseline, packetlog.Corrupt, packetlog.Tainted,
		packetlog.UnknownCodec, packetlog.Stale, packetlog.Duplicate, packetlog.InFlight, packetlog.Wrong} {
		part.Entries = append(part.Entries, HelpEntry{[]look.Span{look.OutcomeInk(o).Span("  " + look.PadRight(string(m.theme.Outcome[o]), 4)),
			look.Plain.Span(look.PadRight(look.OutcomeWord(o), 14))}, outcomeMeaning(o)})
	}
	return []HelpPart{part}
}

// outcomeMeaning says what became of a packet in a line.
func outcomeMeaning(o packetlog.Outcome) string {
	return [packetlog.NumOutcomes]string{
		"still on its way", "decoded, and newer than all before", "decoded, but something newer is shown",
		"a copy of one decoded before", "dropped by the link", "needs a frame the receiver does not hold",
		"damaged, and found out", "of a codec unknown to the receiver",
		"damaged, yet decoded: no checksum", "decoded, but not what was sent: a bug",
		"a real network never told",
	}[o]
}
