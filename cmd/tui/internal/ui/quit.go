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
	saving     bool          // whether the user has requested to save and quit
	minSaved   time.Duration // virtual time up to which the report must reach
	lastNotice int           // ID of the newest notice before saving
}

// start starts the wait for a report that reaches up to the time of snap.
func (q *pendingQuit) start(snap *engine.Snapshot) {
	*q = pendingQuit{saving: true, minSaved: snap.Now, lastNotice: snap.Notice.ID}
}

// done reports whether the report is written, according to the newest snapshot; false if none is
// awaited. The lab reports the end of saving by a notice. done cancels quitting if saving failed,
// which that notice explains, or if the user has gone back in time meanwhile.
func (q *pendingQuit) done(snap *engine.Snapshot) bool {
	reported := snap.Notice.ID != q.lastNotice && !snap.Saving
	if reported && snap.Notice.Bad || snap.Now < q.minSaved {
		q.saving = false
	}
	return q.saving && reported && snap.Saved >= q.minSaved
}

// quitBox is the overlay that asks whether to save the run before quitting.
type quitBox struct {
	length, unsaved time.Duration // length of the whole run, and of the part after the last report
	cursor          int           // index of the selected choice in quitChoices
}

// quitChoice is an answer to the question of quitBox.
type quitChoice struct {
	key, description string
	command          string // the command line to execute; "" for none
}

// quitChoices returns the answers in the order of the screen.
func quitChoices() []quitChoice {
	return []quitChoice{{"s", "save a report and quit", "quit save"}, {"d", "quit without saving", "quit now"}, {"esc", "continue", ""}}
}

// Key implements room.Overlay: it moves the cursor, or closes the box and executes a choice. Other
// keys do nothing.
func (b *quitBox) Key(msg tea.KeyMsg) room.Request {
	choices := quitChoices()
	switch step := room.ReadStep(msg); { // 0 if the key does not move the cursor
	case step != 0:
		b.cursor = min(max(b.cursor+step, 0), len(choices)-1)
		return room.Request{}
	case msg.Type == tea.KeyTab:
		b.cursor = (b.cursor + 1) % len(choices)
		return room.Request{}
	}
	for i, choice := range choices {
		if msg.String() == choice.key || msg.Type == tea.KeyEnter && i == b.cursor {
			return room.Request{Closes: true, Line: choice.command}
		}
	}
	return room.Request{}
}

// question describes the unsaved part of the run in a sentence.
func (b *quitBox) question() string {
	if b.unsaved == b.length {
		return fmt.Sprintf("This run of %s is not saved.", look.FormatTime(b.length.Truncate(time.Second)))
	}
	return fmt.Sprintf("The last %s of this run are not saved.", look.FormatTime(b.unsaved.Truncate(time.Second)))
}

// Size implements room.Overlay: it returns the size of the box, at most that of the screen.
func (b *quitBox) Size(maxWidth, maxHeight int) (width, height int, right bool) {
	const columns, otherRows = 54, 5 // rows of the frame and the question, and two empty rows
	const atRight = false            // the box is in the middle of the screen
	return min(maxWidth, columns), min(maxHeight, len(quitChoices())+otherRows), atRight
}

// Draw implements room.Overlay: it draws the question, and a row for each choice with its key.
func (b *quitBox) Draw(c *look.Canvas, th *look.Theme) {
	const focused = true
	c.Frame(th, focused, "Quit?")
	c.Clip(2, 1, c.W-4, look.Plain, b.question())
	for i, choice := range quitChoices() {
		y, style := 3+i, look.Plain
		if i == b.cursor {
			style = look.Chosen
			c.Text(2, y, style, th.Chosen)
		}
		c.Text(4, y, look.Key, choice.key)
		c.Clip(9, y, c.W-11, style, choice.description)
	}
}

// Small implements smallScreen: the question and its keys replace the request for a larger terminal.
func (b *quitBox) Small() (text string, alone bool) {
	return fmt.Sprintf("%s s saves and quits, d quits without saving, esc continues.", b.question()), true
}
