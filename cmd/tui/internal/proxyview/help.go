package proxyview

import (
	"fmt"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/ui"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"
)

// Help implements ui.Screen: it describes what the screen shows.
func (m *model) Help() []ui.HelpRow {
	return []ui.HelpRow{{Name: look.Title.Span("What the screen shows")},
		{Name: look.Value.Span("up, down"), Text: "up is from clients to the server, down from the server to clients; delay is the time from reading a " +
			"datagram to sending it on"},
		{Name: look.Value.Span("as set"), Text: "values set and measured since the last change; NOT AS SET, in red: a measured value is outside its " +
			"confidence interval, or datagrams left late: p99 above 5 ms and above a tenth of the link's delay (p95), until below half of that"},
		{Name: look.Value.Span("Clients"), Text: "each address that sends has its own pair of links; lost is the percentage lost, up and down"},
		{Name: look.Value.Span("Datagrams"), Text: "the newest, numbered from 0 in each direction; the seed decides the outcome of each, and with a record " +
			"(--record) reproduces it"}}
}

// explanation returns the box with the outcome of a datagram, stage by stage. shared means that all clients have one link.
func explanation(d relay.TracedDatagram, shared bool) *room.TextBox {
	serverRole := "to the server" // of the server: the receiver or the sender
	if d.Way == relay.Down {
		serverRole = "from the server"
	}
	style := look.Good
	if d.Lost() {
		style = look.Lost
	}
	text := func(w int) [][]look.Span {
		lines := [][]look.Span{
			{look.Plain.Span(fmt.Sprintf("%d bytes of client %d (%s) %s, read at ", d.Size, d.Client.Number, d.Client.Addr, serverRole)),
				look.Value.Span(fmt.Sprintf("%.6f s", d.At.Seconds()))},
			{look.Dim.Span("outcome: "), style.Span(d.Describe())},
			nil,
		}
		const nameWidth = 13
		for _, stage := range d.Stages() {
			lines = append(lines, []look.Span{look.Key.Span(look.PadRight(stage[0], nameWidth)), look.Plain.Span(stage[1])})
		}
		if len(d.Stages()) == 0 && d.Verdict.Lost == lossmodel.None {
			lines = append(lines, []look.Span{look.Dim.Span("no stage of the link is on: the datagram passes unchanged")})
		}
		lines = append(lines, nil)
		for _, line := range look.Wrap(fmt.Sprintf("Random stream %q of the seed decided this: the same seed, sizes and times give the same outcome again.",
			streamName(&d, shared)), w) {
			lines = append(lines, []look.Span{look.Dim.Span(line)})
		}
		return lines
	}
	return &room.TextBox{Title: fmt.Sprintf("%s %d", d.Way, d.Seq), MaxWidth: 84, Text: text}
}

// streamName returns the name of the random stream that decides what the link of a datagram does.
func streamName(d *relay.TracedDatagram, shared bool) string {
	if shared {
		const allClients = 0 // the client's number in the name of a shared link
		return relay.LinkName(d.Way, allClients)
	}
	return relay.LinkName(d.Way, d.Client.Number)
}
