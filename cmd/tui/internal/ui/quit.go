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

// pendingSave is a report that is being written before something else is done.
type pendingSave struct {
	then       func() tea.Cmd // what is done when the report is written; nil if none is awaited
	minSaved   time.Duration  // virtual time up to which the report must reach
	lastNotice int            // ID of the newest notice before saving
}

// start starts the wait for a report that reaches up to the time of snap.
func (q *pendingSave) start(snap *engine.Snapshot, then func() tea.Cmd) {
	*q = pendingSave{then: then, minSaved: snap.Now, lastNotice: snap.Notice.ID}
}

// done reports whether the report is written, according to the newest snapshot; false if none is
// awaited. The lab reports the end of saving by a notice. done cancels what follows if saving failed,
// which that notice explains, or if the user has gone back in time meanwhile.
func (q *pendingSave) done(snap *engine.Snapshot) bool {
	isNew := snap.Notice.ID != q.lastNotice
	if isNew && snap.Notice.Bad || snap.Now < q.minSaved {
		q.then = nil
	}
	isWritten := isNew && !snap.Saving && snap.Saved >= q.minSaved
	return q.then != nil && isWritten
}

// question is the overlay that asks before the present run ends.
type question struct {
	title, text string
	choices     []Choice
	cursor      int // index of the selected choice
}

// Choice is an answer to a question.
type Choice struct {
	Key, Description string
	Request          room.Request
}

// newQuestion returns a box with a question, the choices that end the run, and a last choice to continue. The cursor is
// on the first choice.
func newQuestion(title, text string, choices ...Choice) *question {
	return &question{title: title, text: text, choices: append(choices, Choice{"esc", "continue", room.Request{}})}
}

// AskToQuit returns an overlay that asks before something is lost: its cursor is on the choice to continue.
func AskToQuit(text string, choices ...Choice) room.Overlay {
	b := newQuestion("Quit?", text, choices...)
	b.cursor = len(choices)
	return b
}

// Key implements room.Overlay: it moves the cursor, or closes the box and executes a choice. Other
// keys do nothing.
func (b *question) Key(msg tea.KeyMsg) room.Request {
	switch step := room.ReadStep(msg); { // 0 if the key does not move the cursor
	case step != 0:
		b.cursor = min(max(b.cursor+step, 0), len(b.choices)-1)
		return room.Request{}
	case msg.Type == tea.KeyTab:
		b.cursor = (b.cursor + 1) % len(b.choices)
		return room.Request{}
	}
	for i, choice := range b.choices {
		if msg.String() == choice.Key || msg.Type == tea.KeyEnter && i == b.cursor {
			r := choice.Request
			r.Closes = true
			return r
		}
	}
	return room.Request{}
}

// Bindings returns the keys of the box, for the footer and the help.
func (b *question) Bindings() (list []room.Binding) {
	for _, c := range b.choices {
		list = append(list, room.OverlayKey(c.Key, c.Description, c.Description))
	}
	return list
}

// questionWidth is the largest width of the box in columns.
const questionWidth = 64

// Size implements room.Overlay: it returns the size of the box, at most that of the screen.
func (b *question) Size(maxWidth, maxHeight int) (width, height int, right bool) {
	const otherRows = 4   // rows of the frame, and two empty rows
	const atRight = false // the box is in the middle of the screen
	width = min(maxWidth, questionWidth)
	return width, min(maxHeight, len(look.Wrap(b.text, width-4))+len(b.choices)+otherRows), atRight
}

// Draw implements room.Overlay: it draws the question, and a row for each choice with its key.
func (b *question) Draw(c *look.Canvas, th *look.Theme) {
	const focused = true
	c.Frame(th, focused, b.title)
	y := c.Wrap(2, 1, c.W-4, look.Plain, b.text)
	for i, choice := range b.choices {
		y++
		style := look.Plain
		if i == b.cursor {
			style = look.Chosen
			c.Text(2, y, style, th.Chosen)
		}
		c.Text(4, y, look.Key, choice.Key)
		c.Clip(9, y, c.W-11, style, choice.Description)
	}
}

// Small implements smallScreen: the question and its keys replace the request for a larger terminal.
func (b *question) Small() (text string, alone bool) {
	text = b.text
	for _, c := range b.choices {
		text += " " + c.Key + ": " + c.Description + "."
	}
	return text, true
}

// unsavedQuestion describes the unsaved part of a run in a sentence.
func unsavedQuestion(length, unsaved time.Duration) string {
	if unsaved == length {
		return fmt.Sprintf("This run of %s is not saved.", look.FormatTime(length.Truncate(time.Second)))
	}
	return fmt.Sprintf("The last %s of this run are not saved.", look.FormatTime(unsaved.Truncate(time.Second)))
}
