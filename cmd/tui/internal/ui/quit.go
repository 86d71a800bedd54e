package ui

import (
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
)

// askThreshold is the length of an unsaved run from which quitting asks for confirmation.
const askThreshold = time.Minute

// pendingQuit is the state of quitting after saving: the program ends when the report is written.
type pendingQuit struct {
	saving     bool
	minSaved   time.Duration // virtual time up to which the report must reach
	lastNotice int           // ID of the newest notice before saving
}

// start starts the wait for the report.
func (l *pendingQuit) start(snap *engine.Snapshot) { *l = pendingQuit{true, snap.Now, snap.Notice.ID} }

// done reports whether the report is written. It cancels quitting if saving failed, which a
// notice explains, or if the user has gone back in time meanwhile.
func (l *pendingQuit) done(snap *engine.Snapshot) bool {
	reported := snap.Notice.ID != l.lastNotice && !snap.Saving
	if reported && snap.Notice.Bad || snap.Now < l.minSaved {
		l.saving = false
	}
	return l.saving && reported && snap.Saved >= l.minSaved
}

// quitBox asks whether to save the run before quitting.
type quitBox struct {
	length, unsaved time.Duration
	cursor          int
}

// quitChoices returns the choices: key, description, and the command that it executes.
func quitChoices() [][3]string {
	return [][3]string{{"s", "save a report and quit", "quit save"}, {"d", "quit without saving", "quit now"}, {"esc", "continue", ""}}
}

// Key implements room.Overlay.
func (b *quitBox) Key(msg tea.KeyMsg) room.Request {
	all := quitChoices()
	switch n := room.ReadStep(msg); {
	case n != 0:
		b.cursor = min(max(b.cursor+n, 0), len(all)-1)
		return room.Request{}
	case msg.Type == tea.KeyTab:
		b.cursor = (b.cursor + 1) % len(all)
		return room.Request{}
	}
	for i, c := range all {
		if msg.String() == c[0] || msg.Type == tea.KeyEnter && i == b.cursor {
			return room.Request{Closes: true, Line: c[2]}
		}
	}
	return room.Request{}
}

// question describes the unsaved part of the run.
func (b *quitBox) question() string {
	if b.unsaved == b.length {
		return fmt.Sprintf("This run of %s is not saved.", look.Clock(b.length.Truncate(time.Second)))
	}
	return fmt.Sprintf("The last %s of this run are not saved.", look.Clock(b.unsaved.Truncate(time.Second)))
}

// Size implements room.Overlay.
func (b *quitBox) Size(w, h int) (ow, oh int, right bool) {
	return min(w, 54), min(h, len(quitChoices())+5), false
}

// Draw implements room.Overlay.
func (b *quitBox) Draw(c *look.Canvas, th *look.Theme) {
	c.Frame(th, true, "Quit?")
	c.Clip(2, 1, c.W-4, look.Plain, b.question())
	for i, x := range quitChoices() {
		k := look.Plain
		if i == b.cursor {
			k = look.Chosen
			c.Text(2, 3+i, k, th.Chosen)
		}
		c.Text(4, 3+i, look.Key, x[0])
		c.Clip(9, 3+i, c.W-11, k, x[1])
	}
}

// Small implements small.
func (b *quitBox) Small() (text string, alone bool) {
	return b.question() + " s saves and quits, d quits without saving, esc continues.", true
}
