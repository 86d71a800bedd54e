package ui

import (
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
)

// muchToLose is how much of a run nobody throws away by a slip of the finger.
const muchToLose = time.Minute

// leaving is a report that has to be written before the program ends.
type leaving struct {
	saving bool
	upto   time.Duration // what is to be in the report at least
	notice int           // the newest before
}

// begin starts the wait for the report.
func (l *leaving) begin(snap *engine.Snapshot) { *l = leaving{true, snap.Now, snap.Notice.ID} }

// done reports whether the report is written. If it could not be, nobody leaves: the
// notice says why. Nor does anybody who has gone back to before meanwhile.
func (l *leaving) done(snap *engine.Snapshot) bool {
	said := snap.Notice.ID != l.notice && !snap.Saving
	if said && snap.Notice.Bad || snap.Now < l.upto {
		l.saving = false
	}
	return l.saving && said && snap.Saved >= l.upto
}

// leaveBox asks whoever leaves what is to become of the run.
type leaveBox struct {
	length, unsaved time.Duration
	at              int
}

// leaveChoices are what there is to choose: a key, what it does, and the command for it.
func leaveChoices() [][3]string {
	return [][3]string{{"s", "save a report, and leave", "quit save"}, {"d", "discard it, and leave", "quit now"}, {"esc", "stay", ""}}
}

func (b *leaveBox) Key(msg tea.KeyMsg) room.Request {
	all := leaveChoices()
	switch n := room.ReadStep(msg); {
	case n != 0:
		b.at = min(max(b.at+n, 0), len(all)-1)
		return room.Request{}
	case msg.Type == tea.KeyTab:
		b.at = (b.at + 1) % len(all)
		return room.Request{}
	}
	for i, c := range all {
		if msg.String() == c[0] || msg.Type == tea.KeyEnter && i == b.at {
			return room.Request{Closes: true, Line: c[2]}
		}
	}
	return room.Request{}
}

// question describes what would be lost.
func (b *leaveBox) question() string {
	if b.unsaved == b.length {
		return fmt.Sprintf("This run of %s is in no report.", look.Clock(b.length.Truncate(time.Second)))
	}
	return fmt.Sprintf("The last %s of this run are in no report.", look.Clock(b.unsaved.Truncate(time.Second)))
}

func (b *leaveBox) Size(w, h int) (ow, oh int, right bool) {
	return min(w, 54), min(h, len(leaveChoices())+5), false
}

func (b *leaveBox) Draw(c *look.Canvas, th *look.Theme) {
	c.Frame(th, true, "Leave?")
	c.Clip(2, 1, c.W-4, look.Plain, b.question())
	for i, x := range leaveChoices() {
		k := look.Plain
		if i == b.at {
			k = look.Chosen
			c.Text(2, 3+i, k, th.Chosen)
		}
		c.Text(4, 3+i, look.Key, x[0])
		c.Clip(9, 3+i, c.W-11, k, x[1])
	}
}

func (b *leaveBox) Small() (text string, alone bool) {
	return b.question() + " s saves it and leaves, d leaves, esc stays.", true
}
