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

func (m *model) HelpParts() []ui.HelpPart {
	part := ui.HelpPart{Title: "What is to be seen", Ink: look.Plain}
	for _, x := range [][2]string{
		{"up, down", "up is what clients send to the server, down what it answers. Delay is from being read to being sent on."},
		{"as asked", "Whether the links do what was asked of them: the share lost, the delay and the rate since the last change, by more than chance allows, " +
			"and whether datagrams left when the link said: 1 ms late (p99) is too late. NOT AS ASKED, in red, says in what they did not."},
		{"Clients", "Each address that sends, with the links of its own. Lost is what was lost up and down. On one of them enter has " +
			"the controls set its links alone."},
		{"Datagrams", "The newest ones. They are numbered for each direction from 0. The seed decides what becomes of each; a record and the seed tell it again."},
	} {
		part.Entries = append(part.Entries, ui.HelpEntry{Head: []look.Span{look.Value.Span("  " + look.PadRight(x[0], 14))}, Text: x[1]})
	}
	return []ui.HelpPart{part}
}

// fateBox tells what became of a datagram, stage by stage.
type fateBox struct {
	x      relay.Fated
	shared bool // all clients have one link
}

func (f *fateBox) Size(w, h int) (ow, oh int, right bool) {
	return min(w, 84), min(h, len(f.x.Stages())+8), false
}

func (f *fateBox) Draw(c *look.Canvas, th *look.Theme) {
	x := &f.x
	c.Frame(th, true, fmt.Sprintf("%s %d", x.Way, x.Seq), look.Dim.Span("any key closes it"))
	to := "to the server"
	if x.Way == relay.Down {
		to = "from the server"
	}
	c.Spans(2, 1, c.W-4, look.Plain.Span(fmt.Sprintf("%d bytes of client %d (%s) %s, read at ", x.Size, x.Client.Turn, x.Client.Addr, to)),
		look.Value.Span(fmt.Sprintf("%.6f s", x.At.Seconds())))
	ink := look.Good
	if x.Lost() {
		ink = look.Lost
	}
	c.Spans(2, 2, c.W-4, look.Dim.Span("became: "), ink.Span(x.Fate()))
	y := 4
	for _, s := range x.Stages() {
		c.Clip(2, y, 12, look.Key, s[0])
		c.Clip(15, y, c.W-17, look.Plain, s[1])
		y++
	}
	if len(x.Stages()) == 0 && x.Verdict.Lost == lossmodel.None {
		c.Text(2, y, look.Dim, "no stage of the link is on: it goes through as it is")
		y++
	}
	for i, line := range look.Wrap(fmt.Sprintf("Stream %q of the seed drew this: the same seed, sizes and times give the same fate again.", f.stream()), c.W-4) {
		c.Text(2, y+1+i, look.Dim, line)
	}
}

// stream names the random stream of the link.
func (f *fateBox) stream() string {
	if f.shared {
		return relay.LinkName(f.x.Way, 0)
	}
	return relay.LinkName(f.x.Way, f.x.Client.Turn)
}

func (f *fateBox) Key(tea.KeyMsg) room.Request { return room.Request{Closes: true} }
