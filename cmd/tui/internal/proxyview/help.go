package proxyview

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/ui"
)

// Help implements ui.Screen: it describes what the screen shows.
func (m *model) Help() []ui.HelpRow {
	return []ui.HelpRow{{Name: look.Title.Span("What the screen shows")},
		{Name: look.Value.Span("up, down"), Text: "up is from clients to the server, down from the server to clients; delay is the time from reading a " +
			"datagram to sending it on"},
		{Name: look.Value.Span("as set"), Text: "values set and measured since the last change, compared once a second (Now also counts copies); NOT AS SET, in red: " +
			"a measured value is outside the range to expect for what is set, or datagrams left late: p99 above 5 ms and above a tenth of the link's delay (p95); it ends when p99 is below half of that"},
		{Name: look.Value.Span("Clients"), Text: "each address that sends has its own pair of links; lost is the percentage lost, up and down"},
		{Name: look.Value.Span("Datagrams"), Text: "the newest that were sent on or lost, numbered from 0 in each direction; the seed decides the outcome of each, and with a record " +
			"(--record) reproduces it"}}
}
