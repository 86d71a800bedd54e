package proxyview

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

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

// datagramBox shows the outcome of a datagram, stage by stage.
type datagramBox struct {
	datagram relay.TracedDatagram
	shared   bool // all clients have one link
}

// Size implements room.Overlay: the box is in the middle, with a row per stage of the link.
func (f *datagramBox) Size(w, h int) (boxW, boxH int, atRight bool) {
	return min(w, 84), min(h, len(f.datagram.Stages())+8), false
}

// Draw implements room.Overlay: the datagram, its outcome, and a row per stage of the link.
func (f *datagramBox) Draw(c *look.Canvas, th *look.Theme) {
	datagram := &f.datagram
	c.Frame(th, look.Focused, fmt.Sprintf("%s %d", datagram.Way, datagram.Seq))
	serverRole := "to the server" // of the server: the receiver or the sender
	if datagram.Way == relay.Down {
		serverRole = "from the server"
	}
	c.Spans(2, 1, c.W-4, look.Plain.Span(fmt.Sprintf("%d bytes of client %d (%s) %s, read at ", datagram.Size, datagram.Client.Number, datagram.Client.Addr, serverRole)),
		look.Value.Span(fmt.Sprintf("%.6f s", datagram.At.Seconds())))
	style := look.Good
	if datagram.Lost() {
		style = look.Lost
	}
	c.Spans(2, 2, c.W-4, look.Dim.Span("outcome: "), style.Span(datagram.Describe()))
	y := 4
	for _, stage := range datagram.Stages() {
		c.Clip(2, y, 12, look.Key, stage[0])
		c.Clip(15, y, c.W-17, look.Plain, stage[1])
		y++
	}
	if len(datagram.Stages()) == 0 && datagram.Verdict.Lost == lossmodel.None {
		c.Text(2, y, look.Dim, "no stage of the link is on: the datagram passes unchanged")
		y++
	}
	for i, line := range look.Wrap(fmt.Sprintf("Random stream %q of the seed decided this: the same seed, sizes and times give the same outcome again.", f.streamName()), c.W-4) {
		c.Text(2, y+1+i, look.Dim, line)
	}
}

// streamName returns the name of the random stream that decides what the datagram's link does.
func (f *datagramBox) streamName() string {
	if f.shared {
		const allClients = 0 // the client's number in the name of a shared link
		return relay.LinkName(f.datagram.Way, allClients)
	}
	return relay.LinkName(f.datagram.Way, f.datagram.Client.Number)
}

// Key implements room.Overlay: any key but those that scroll closes the box.
func (f *datagramBox) Key(msg tea.KeyMsg) room.Request {
	return room.Request{Closes: room.ListStep(msg) == 0}
}
