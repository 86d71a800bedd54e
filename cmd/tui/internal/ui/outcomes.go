package ui

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine/packetlog"
)

// Help implements Screen: it returns the symbols of packet outcomes.
func (m *dashboard) Help() []HelpRow {
	rows := []HelpRow{heading("Packets")}
	for _, x := range []struct {
		outcome packetlog.Outcome
		meaning string
	}{
		{packetlog.Decoded, "decoded, and the newest frame"},
		{packetlog.Lost, "dropped by the link"},
		{packetlog.NoBaseline, "the receiver lacks its baseline"},
		{packetlog.Corrupt, "damaged, or rejected by the decoder"},
		{packetlog.UnknownCodec, "the receiver lacks its codec"},
		{packetlog.Stale, "arrived after a newer frame"},
		{packetlog.Duplicate, "a second copy of a packet"},
		{packetlog.InFlight, "not yet arrived"},
		{packetlog.Wrong, "differs from the frame sent: a bug"},
	} {
		name := string(m.theme.Outcome[x.outcome]) + " " + look.OutcomeName(x.outcome)
		rows = append(rows, HelpRow{look.OutcomeStyle(x.outcome).Span(name), x.meaning})
	}
	dot := string(m.theme.Dot)
	return append(rows, HelpRow{look.Plain.Span("12 " + dot + " f"), "under the bits: row; no room for it; field, cut"})
}
