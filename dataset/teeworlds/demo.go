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
	"wirelab/internal/filetype"
	"wirelab/internal/unpack"
)

// maxMemory is how many bytes of snapshots are stored of a demo. They stay compressed as in the
// file, where they are about a tenth of all bytes.
const maxMemory = 256 << 20

// overhead is the memory in bytes of a tick without the bytes of its snapshot.
const overhead = 64

// maxChunks and maxTicks bound the time that a file can take, since a small compressed file may
// unpack to very many chunks, and a delta of ten bytes may apply to a thousand items. 2^20 ticks
// are half a day at 25 ticks a second.
const (
	maxChunks = 1 << 24
	maxTicks  = 1 << 20
)

// Errors of demos, returned wrapped in a *source.Error.
var (
	errFormat    = errors.New("not a demo of Teeworlds 0.7")
	errTruncated = errors.New("demo truncated")
	errCorrupt   = errors.New("demo corrupt")
	errLarge     = errors.New("demo too large")
)

// kind is the type of a chunk. 1 to 3 are the numbers in the file; a tick marker has a format of
// its own there.
type kind uint8

const (
	kindTick    kind = 0 // in a file: the marker of a tick; as tick.kind: the tick has no snapshot
	kindFull    kind = 1 // a snapshot with all items
	kindMessage kind = 2 // a network message, ignored here
	kindDelta   kind = 3 // a snapshot as the difference to the one before
)

// tick is one tick of a demo, with the snapshot of it, if any.
type tick struct {
	number  int32  // number of the tick in the game
	kind    kind   // kindTick, kindFull or kindDelta
	payload []byte // payload of the chunk with the snapshot, still compressed; nil for kindTick
}

// demo is a file in memory. Only ticks and snapshots are stored.
type demo struct {
	file       string
	ticks      []tick // begin with the first tick that has a snapshot
	groups     protocol.Groups
	err        error // why the rest of the file was not read; nil if all was read
	memoryLeft int   // bytes of memory that may still be used
}

// expectedFile describes the files that can be read, for error messages.
const expectedFile = "a demo of Teeworlds 0.7"

// readDemo reads a file, which may be compressed (.zst, .gz). Damage before the first snapshot is
// an error. Damage behind it ends the demo there, and is stored in its err.
func readDemo(ctx context.Context, path string) (*demo, error) {
	file, err := source.OpenFile(ctx, path, expectedFile, errFormat)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return parse(file, path, maxMemory)
}

// parse reads a demo from in and stores up to memory bytes of it. path is for errors.
func parse(in io.Reader, path string, memory int) (*demo, error) {
	d := &demo{file: path, memoryLeft: memory}
	unpacked, err := unpack.New(in, path, unpack.Errors{Format: errFormat, Truncated: errTruncated})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer unpacked.Close()
	r := &chunkReader{in: unpacked}
	if err := d.readHeader(r); err != nil {
		return nil, err
	}
	d.err = d.readChunks(r)
	if len(d.ticks) == 0 || d.ticks[0].kind == kindTick {
		if d.err == nil {
			d.err = &source.Error{File: path, Problem: "contains no snapshot", Kind: errFormat}
		}
		return nil, d.err
	}
	return d, nil
}

// The header of a demo, 176 bytes, with offsets: 0 "TWDEMO" and a zero, 7 version of the format,
// 8 network version (text), 72 name of the map (text), 136 size of the map in bytes, 140 CRC of the
// map, 144 type (8 bytes), 152 length in seconds, 156 time of the recording (20 bytes). Integers
// are big-endian, texts 64 bytes padded with zeros. Behind it come the timeline markers, which are
// a count and 64 ticks, then the map, then the chunks.
const (
	headerBytes      = 176
	versionOffset    = 7
	netVersionOffset = 8
	mapSizeOffset    = 136
	markerBytes      = 4 + 64*4
	textBytes        = 64
)

// IsDemo reports whether head, the first bytes of a file, begins a demo of Teeworlds or DDNet of any version.
func IsDemo(head []byte) bool { return bytes.HasPrefix(head, []byte("TWDEMO\x00")) }

