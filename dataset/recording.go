package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/internal/unpack"
)

var recordingKind = Kind{Name: "file", Spec: "file:PATH", Source: "Glenn Fiedler, delta compression walk-off, 2015",
	Summary: "a recording in walk-off records, raw, .zst or .gz; a bare path does as well", Arg: source.NeedsArgument,
	Open: func(ctx context.Context, path string, opt Options) (Source, error) {
		return source.AsSource(openRecording(ctx, path, opt))
	},
	Paths: source.WholePath}

// Recording is a walk-off recording, read as it is played. Every value is held
// against its column's range; a recording that breaks a rule fails with the
// file, the frame, the cube, the field and what was expected. Its memory is some
// frames and the decompressor's window, whatever the file claims; with a loop up to
// 65 MB more, in which later rounds of most recordings find what they need.
type Recording struct {
	source.Playback
	schema *frame.Schema
	ranges ranges

	buf     []byte      // one frame of records
	ahead   bool        // buf holds the frame to be read next already
	last    []byte      // the records of table
	table   []int32     // the frame read last
	changed frame.Rows  // the rows in which the frame before it was another
	reel    *reel       // what was read so far; nil: it is not kept
	round   bool        // the reel is complete
	initial frame.Frame // frame 0
	odd     error       // how frames 1..5 differ from it, if they do
}

