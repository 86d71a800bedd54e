package teeworlds

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"wirelab/dataset/source"
	"wirelab/dataset/teeworlds/protocol"
	"wirelab/internal/unpack"
)

// maxMemory bounds what is kept of a demo: its snapshots as they are in the file, a tenth of it.
const maxMemory = 256 << 20

// overhead is the memory of a tick without the bytes of its snapshot.
const overhead = 64

// maxChunks and maxTicks bound the work that a file can cause, which may be packed: half a day at
// 25 ticks a second. A tick of ten bytes can have a thousand items.
const (
	maxChunks = 1 << 24
	maxTicks  = 1 << 20
)

// Errors of demos. They come wrapped in a *source.Error.
var (
	errFormat    = errors.New("no demo of Teeworlds 0.7")
	errTruncated = errors.New("demo truncated")
	errCorrupt   = errors.New("demo corrupt")
	errLarge     = errors.New("demo too large")
)

// kind is the type of a chunk, and how a demo holds the state of a tick.
type kind uint8

const (
	same    kind = 0 // the mark of a tick; a state that did not change
	whole   kind = 1 // all items
	message kind = 2
	delta   kind = 3 // what changed
)

// tick is a tick of a demo.
type tick struct {
	at      int32
	kind    kind
	payload []byte // of the chunk with its state
}

// demo is what is kept of a file.
type demo struct {
	file   string
	ticks  []tick
	groups protocol.Groups
	err    error // why it ends before the file does; nil: it does not
	left   int   // bytes that may be kept
}

// expected describes the files that are read.
const expected = "a demo of Teeworlds 0.7"

// readDemo reads a file, which may be packed. What is wrong in front of the first snapshot is an
// error; what comes later only ends the demo.
func readDemo(ctx context.Context, path string) (*demo, error) {
	file, err := source.OpenFile(ctx, path, expected, errFormat)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return parse(file, path, maxMemory)
}

// parse reads a demo from in and keeps up to memory bytes of it.
func parse(in io.Reader, path string, memory int) (*demo, error) {
	d := &demo{file: path, left: memory}
	unpacked, err := unpack.New(in, path, unpack.Errors{Format: errFormat, Truncated: errTruncated})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer unpacked.Close()
	r := &chunks{in: unpacked}
	if err := d.header(r); err != nil {
		return nil, err
	}
	d.err = d.read(r)
	if len(d.ticks) == 0 || d.ticks[0].kind == same {
		if d.err == nil {
			d.err = &source.Error{File: path, Problem: "holds no snapshot", Kind: errFormat}
		}
		return nil, d.err
	}
	return d, nil
}

// Where things are in the header, and what follows it.
const (
	headerBytes  = 176
	versionAt    = 7
	netVersionAt = 8
	mapSizeAt    = 136
	markerBytes  = 4 + 64*4
	textBytes    = 64
)

// header reads all that is in front of the chunks.
func (d *demo) header(r *chunks) error {
	refuse := func(kind error, format string, args ...any) error {
		return &source.Error{File: d.file, Problem: fmt.Sprintf(format, args...), Expected: expected, Kind: kind}
	}
	h := make([]byte, headerBytes)
	n, err := r.in.Fill(h)
	switch h = h[:n]; {
	case !bytes.HasPrefix(h, []byte("TWDEMO\x00")):
		if err != nil && err != io.EOF {
			return refuse(errFormat, "%v", err)
		}
		return refuse(errFormat, "begins with % x", h[:min(n, 8)])
	case err != nil:
		return refuse(errTruncated, "breaks off in its header")
	}
	if v := h[versionAt]; v != 4 {
		return refuse(errFormat, "is a demo of version %d, not 4", v)
	}
	if v := text(h[netVersionAt:]); !strings.HasPrefix(v, "0.7 ") {
		return refuse(errFormat, "was recorded by version %.20q", v)
	}
	size := int32(binary.BigEndian.Uint32(h[mapSizeAt:]))
	if size < 0 {
		return refuse(errCorrupt, "has a map of %d bytes", size)
	}
	r.at = headerBytes
	if err := r.skip(markerBytes + int64(size)); err != nil {
		return refuse(errTruncated, "breaks off before the end of its map of %d bytes", size)
	}
	return nil
}

// text is a text padded with zeros.
func text(b []byte) string {
	b, _, _ = bytes.Cut(b[:textBytes], []byte{0})
	return string(b)
}

// read reads the chunks. The demo holds what came before the error.
func (d *demo) read(c *chunks) error {
	var r reader
	begun := false
	for {
		kind, err := c.next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
		case c.number > maxChunks:
			err = fmt.Errorf("%w: more than %d chunks", errLarge, maxChunks)
		case kind == same:
			err = d.addTick(int32(c.tick))
		case kind == delta && !begun:
			err = fmt.Errorf("%w: changes before the first snapshot", errCorrupt)
		case kind != message:
			err = r.read(kind, c.payload)
			if err == nil {
				err = d.addState(kind, c.payload, r.news)
			}
			r.advance()
			begun = true
		}
		if err != nil {
			return d.end(c, err)
		}
	}
}

// addTick begins a tick. Ticks in front of the first snapshot are dropped.
func (d *demo) addTick(at int32) error {
	n := len(d.ticks)
	if n > 0 && at <= d.ticks[n-1].at {
		return fmt.Errorf("%w: tick %d after tick %d", errCorrupt, at, d.ticks[n-1].at)
	}
	if n == 1 && d.ticks[0].kind == same {
		d.ticks[0].at = at
		return nil
	}
	d.left -= overhead
	if d.left < 0 || n == maxTicks {
		return fmt.Errorf("%w: more than %d MB of snapshots, or than %d ticks", errLarge, maxMemory>>20, maxTicks)
	}
	d.ticks = append(d.ticks, tick{at: at})
	return nil
}

// addState keeps the payload of a chunk, which has these items, as the state of the last tick.
func (d *demo) addState(kind kind, payload []byte, items []protocol.Item) error {
	n := len(d.ticks)
	if n == 0 {
		return fmt.Errorf("%w: a snapshot before the first tick", errCorrupt)
	}
	t := &d.ticks[n-1]
	if t.kind != same {
		return fmt.Errorf("%w: a second snapshot of tick %d", errCorrupt, t.at)
	}
	d.left -= len(payload)
	if d.left < 0 {
		return fmt.Errorf("%w: more than %d MB of snapshots", errLarge, maxMemory>>20)
	}
	for _, item := range items {
		if err := d.groups.See(item); err != nil {
			return err
		}
	}
	t.kind, t.payload = kind, bytes.Clone(payload)
	return nil
}

// end returns where and why the demo ends before its file does. A tick whose snapshot may be
// missing is removed.
func (d *demo) end(c *chunks, err error) error {
	if n := len(d.ticks); n > 0 && d.ticks[n-1].kind == same {
		d.ticks = d.ticks[:n-1]
	}
	kind := errCorrupt
	switch {
	case errors.Is(err, errTruncated):
		kind = errTruncated
	case errors.Is(err, errLarge), errors.Is(err, protocol.ErrLarge):
		kind = errLarge
	}
	e := &source.Error{File: d.file, Problem: err.Error(), Kind: kind}
	if c.number > 0 {
		e.Place = fmt.Sprintf("chunk %d at byte %d", c.number, c.begin)
	}
	return e
}