// readHeader checks the header and skips everything in front of the first chunk.
func (d *demo) readHeader(r *chunkReader) error {
	refuse := func(kind error, format string, args ...any) error {
		return &source.Error{File: d.file, Problem: fmt.Sprintf(format, args...), Expected: expectedFile, Kind: kind}
	}
	h := make([]byte, headerBytes)
	n, err := r.in.Fill(h)
	switch h = h[:n]; {
	case !IsDemo(h):
		if err != nil && err != io.EOF {
			return refuse(errFormat, "%v", err)
		}
		return refuse(errFormat, "%s", filetype.Describe(h))
	case err != nil:
		return refuse(errTruncated, "ends within its header")
	}
	switch v := h[versionOffset]; v {
	case 4:
	case 5, 6:
		return refuse(errFormat, "is a demo of version %d, as DDNet records them, not 4", v)
	default:
		return refuse(errFormat, "is a demo of version %d, not 4", v)
	}
	if v := cString(h[netVersionOffset:]); !strings.HasPrefix(v, "0.7 ") {
		return refuse(errFormat, "was recorded by version %.20q", v)
	}
	size := int32(binary.BigEndian.Uint32(h[mapSizeOffset:]))
	if size < 0 {
		return refuse(errCorrupt, "has a map of %d bytes", size)
	}
	r.offset = headerBytes
	if err := r.skip(markerBytes + int64(size)); err != nil {
		return refuse(errTruncated, "ends within its map of %d bytes", size)
	}
	return nil
}

// cString returns the zero-terminated text at the start of a field of textBytes.
func cString(b []byte) string {
	b, _, _ = bytes.Cut(b[:textBytes], []byte{0})
	return string(b)
}

// readChunks reads the chunks up to the end of the file. After an error, which names the chunk, the
// demo holds the ticks in front of the damage. All snapshots are decoded here once: this checks
// them, and finds the types and ranges of items for the schema.
func (d *demo) readChunks(c *chunkReader) error {
	var r snapshotReader
	hasSnapshot := false
	for {
		kind, err := c.next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil: // the error is handled below
		case c.number > maxChunks:
			err = fmt.Errorf("%w: more than %d chunks", errLarge, maxChunks)
		case kind == kindTick:
			err = d.addTick(int32(c.tick))
		case kind == kindDelta && !hasSnapshot:
			err = fmt.Errorf("%w: changes before the first snapshot", errCorrupt)
		case kind != kindMessage:
			err = r.read(kind, c.payload)
			if err == nil {
				err = d.addSnapshot(kind, c.payload, r.changed)
			}
			r.advance()
			hasSnapshot = true
		}
		if err != nil {
			return d.endAtError(c, err)
		}
	}
}

// addTick appends a tick without a snapshot. It replaces a first tick that got none: frames begin
// with the first snapshot.
func (d *demo) addTick(number int32) error {
	n := len(d.ticks)
	if n > 0 && number <= d.ticks[n-1].number {
		return fmt.Errorf("%w: tick %d after tick %d", errCorrupt, number, d.ticks[n-1].number)
	}
	if n == 1 && d.ticks[0].kind == kindTick {
		d.ticks[0].number = number
		return nil
	}
	d.memoryLeft -= overhead
	if d.memoryLeft < 0 || n == maxTicks {
		return fmt.Errorf("%w: more than %d MB of snapshots or more than %d ticks", errLarge, maxMemory>>20, maxTicks)
	}
	d.ticks = append(d.ticks, tick{number: number})
	return nil
}

// addSnapshot stores the payload of a snapshot chunk with the last tick. items are the decoded items
// of the chunk; the schema gets room for them.
func (d *demo) addSnapshot(kind kind, payload []byte, items []protocol.Item) error {
	n := len(d.ticks)
	if n == 0 {
		return fmt.Errorf("%w: a snapshot before the first tick", errCorrupt)
	}
	t := &d.ticks[n-1]
	if t.kind != kindTick {
		return fmt.Errorf("%w: a second snapshot of tick %d", errCorrupt, t.number)
	}
	d.memoryLeft -= len(payload)
	if d.memoryLeft < 0 {
		return fmt.Errorf("%w: more than %d MB of snapshots", errLarge, maxMemory>>20)
	}
	for _, item := range items {
		if err := d.groups.Add(item); err != nil {
			return err
		}
	}
	t.kind, t.payload = kind, bytes.Clone(payload)
	return nil
}

// endAtError returns err with the place in the file at which reading stopped. It removes the last
// tick if that has no snapshot, since the snapshot may be what could not be read.
func (d *demo) endAtError(c *chunkReader, err error) error {
	if n := len(d.ticks); n > 0 && d.ticks[n-1].kind == kindTick {
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
		e.Place = fmt.Sprintf("chunk %d at byte %d", c.number, c.start)
	}
	return e
}
