package repaint

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"sync/atomic"

	"github.com/charmbracelet/x/ansi"

	"wirelab/internal/panics"
)

// writer sends frames of bubbletea to a terminal, without what the terminal shows already. Write must not be
// called concurrently; Written may be called at any time.
type writer struct {
	out     io.Writer
	lines   []line   // content of the terminal, from the top; empty if unknown
	parsing line     // buffer for the line being parsed
	buf     []byte   // the output of the current frame
	style   []byte   // current style at the end of buf
	rows    [][]byte // lines of the current frame; empty means unchanged
	runs    []run    // changed runs of the current line
	byStyle []byte   // the output of the current line, written style by style
	written atomic.Int64
	prefix  atomic.Pointer[string] // written before the next output; nil for none
	broken  bool                   // Write has panicked, so the output is sent unchanged

	// OnPanic is called with an *panics.Error if Write panics, because bubbletea does not recover panics in the
	// goroutine that calls Write. nil means that the panic continues.
	OnPanic func(error)
}

// SendFirst makes the writer send text before its next output. It may be called at any time.
func (w *writer) SendFirst(text string) { w.prefix.Store(&text) }

// New returns a writer to out. Pass its File to bubbletea.
func New(out io.Writer) *writer { return &writer{out: out} }

// Written returns the bytes sent to the terminal so far.
func (w *writer) Written() int64 { return w.written.Load() }

// File returns the writer, as a file if it writes to a file: bubbletea queries the size and the modes of
// its output file.
func (w *writer) File() io.Writer {
	if f, ok := w.out.(*os.File); ok {
		return &file{f, w}
	}
	return w
}

// file is the terminal's file with the Write of the writer.
type file struct {
	*os.File
	w *writer
}

func (f *file) Write(p []byte) (int, error) { return f.w.Write(p) }

// home begins a frame of bubbletea on the alternate screen.
const home = "\x1b[H"

// Write sends p without what the terminal shows already. Three kinds of output are sent unchanged: output
// that is not an update of the screen, updates that redraw every row, and updates with another number of
// rows than the update before. A panic is reported to OnPanic; from then on all output is sent unchanged.
func (w *writer) Write(p []byte) (n int, err error) {
	if w.broken {
		return len(p), w.send(p)
	}
	defer func() { // not panics.Call, whose argument would be allocated for each frame
		if bug := panics.Recovered(recover()); bug != nil {
			if w.OnPanic == nil {
				panic(bug)
			}
			w.broken, err = true, bug
			w.OnPanic(bug)
		}
	}()
	return len(p), w.repaint(p)
}

// repaint does the work of Write.
func (w *writer) repaint(p []byte) error {
	body, tail, ok := cutFrame(p)
	if !ok {
		w.lines = w.lines[:0] // what the terminal shows is unknown now
		return w.send(p)
	}
	w.rows = appendRows(w.rows[:0], body)
	rows := w.rows
	if redrawsAllRows(rows) || len(rows) != len(w.lines) { // bubbletea redraws everything, as after a resize
		w.storeRows(rows)
		w.buf = append(append(w.buf[:0], ansi.SetModeSynchronizedOutput...), p...)
		return w.sendFrame()
	}
	w.buf, w.style = append(w.buf[:0], ansi.SetModeSynchronizedOutput...), nil
	for y, row := range rows {
		row = bytes.TrimSuffix(row, []byte("\r"))
		if len(row) > 0 {
			w.updateLine(y, row)
		}
	}
	if len(w.buf) == len(ansi.SetModeSynchronizedOutput) { // nothing changed
		return nil
	}
	w.buf = append(appendStyle(w.buf, w.style, nil), tail...)
	return w.sendFrame()
}

// sendFrame sends w.buf, which begins with the start of synchronized output (mode 2026), and ends the
// synchronization. A terminal with this mode shows the frame at once; others ignore it.
func (w *writer) sendFrame() error {
	w.buf = append(w.buf, ansi.ResetModeSynchronizedOutput...)
	return w.send(w.buf)
}

