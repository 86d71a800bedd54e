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

// MaxMemory bounds what is kept of a demo: its snapshots as they are in the file, a tenth of it.
const MaxMemory = 256 << 20

// overhead is what a tick takes besides the bytes of its snapshot.
const overhead = 64

// maxChunks and maxTicks bound the work that a file can cause, which may be packed: half a day at
// 25 ticks a second. A tick of ten bytes can have a thousand items.
const (
	maxChunks = 1 << 24
	maxTicks  = 1 << 20
)

// Errors of demos. They come wrapped in an *Error.
var (
	// ErrFormat: the file is no demo, or one of another version or game.
	ErrFormat = errors.New("no demo of Teeworlds 0.7")
	// ErrTruncated: it breaks off.
	ErrTruncated = errors.New("demo truncated")
	// ErrCorrupt: it says what no game writes.
	ErrCorrupt = errors.New("demo corrupt")
	// ErrLarge: it needs more memory than it may have.
	ErrLarge = errors.New("demo too large")
)

// Error is what is wrong with a demo, and where.
type Error struct {
	File    string
	Chunk   int   // counted from 1; 0: in front of all
	Offset  int64 // in the unpacked file
	Problem string
	Kind    error
}

// Error says it in a sentence.
func (e *Error) Error() string {
	if e.Chunk == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Problem)
	}
	return fmt.Sprintf("%s: chunk %d at byte %d: %s", e.File, e.Chunk, e.Offset, e.Problem)
}

// Unwrap returns which of the errors it is.
func (e *Error) Unwrap() error { return e.Kind }

// kind is how the state of a tick is told.
type kind uint8

const (
	same  kind = iota // by nothing: it did not change
	whole             // by all its items
	delta             // by what changed
)

// The types of chunks.
const (
	chunkSnapshot = 1
	chunkMessage  = 2
	chunkDelta    = 3
)

// tick is a tick of a demo.
type tick struct {
	at      int32
	kind    kind
	chunk   int    // the number of the chunk with the snapshot, and its place
	offset  int64  //
	payload []byte // of the chunk
}

// demo is what is kept of a file.
type demo struct {
	file   string
	ticks  []tick
	groups protocol.Groups
	err    error // why it ends before the file does; nil: it does not
	left   int   // bytes that may be kept
}

// readDemo reads a file, which may be packed. What is wrong in front of the first snapshot is an
// error; what comes later only ends the demo.
func readDemo(ctx context.Context, path string) (*demo, error) {
	file, err := source.OpenFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, &Error{File: path, Problem: "is a folder; expected a demo of Teeworlds 0.7", Kind: ErrFormat}
	}
	return parse(file, path, MaxMemory)
}

// parse reads a demo from in and keeps so many bytes of it.
func parse(in io.Reader, path string, memory int) (*demo, error) {
	d := &demo{file: path, left: memory}
	unpacked, err := unpack.New(in, path, unpack.Errors{Format: ErrFormat, Truncated: ErrTruncated})
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
			d.err = &Error{File: path, Problem: "holds no snapshot", Kind: ErrFormat}
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
		return &Error{File: d.file, Problem: fmt.Sprintf(format, args...) + "; expected a demo of Teeworlds 0.7", Kind: kind}
	}
	h := make([]byte, headerBytes)
	n, err := r.in.Fill(h)
	switch h = h[:n]; {
	case !bytes.HasPrefix(h, []byte("TWDEMO\x00")):
		if err != nil && err != io.EOF {
			return refuse(ErrFormat, "%v", err)
		}
		return refuse(ErrFormat, "begins with % x", h[:min(n, 8)])
	case err != nil:
		return refuse(ErrTruncated, "breaks off in its header")
	}
	if v := h[versionAt]; v != 4 {
		return refuse(ErrFormat, "is a demo of version %d, not 4", v)
	}
	if v := text(h[netVersionAt:]); !strings.HasPrefix(v, "0.7 ") {
		return refuse(ErrFormat, "was recorded by version %.20q", v)
	}
	size := int32(binary.BigEndian.Uint32(h[mapSizeAt:]))
	if size < 0 {
		return refuse(ErrCorrupt, "has a map of %d bytes", size)
	}
	r.at = headerBytes
	if err := r.skip(markerBytes + int64(size)); err != nil {
		return refuse(ErrTruncated, "breaks off before the end of its map of %d bytes", size)
	}
	return nil
}

