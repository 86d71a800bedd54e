package proxyview

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"
)

// box is text over the screen that can be scrolled.
type box struct {
	title string
	lines [][]look.Span
	first int
	room  int
}

// Size implements room.Overlay.
func (b *box) Size(w, h int) (ow, oh int, right bool) {
	return min(w, 96), min(h, len(b.lines)+2), false
}

// Draw implements room.Overlay.
func (b *box) Draw(c *look.Canvas, th *look.Theme) {
	b.room = c.H - 2
	b.first = max(0, min(b.first, len(b.lines)-b.room))
	hint := "any key closes it"
	if len(b.lines) > b.room {
		hint = fmt.Sprintf("%d of %d lines; arrows scroll, any other key closes it", min(b.first+b.room, len(b.lines)), len(b.lines))
	}
	c.Frame(th, true, b.title, look.Dim.Span(hint))
	for y := range b.room {
		if i := b.first + y; i < len(b.lines) {
			c.Spans(2, 1+y, c.W-4, b.lines[i]...)
		}
	}
}

// Key implements room.Overlay.
func (b *box) Key(msg tea.KeyMsg) room.Request {
	n := room.ReadStep(msg)
	b.first = max(0, min(b.first+n, len(b.lines)-b.room))
	return room.Request{Closes: n == 0}
}

// entry adds a name and what it is for, on as many lines as that needs.
func (b *box) entry(w int, ink look.Ink, name, text string) {
	const at = 20
	head := []look.Span{ink.Span(look.PadRight("  "+name+" ", at))}
	if look.TextWidth(head[0].Text) > at {
		b.lines = append(b.lines, head)
		head = []look.Span{look.Plain.Span(strings.Repeat(" ", at))}
	}
	for _, line := range look.Wrap(text, max(w-at-4, 10)) {
		b.lines = append(b.lines, append(head, look.Plain.Span(line)))
		head = []look.Span{look.Plain.Span(strings.Repeat(" ", at))}
	}
}

func (b *box) heading(text string) {
	if len(b.lines) > 0 {
		b.lines = append(b.lines, nil)
	}
	b.lines = append(b.lines, []look.Span{look.Title.Span(text)})
}

// help lists what is to be seen, the keys and the commands.
func (m *Model) help() room.Overlay {
	b := &box{title: "Help"}
	w := min(m.w-room.OverlayMargin, 96)
	group := ""
	for _, k := range m.keys {
		if k.Help().Key == "" {
			continue
		}
		if k.Group != group {
			group = k.Group
			b.heading(group)
		}
		b.entry(w, look.Key, k.Help().Key, k.Help().Desc)
	}
	b.heading("What is to be seen")
	for _, x := range [][2]string{
		{"up, down", "up is what clients send to the server, down what it answers. Delay is from being read to being sent on."},
		{"as asked", "Whether the links do what was asked of them: the share lost, the delay and the rate since the last change, by more than chance allows, " +
			"and whether datagrams left when the link said: 1 ms late (p99) is too late. NOT AS ASKED, in red, says in what they did not."},
		{"Clients", "Each address that sends, with the links of its own. Lost is what was lost up and down. On one of them enter has " +
			"the controls set its links alone."},
		{"Datagrams", "The newest ones. They are numbered for each direction from 0. The seed decides what becomes of each; a record and the seed tell it again."},
	} {
		b.entry(w, look.Value, x[0], x[1])
	}
	b.heading("Commands, after /")
	for _, v := range command.Verbs(m.context()) {
		b.entry(w, look.Key, strings.TrimSpace(v.Name+" "+v.Args), v.Help)
	}
	return b
}

// fateBox tells what became of a datagram, stage by stage.
type fateBox struct {
	x      relay.Fated
	shared bool // all clients have one link
}

// Size implements room.Overlay.
func (f *fateBox) Size(w, h int) (ow, oh int, right bool) {
	return min(w, 84), min(h, len(f.x.Stages())+8), false
}

// Draw implements room.Overlay.
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

// Key implements room.Overlay.
func (f *fateBox) Key(tea.KeyMsg) room.Request { return room.Request{Closes: true} }