// send writes p to the terminal, after the text of SendFirst.
func (w *writer) send(p []byte) error {
	if first := w.prefix.Swap(nil); first != nil {
		if err := w.send([]byte(*first)); err != nil {
			return err
		}
	}
	n, err := w.out.Write(p)
	w.written.Add(int64(n))
	return err
}

// cutFrame splits a frame into its lines and the final sequence that moves the cursor; false if p is not
// a frame.
func cutFrame(p []byte) (body, tail []byte, ok bool) {
	body, ok = bytes.CutPrefix(p, []byte(home))
	if !ok {
		return nil, nil, false
	}
	at := bytes.LastIndexByte(body, '\x1b')
	if at < 0 || !isSequence(body[at:], 'H') {
		return nil, nil, false
	}
	return body[:at], body[at:], true
}

// appendRows appends the lines of the body of a frame.
func appendRows(rows [][]byte, body []byte) [][]byte {
	for {
		row, rest, more := bytes.Cut(body, []byte("\n"))
		rows = append(rows, row)
		if !more {
			return rows
		}
		body = rest
	}
}

// isSequence reports whether p is exactly one control sequence that ends with last.
func isSequence(p []byte, last byte) bool {
	n := sequenceLength(p)
	return n == len(p) && p[n-1] == last
}

// redrawsAllRows reports whether a frame contains all lines: bubbletea omits unchanged ones, which are empty.
func redrawsAllRows(rows [][]byte) bool {
	for _, row := range rows {
		if len(row) == 0 {
			return false
		}
	}
	return true
}

// storeRows stores the lines of a complete frame. If the frame is incomplete, the content of the terminal is
// unknown afterwards.
func (w *writer) storeRows(rows [][]byte) {
	w.lines = w.lines[:0]
	if !redrawsAllRows(rows) {
		return
	}
	for _, row := range rows {
		var l line
		l.parse(bytes.TrimSuffix(row, []byte("\r")))
		w.lines = append(w.lines, l)
	}
}

// updateLine appends the output that changes line y of the screen to row: the cells that differ, in the
// shorter of two orders, or the whole line if that is shorter.
func (w *writer) updateLine(y int, row []byte) {
	w.parsing.parse(row)
	old := &w.lines[y]
	start, style := len(w.buf), w.style // where the output of this line begins in w.buf, and the style there
	isComparable := old.parsed && w.parsing.parsed && len(old.cells) == len(w.parsing.cells)
	if isComparable {
		w.runs = appendRuns(w.runs[:0], old, &w.parsing)
		const outside = -1 // the cursor is not in the line yet
		inOrder, byStyle := cursor{y, outside, style}, cursor{y, outside, style}
		w.buf = inOrder.appendInOrder(w.buf, &w.parsing, w.runs)
		w.byStyle = byStyle.appendByStyle(w.byStyle[:0], &w.parsing, w.runs)
		w.style = inOrder.style
		if len(w.byStyle) < len(w.buf)-start {
			w.buf, w.style = append(w.buf[:start], w.byStyle...), byStyle.style
		}
	}
	const moveBytes = 8 // about as many bytes as moving the cursor and a reset take
	if wholeLine := len(row) + moveBytes; !isComparable || len(w.buf)-start > wholeLine {
		w.buf = append(appendMoveTo(appendStyle(w.buf[:start], style, nil), y, 0), row...)
		w.style = nil // bubbletea ends each line in the reset state
	}
	*old, w.parsing = w.parsing, *old // swap, to reuse the memory
}

// appendMoveTo appends the sequence that moves the cursor to (x, y), counted from 0.
func appendMoveTo(b []byte, y, x int) []byte {
	b = strconv.AppendInt(append(b, "\x1b["...), int64(y+1), 10)
	if x > 0 {
		b = strconv.AppendInt(append(b, ';'), int64(x+1), 10)
	}
	return append(b, 'H')
}

// appendForward appends the sequence that moves the cursor n columns to the right.
func appendForward(b []byte, n int) []byte {
	b = append(b, "\x1b["...)
	if n > 1 {
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, 'C')
}

// appendColumn appends the sequence that moves the cursor to column x of its line.
func appendColumn(b []byte, x int) []byte {
	return append(strconv.AppendInt(append(b, "\x1b["...), int64(x+1), 10), 'G')
}
