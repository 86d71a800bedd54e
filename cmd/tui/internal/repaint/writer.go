package repaint

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"sync/atomic"
)

// writer sends frames to a terminal. Only one goroutine may write; Written may be
// called from any.
type writer struct {
	out     io.Writer
	lines   []line // what the terminal shows, from the top
	next    line   // being parsed
	buf     []byte
	style   []byte // in force at the end of buf
	rows    [][]byte
	runs    []run  // of the line at hand
	other   []byte // the same line in another order
	written atomic.Int64
	first   string // goes out before all else
}

// First has a text go out before all else that is written.
func (w *writer) First(text string) { w.first = text }

// New returns a writer to out. If out is a terminal's file, File of the writer is
// what bubbletea must get.
func New(out io.Writer) *writer { return &writer{out: out} }

// Written returns how many bytes went to the terminal so far.
func (w *writer) Written() int64 { return w.written.Load() }

// File returns the writer as a file, if that is what it writes to: bubbletea asks
// its output for its size and its modes.
func (w *writer) File() io.Writer {
	if f, ok := w.out.(*os.File); ok {
		return &file{f, w}
	}
	return w
}

// file is a terminal's file of which only Write is another.
type file struct {
	*os.File
	w *writer
}

func (f *file) Write(p []byte) (int, error) { return f.w.Write(p) }

// home is how bubbletea begins a frame on the alternate screen.
const home = "\x1b[H"

// Write passes p on, less what the terminal shows already.
func (w *writer) Write(p []byte) (int, error) {
	body, tail, ok := cutFrame(p)
	if !ok {
		w.lines = w.lines[:0]
		return len(p), w.send(p)
	}
	w.rows = appendRows(w.rows[:0], body)
	rows := w.rows
	if whole(rows) || len(rows) != len(w.lines) {
		w.remember(rows)
		return len(p), w.send(p)
	}
	w.buf, w.style = w.buf[:0], nil
	for y, row := range rows {
		row = bytes.TrimSuffix(row, []byte("\r"))
		if len(row) > 0 {
			w.update(y, row)
		}
	}
	if len(w.buf) == 0 {
		return len(p), nil
	}
	w.buf = append(appendStyle(w.buf, w.style, nil), tail...)
	return len(p), w.send(w.buf)
}

func (w *writer) send(p []byte) error {
	if first := w.first; first != "" {
		w.first = ""
		if err := w.send([]byte(first)); err != nil {
			return err
		}
	}
	n, err := w.out.Write(p)
	w.written.Add(int64(n))
	return err
}

// cutFrame takes a frame apart into its lines and the sequence that parks the
// cursor; false if p is none.
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

// appendRows takes the body of a frame apart.
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

// isSequence reports whether p is one whole control sequence with this last byte.
func isSequence(p []byte, last byte) bool {
	n := sequence(p)
	return n == len(p) && p[n-1] == last
}

// whole reports whether no line of a frame was left out as unchanged.
func whole(rows [][]byte) bool {
	for _, row := range rows {
		if len(row) == 0 {
			return false
		}
	}
	return true
}

// remember takes over what a whole frame puts on the screen. If a line of it is
// more than this package understands nothing is remembered.
func (w *writer) remember(rows [][]byte) {
	w.lines = w.lines[:0]
	if !whole(rows) {
		return
	}
	for _, row := range rows {
		var l line
		l.parse(bytes.TrimSuffix(row, []byte("\r")))
		w.lines = append(w.lines, l)
	}
}

// update appends what makes line y of the screen show row: the cells that differ,
// in the shorter of two orders, or all of it where that is shorter still.
func (w *writer) update(y int, row []byte) {
	w.next.parse(row)
	old := &w.lines[y]
	from, style := len(w.buf), w.style
	alike := old.known && w.next.known && len(old.cells) == len(w.next.cells)
	if alike {
		w.runs = appendRuns(w.runs[:0], old, &w.next)
		order, styles := pen{y, -1, style}, pen{y, -1, style}
		w.buf = order.appendInOrder(w.buf, &w.next, w.runs)
		w.other = styles.appendByStyle(w.other[:0], &w.next, w.runs)
		w.style = order.style
		if len(w.other) < len(w.buf)-from {
			w.buf, w.style = append(w.buf[:from], w.other...), styles.style
		}
	}
	if plain := len(row) + 8; !alike || len(w.buf)-from > plain {
		w.buf = append(appendPlace(appendStyle(w.buf[:from], style, nil), y, 0), row...)
		w.style = nil
	}
	*old, w.next = w.next, *old
}

// appendPlace appends the sequence that moves the cursor, counting from 0.
func appendPlace(b []byte, y, x int) []byte {
	b = strconv.AppendInt(append(b, "\x1b["...), int64(y+1), 10)
	if x > 0 {
		b = strconv.AppendInt(append(b, ';'), int64(x+1), 10)
	}
	return append(b, 'H')
}

// appendJump appends the sequence that moves the cursor so many columns on.
func appendJump(b []byte, n int) []byte {
	b = append(b, "\x1b["...)
	if n > 1 {
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, 'C')
}

// appendColumn appends the sequence that moves the cursor within its line.
func appendColumn(b []byte, x int) []byte {
	return append(strconv.AppendInt(append(b, "\x1b["...), int64(x+1), 10), 'G')
}
