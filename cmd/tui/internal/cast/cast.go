// Package cast writes the output of a terminal program to a file in the format asciicast v2, which
// players such as asciinema show (https://docs.asciinema.org/manual/asciicast/v2).
package cast

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// Writer writes a recording. Its methods may be called concurrently. After an error of the underlying
// writer they do nothing, and Close returns that error.
type Writer struct {
	mu  sync.Mutex
	out *bufio.Writer
	err error // the first error
}

// header is the first line of a recording.
type header struct {
	Version int    `json:"version"`
	Width   int    `json:"width"`  // of the terminal, in columns
	Height  int    `json:"height"` // in rows
	Title   string `json:"title"`
}

// New returns a writer of a recording of a terminal of w columns and h rows, and writes its header.
func New(out io.Writer, w, h int, title string) *Writer {
	c := &Writer{out: bufio.NewWriter(out)}
	c.line(header{Version: 2, Width: w, Height: h, Title: title})
	return c
}

// Output records that the program wrote p at a time since the start of the recording.
func (c *Writer) Output(at time.Duration, p []byte) { c.event(at, "o", string(p)) }

// Resize records that the terminal has w columns and h rows from a time on.
func (c *Writer) Resize(at time.Duration, w, h int) { c.event(at, "r", fmt.Sprintf("%dx%d", w, h)) }

// event writes an event. The time has microseconds, with a fixed number of digits.
func (c *Writer) event(at time.Duration, kind, data string) {
	us := at.Microseconds()
	c.line([]any{json.Number(fmt.Sprintf("%d.%06d", us/1e6, us%1e6)), kind, data})
}

// line writes v as a line of JSON.
func (c *Writer) line(v any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	c.err = e.Encode(v)
	if c.err == nil {
		_, c.err = c.out.Write(b.Bytes())
	}
}

// Close writes what is buffered, and returns the first error of the recording. It does not close the
// underlying writer.
func (c *Writer) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.out.Flush(); c.err == nil {
		c.err = err
	}
	return c.err
}
