package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"wirelab/cmd/tui/internal/cast"
	"wirelab/cmd/tui/internal/picture"
	"wirelab/cmd/tui/internal/room"
	"wirelab/internal/atomicfile"
)

// saveImage returns the command that saves the present screen as SVG and as text in Options.ImagesDir.
// It ends with a notice that names the file.
func (s *Shell) saveImage() tea.Cmd {
	view, w, h, dark := s.view, s.w, s.h, s.opt.Renderer.HasDarkBackground()
	return func() tea.Msg {
		name := time.Now().Format("screen-2006-01-02-150405.000")
		dir := s.opt.ImagesDir
		if dir == "" {
			dir = "."
		}
		var disk *atomicfile.Disk // the operating system's
		_, err := disk.MkdirAll(dir)
		if err == nil {
			err = disk.Group(dir, []atomicfile.Entry{
				atomicfile.Bytes(name+".svg", picture.SVG(view, w, h, dark)),
				atomicfile.Bytes(name+".txt", []byte(screenText(view))),
			})
		}
		if err != nil {
			return room.NoticeMsg{Text: "the screen could not be saved: " + err.Error(), IsError: isError}
		}
		return room.NoticeMsg{Text: "screen saved as " + filepath.Join(dir, name) + ".svg and .txt"}
	}
}

// screenText returns a screen without colours and without blanks at the ends of lines.
func screenText(view string) string {
	var b strings.Builder
	for line := range strings.Lines(ansi.Strip(view)) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// copySelection copies the selection of the page, or without one the text of the screen, to the clipboard of the
// terminal (sequence OSC 52). The terminal does not reply, so the notice names only what was sent.
func (s *Shell) copySelection() room.Request {
	if s.sendFirst == nil {
		return room.Request{Notice: "there is no terminal whose clipboard could be set", IsError: true}
	}
	text, what := "", "the selection"
	if p, ok := s.page().(room.Copier); ok {
		text = p.Selection()
	}
	if text == "" {
		text, what = screenText(s.view), "the screen"
	}
	s.sendFirst(ansi.SetSystemClipboard(text))
	return room.Request{Notice: fmt.Sprintf("sent %s to the terminal's clipboard: %d characters", what, len([]rune(text)))}
}

// startCast begins a recording of the screen to Options.Cast. onSend records output; the end of the program calls
// close, which returns the first error of the recording.
func (s *Shell) startCast() (onSend func([]byte), close func() error) {
	w, h := 80, 24 // if the output is no terminal
	if f, ok := s.opt.Out.(*os.File); ok {
		if width, height, err := term.GetSize(int(f.Fd())); err == nil {
			w, h = width, height
		}
	}
	begun := time.Now()
	recording := cast.New(s.opt.Cast, w, h, "wirelab")
	s.resized = func(newW, newH int) {
		if newW != w || newH != h {
			w, h = newW, newH
			recording.Resize(time.Since(begun), w, h)
		}
	}
	onSend = func(p []byte) { recording.Output(time.Since(begun), p) }
	return onSend, func() error {
		if err := recording.Close(); err != nil {
			return fmt.Errorf("the recording of the screen is incomplete: %w", err)
		}
		return nil
	}
}