// text is a text padded with zeros.
func text(b []byte) string {
	b, _, _ = bytes.Cut(b[:textBytes], []byte{0})
	return string(b)
}

// read reads the chunks. The demo holds what came before the error.
func (d *demo) read(r *chunks) error {
	var rd reader
	var now, next snapshot
	begun := false
	for {
		c, err := r.next()
		if err == io.EOF {
			return nil
		}
		if err == nil && r.number > maxChunks {
			err = fmt.Errorf("%w: more than %d chunks", ErrLarge, maxChunks)
		}
		if err == nil {
			switch c.kind {
			case chunkTick:
				err = d.addTick(c.tick)
			case chunkSnapshot:
				if err = rd.whole(&next, c.payload); err == nil {
					err = d.addState(rd.news, whole, r)
				}
			case chunkDelta:
				if !begun {
					err = fmt.Errorf("%w: changes before the first snapshot", ErrCorrupt)
				} else if err = rd.next(&next, &now, c.payload); err == nil {
					err = d.addState(rd.news, delta, r)
				}
			}
		}
		if err != nil {
			return d.end(r, err)
		}
		if c.kind == chunkSnapshot || c.kind == chunkDelta {
			now, next, begun = next, now, true
		}
	}
}

// addTick begins a tick. Those in front of the first snapshot have nothing to tell.
func (d *demo) addTick(at int32) error {
	n := len(d.ticks)
	if n > 0 && at <= d.ticks[n-1].at {
		return fmt.Errorf("%w: tick %d after tick %d", ErrCorrupt, at, d.ticks[n-1].at)
	}
	if n == 1 && d.ticks[0].kind == same {
		d.ticks[0].at = at
		return nil
	}
	if d.left -= overhead; d.left < 0 || n == maxTicks {
		return fmt.Errorf("%w: more than %d MB of snapshots, or than %d ticks", ErrLarge, MaxMemory>>20, maxTicks)
	}
	d.ticks = append(d.ticks, tick{at: at})
	return nil
}

// addState keeps the chunk that was just read, which tells these items of its tick.
func (d *demo) addState(items []protocol.Item, kind kind, r *chunks) error {
	n := len(d.ticks)
	if n == 0 {
		return fmt.Errorf("%w: a snapshot before the first tick", ErrCorrupt)
	}
	t := &d.ticks[n-1]
	if t.kind != same {
		return fmt.Errorf("%w: a second snapshot of tick %d", ErrCorrupt, t.at)
	}
	if d.left -= len(r.payload); d.left < 0 {
		return fmt.Errorf("%w: more than %d MB of snapshots", ErrLarge, MaxMemory>>20)
	}
	for _, item := range items {
		if err := d.groups.See(item); err != nil {
			return err
		}
	}
	t.kind, t.chunk, t.offset, t.payload = kind, r.number, r.begin, bytes.Clone(r.payload)
	return nil
}

// end says where the demo ends before its file does. A tick whose snapshot may be missing is
// taken away.
func (d *demo) end(r *chunks, err error) error {
	if n := len(d.ticks); n > 0 && d.ticks[n-1].kind == same {
		d.ticks = d.ticks[:n-1]
	}
	kind := ErrCorrupt
	switch {
	case errors.Is(err, ErrTruncated):
		kind = ErrTruncated
	case errors.Is(err, ErrLarge), errors.Is(err, protocol.ErrLarge):
		kind = ErrLarge
	}
	return &Error{File: d.file, Chunk: r.number, Offset: r.begin, Problem: err.Error(), Kind: kind}
}