// openRecording opens the recording at path: raw records, zstd or gzip. What can be seen at once,
// such as a raw file whose length is no whole number of frames, or fewer than seven of them, fails
// here and the rest in Next.
func openRecording(ctx context.Context, path string, opt Options) (*Recording, error) {
	schema, err := cubeSchema(opt.Cubes)
	if err != nil {
		return nil, err
	}
	r := newRecording(path, schema, opt.Loop)
	info, err := r.Open(ctx)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		err = errors.New("is a folder, expected a recording")
	} else if info.Mode().IsRegular() {
		err = r.begin(nil, info.Size())
	} else {
		err = r.begin(nil, -1)
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func newRecording(path string, schema *frame.Schema, loop bool) *Recording {
	r := &Recording{Playback: source.Playback{Path: path, Loop: loop, Lead: preamble}, schema: schema}
	r.ranges = rangesOf(r.schema)
	r.buf, r.last = make([]byte, r.schema.Rows*recordBytes), make([]byte, r.schema.Rows*recordBytes)
	r.table, r.changed = make([]int32, r.schema.Cells()), frame.NewRows(r.schema.Rows)
	if loop {
		r.reel = &reel{most: maxReel}
	}
	return r
}

// begin begins to read the file, or from src if none is open. size is that of the file; -1 if
// unknown.
func (r *Recording) begin(src io.Reader, size int64) error {
	if err := r.Unpack(src, unpack.Errors{Format: ErrFormat, Truncated: ErrTruncated}); err != nil {
		return err
	}
	if r.In.Packing() == unpack.None && size >= 0 {
		if left := size % int64(len(r.buf)); left != 0 {
			return r.leftOver(size/int64(len(r.buf)), left)
		}
		r.Total = int(size / int64(len(r.buf)))
	}
	return r.readPreamble()
}

// readPreamble reads frames 0..5 and makes sure that there is one more.
func (r *Recording) readPreamble() error {
	for r.Count < preamble {
		if err := r.read(); err != nil {
			return r.tooShort(err)
		}
		switch {
		case r.Count == 1:
			r.initial.Table = slices.Clone(r.table)
		case r.odd == nil:
			r.odd = r.compare(r.table)
		}
	}
	r.last = appendRecords(r.last[:0], &r.initial) // whatever frame 5 is: the first frame follows the initial state
	copy(r.table, r.initial.Table)
	if err := r.fetch(); err != nil {
		return r.tooShort(err)
	}
	r.ahead = true
	return nil
}

// tooShort turns the end of a file that holds no whole preamble into an error.
func (r *Recording) tooShort(err error) error {
	if err != io.EOF {
		return err
	}
	return fmt.Errorf("%w: %d frames of %d cubes, expected at least %d: the initial state %d times and one more",
		ErrFormat, r.Count, r.schema.Rows, leastFrames, preamble)
}

// compare reports where the frame read last differs from frame 0.
func (r *Recording) compare(table []int32) error {
	for i, v := range table {
		if v != r.initial.Table[i] {
			return fmt.Errorf("%s: frame %d, cube %d, field %s: %w: %d, in frame 0 it is %d", r.Path, r.Count-1,
				i/frame.CubeFields, r.schema.Fields[i%frame.CubeFields].Name, ErrPreamble, v, r.initial.Table[i])
		}
	}
	return nil
}

// restart goes to frame 6.
func (r *Recording) restart() error {
	if err := r.In.Rewind(); err != nil {
		return err
	}
	for r.Count = 0; r.Count < preamble; r.Count++ {
		if err := r.fetch(); err != nil {
			return r.tooShort(err)
		}
	}
	return nil
}

// fetch fills buf with the frame at r.Count; io.EOF means that there is none.
func (r *Recording) fetch() error {
	n, err := r.In.Fill(r.buf)
	switch {
	case err == io.EOF && n > 0:
		return r.leftOver(int64(r.Count), int64(n))
	case err == io.EOF:
		return err
	case err != nil:
		return fmt.Errorf("frame %d: %w", r.Count, err)
	}
	return nil
}

// read reads the frame at r.Count, if it is there, and goes on to the next.
func (r *Recording) read() error {
	if !r.ahead {
		if err := r.fetch(); err != nil {
			return err
		}
	}
	r.ahead = false
	if !r.decode() {
		return fmt.Errorf("frame %d, %w", r.Count, r.schema.Check(&frame.Frame{Table: r.table}))
	}
	r.buf, r.last = r.last, r.buf
	r.Count++
	return nil
}

// decode makes table what buf holds, and reports whether all its values are within their
// ranges. It looks only at the rows that are new, which are few.
func (r *Recording) decode() (good bool) {
	good = true
	r.changed.Clear()
	const group = 8 // rows that are compared at once
	for first := 0; first < r.schema.Rows; first += group {
		end := min(first+group, r.schema.Rows)
		if bytes.Equal(r.buf[first*recordBytes:end*recordBytes], r.last[first*recordBytes:end*recordBytes]) {
			continue
		}
		for i := first; i < end; i++ {
			is, was := r.buf[i*recordBytes:][:recordBytes], r.last[i*recordBytes:][:recordBytes]
			if !bytes.Equal(is, was) {
				good = r.ranges.decode(r.table[i*frame.CubeFields:][:frame.CubeFields], is) && good
				r.changed.Add(i)
			}
		}
	}
	return good
}

// leftOver says that the data ends within a frame, and what might be meant.
func (r *Recording) leftOver(frames, left int64) error {
	hint := ""
	if n := r.guessCubes(frames*int64(len(r.buf)) + left); n > 0 {
		hint = fmt.Sprintf("; %d cubes would fit", n)
	}
	return fmt.Errorf("%w: %d bytes are left over after %d frames of %d cubes (%d bytes each)%s",
		ErrTruncated, left, frames, r.schema.Rows, len(r.buf), hint)
}

// guessCubes returns the count of cubes that data of this length seems to have:
// the one by which its first six frames are the same and it comes out even. 0 if
// none does.
func (r *Recording) guessCubes(size int64) int {
	const most = 4096
	if r.In.Rewind() != nil {
		return 0
	}
	head := make([]byte, most*recordBytes*preamble)
	n, _ := r.In.Fill(head)
	head = head[:n]
	for cubes := 1; cubes <= most && cubes*recordBytes*preamble <= n; cubes++ {
		one := cubes * recordBytes
		if size%int64(one) == 0 && bytes.Equal(head[:one*(preamble-1)], head[one:one*preamble]) {
			return cubes
		}
	}
	return 0
}

// Schema describes the frames.
func (r *Recording) Schema() *frame.Schema { return r.schema }

// Initial fills f with frame 0.
func (r *Recording) Initial(f *frame.Frame) { f.CopyFrom(&r.initial) }

// Next fills f with the next frame, the first time frame 6. After an error it
// keeps failing with the same one.
func (r *Recording) Next(f *frame.Frame) error { return r.Fill(f, r.next) }

func (r *Recording) next(f *frame.Frame) error {
	if err := r.advance(); err == io.EOF {
		return err
	} else if err != nil {
		return &source.Error{File: r.Path, Problem: err.Error(), Kind: err}
	}
	f.Table, f.Body = append(f.Table[:0], r.table...), f.Body[:0]
	return nil
}

// advance makes table the next frame; io.EOF means that there is none.
func (r *Recording) advance() error {
	if r.round {
		r.Restart = r.reel.play(r.table, r.changed)
		return nil
	}
	err := r.read()
	r.Restart = false
	if err == io.EOF {
		r.Total = r.Count
		if r.Loop {
			return r.again()
		}
	}
	if err == nil && r.reel != nil {
		r.reel.add(r.changed, r.table)
		if r.reel.full() {
			r.reel = nil
		}
	}
	return err
}

// again makes table the first frame, after the last one.
func (r *Recording) again() error {
	r.Restart = true
	if r.reel != nil {
		r.reel.close(r.initial.Table, r.table)
		r.round = true
		r.In.Close()
		return r.advance()
	}
	if err := r.restart(); err != nil {
		return err
	}
	return r.read()
}

// Changed returns the rows in which the frame that Next filled last differs from the one
// before it, which for the first one is the initial state.
func (r *Recording) Changed() frame.Rows { return r.changed }

// Preamble returns an error that wraps ErrPreamble if frames 1..5 differ from
// frame 0. Such a recording can be played, from frame 6 on, but the walk-off's
// rules say nothing about it.
func (r *Recording) Preamble() error { return r.odd }
