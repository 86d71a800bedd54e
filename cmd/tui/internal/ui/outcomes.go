package ui

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine/packetlog"
)

// Help implements Screen: it returns the symbols of packet outcomes.
func (m *dashboard) Help() []HelpRow {
	rows := []HelpRow{heading("Packets")}
	for _, o := range []packetlog.Outcome{packetlog.Decoded, packetlog.Lost, packetlog.NoBaseline, packetlog.Corrupt,
		packetlog.UnknownCodec, packetlog.Stale, packetlog.Duplicate, packetlog.InFlight, packetlog.Wrong} {
		name := string(m.theme.Outcome[o]) + " " + look.OutcomeName(o)
		rows = append(rows, HelpRow{look.OutcomeStyle(o).Span(name), describeOutcome(o)})
	}
	return rows
}

// describeOutcome describes an outcome in one line.
func describeOutcome(o packetlog.Outcome) string {
	return [packetlog.NumOutcomes]string{
		packetlog.InFlight:     "not yet arrived",
		packetlog.Decoded:      "decoded, and the newest frame",
		packetlog.Stale:        "arrived after a newer frame",
		packetlog.Duplicate:    "a second copy of a packet",
		packetlog.Lost:         "dropped by the link",
		packetlog.NoBaseline:   "the receiver lacks its baseline",
		packetlog.Corrupt:      "damaged, or rejected by the decoder",
		packetlog.UnknownCodec: "the receiver lacks its codec",
		packetlog.Wrong:        "differs from the frame sent: a bug",
		packetlog.Unknown:      "not reported by the network",
	}[o]
}
