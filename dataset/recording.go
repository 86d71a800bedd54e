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
	"wirelab/internal/escape"
	"wirelab/internal/unpack"
)

var recordingKind = Kind{Name: "file", Spec: "file:PATH", Source: "Glenn Fiedler, delta compression walk-off, 2015",
	Summary: "a recording in walk-off records, raw, .zst or .gz; a path alone may be a file of any kind", Arg: source.NeedsArgument,
	Open: func(ctx context.Context, path string, opt Options) (Source, error) {
		return source.AsSource(openRecording(ctx, path, opt))
	},
	Paths: source.WholePath}

// Recording is the source of the frames of a walk-off recording, which it reads during playback. It
// checks that every value is in its range; errors have the file, the frame, the cube, the field and
// what was expected. Its memory is a few frames and the window of the decompressor, whatever the file
// claims, and for a looping recording up to 65 MB more, so that later rounds need not read the file.
type Recording struct {
	source.Playback
	schema *frame.Schema
	ranges ranges

	buf          []byte      // records of one frame, the one read last or next
	hasNext      bool        // buf contains the next frame already
	lastBuf      []byte      // records of table
	table        []int32     // values of the newest frame
	changed      frame.Rows  // rows in which table differs from the frame before
	reel         *reel       // the frames read so far, if the recording loops and they fit in memory; otherwise nil
	reelComplete bool        // the reel is complete, and is played instead of the file
	initial      frame.Frame // frame 0
	preambleErr  error       // first difference of frames 1 to 5 from frame 0; nil if they are equal
}

// openRecording opens the recording at path: raw records, zstd or gzip. It reads the preamble. Errors
// that can be detected at once, such as a length that is not a multiple of the frame size, are
// returned here, others by Next.
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
		err = errors.New("is a folder; expected a recording")
	} else if info.Mode().IsRegular() {
		err = r.start(nil, info.Size())
	} else {
		const unknownSize = -1 // a pipe has no size
		err = r.start(nil, unknownSize)
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", escape.Line(path), err)
	}
	return r, nil
}

// newRecording returns a recording whose file is not yet open.
func newRecording(path string, schema *frame.Schema, loop bool) *Recording {
	r := &Recording{Playback: source.Playback{Path: path, Loop: loop, Lead: preamble}, schema: schema}
	r.ranges = newRanges(r.schema)
	r.buf, r.lastBuf = make([]byte, r.schema.Rows*recordBytes), make([]byte, r.schema.Rows*recordBytes)
	r.table, r.changed = make([]int32, r.schema.Cells()), frame.NewRows(r.schema.Rows)
	if loop {
		r.reel = &reel{maxRows: maxReelRows}
	}
	return r
}

// start prepares to read the opened file, or src if none is open, and reads the preamble. size is the
// size of the file, or -1 if unknown.
func (r *Recording) start(src io.Reader, size int64) error {
	if err := r.Unpack(src, unpack.Errors{Format: ErrFormat, Truncated: ErrTruncated}); err != nil {
		return err
	}
	if r.In.Packing() == unpack.None && size >= 0 {
		if left := size % int64(len(r.buf)); left != 0 {
			return r.truncatedError(size/int64(len(r.buf)), left)
		}
		r.Total = int(size / int64(len(r.buf)))
	}
	return r.readPreamble()
}

// readPreamble reads frames 0 to 5 and reads ahead frame 6, without which the file is too short.
func (r *Recording) readPreamble() error {
	for r.Count < preamble {
		if err := r.readFrame(); err != nil {
			return r.tooShortError(err)
		}
		switch {
		case r.Count == 1:
			r.initial.Table = slices.Clone(r.table)
		case r.preambleErr == nil:
			r.preambleErr = r.comparePreamble(r.table)
		}
	}
	r.lastBuf = appendRecords(r.lastBuf[:0], &r.initial) // frame 6 is compared with the initial state, even if frame 5 differs
	copy(r.table, r.initial.Table)
	if err := r.readRecords(); err != nil {
		return r.tooShortError(err)
	}
	r.hasNext = true
	return nil
}

// tooShortError replaces io.EOF by an error with the number of frames; other errors are returned
// unchanged.
func (r *Recording) tooShortError(err error) error {
	if err != io.EOF {
		return err
	}
	return fmt.Errorf("%w: %d frames of %d cubes, expected at least %d: the initial state %d times and one more",
		ErrFormat, r.Count, r.schema.Rows, minFrames, preamble)
}

// comparePreamble returns an error with the first difference of table, the frame read last, to
// frame 0; nil if they are equal.
func (r *Recording) comparePreamble(table []int32) error {
	for i, v := range table {
		if v != r.initial.Table[i] {
			return fmt.Errorf("%s: frame %d, cube %d, field %s: %w: %d, but %d in frame 0", r.Path, r.Count-1,
				i/frame.CubeFields, r.schema.Fields[i%frame.CubeFields].Name, ErrPreamble, v, r.initial.Table[i])
		}
	}
	return nil
}

// rewind returns to the start of the file and skips the preamble, so that frame 6 is read next.
func (r *Recording) rewind() error {
	if err := r.In.Rewind(); err != nil {
		return err
	}
	for r.Count = 0; r.Count < preamble; r.Count++ {
		if err := r.readRecords(); err != nil {
			return r.tooShortError(err)
		}
	}
	return nil
}

// readRecords reads the records of frame r.Count into buf. At the end of the file it returns io.EOF.
func (r *Recording) readRecords() error {
	n, err := r.In.Fill(r.buf)
	switch {
	case err == io.EOF && n > 0:
		return r.truncatedError(int64(r.Count), int64(n))
	case err == io.EOF:
		return err
	case err != nil:
		return fmt.Errorf("frame %d: %w", r.Count, err)
	}
	return nil
}

// readFrame reads frame r.Count into table and increments r.Count. At the end of the file it
// returns io.EOF.
func (r *Recording) readFrame() error {
	if !r.hasNext {
		if err := r.readRecords(); err != nil {
			return err
		}
	}
	r.hasNext = false
	if !r.decode() {
		return fmt.Errorf("frame %d, %w", r.Count, r.schema.Check(&frame.Frame{Table: r.table}))
	}
	r.buf, r.lastBuf = r.lastBuf, r.buf
	r.Count++
	return nil
}

// decode decodes the records in buf into table, sets changed, and reports whether all values are in
// their ranges. It decodes only rows that differ from the frame before, which are few.
func (r *Recording) decode() (good bool) {
	good = true
	r.changed.Clear()
	const group = 8 // rows that are compared at once
	for first := 0; first < r.schema.Rows; first += group {
		end := min(first+group, r.schema.Rows)
		if bytes.Equal(r.buf[first*recordBytes:end*recordBytes], r.lastBuf[first*recordBytes:end*recordBytes]) {
			continue
		}
		for i := first; i < end; i++ {
			newRecord, lastRecord := r.buf[i*recordBytes:][:recordBytes], r.lastBuf[i*recordBytes:][:recordBytes]
			if !bytes.Equal(newRecord, lastRecord) {
				good = r.ranges.decode(r.table[i*frame.CubeFields:][:frame.CubeFields], newRecord) && good
				r.changed.Add(i)
			}
		}
	}
	return good
}

// truncatedError returns the error for a file that ends with left bytes of a frame after the given
// number of frames. It suggests a number of cubes with which the length would be right.
func (r *Recording) truncatedError(frames, left int64) error {
	hint := ""
	if n := r.guessCubes(frames*int64(len(r.buf)) + left); n > 0 {
		hint = fmt.Sprintf("; the size fits %d cubes", n)
	}
	return fmt.Errorf("%w: %d bytes after %d frames of %d cubes (%d bytes each)%s",
		ErrTruncated, left, frames, r.schema.Rows, len(r.buf), hint)
}

// guessCubes returns the number of cubes in a recording of size bytes: the smallest number with which
// the first six frames are equal and the size is a multiple of the frame size. It returns 0 if there
// is none.
func (r *Recording) guessCubes(size int64) int {
	const maxCubes = 4096 // bounds the memory and the time of the search
	if r.In.Rewind() != nil {
		return 0
	}
	head := make([]byte, maxCubes*recordBytes*preamble)
	n, _ := r.In.Fill(head)
	head = head[:n]
	for cubes := 1; cubes <= maxCubes && cubes*recordBytes*preamble <= n; cubes++ {
		frameBytes := cubes * recordBytes
		// Frames 0 to 4 equal frames 1 to 5 exactly if all six are equal.
		if size%int64(frameBytes) == 0 && bytes.Equal(head[:frameBytes*(preamble-1)], head[frameBytes:frameBytes*preamble]) {
			return cubes
		}
	}
	return 0
}

// Schema describes the frames.
func (r *Recording) Schema() *frame.Schema { return r.schema }

// Initial fills f with frame 0.
func (r *Recording) Initial(f *frame.Frame) { f.CopyFrom(&r.initial) }

// Next fills f with the next frame, which is frame 6 at first. After an error, all calls return that
// error.
func (r *Recording) Next(f *frame.Frame) error { return r.Fill(f, r.next) }

// next fills f with the next frame. Next adds the number of the frame, and keeps the first error.
func (r *Recording) next(f *frame.Frame) error {
	if err := r.advance(); err == io.EOF {
		return err
	} else if err != nil {
		return &source.Error{File: r.Path, Problem: err.Error(), Kind: err}
	}
	f.Table, f.Body = append(f.Table[:0], r.table...), f.Body[:0]
	return nil
}

// advance sets table and changed to the next frame. The frame comes from the file or, in later rounds of a loop,
// from the reel, which stores all frames in memory once it is complete. At the end of a recording that does not
// loop it returns io.EOF.
func (r *Recording) advance() error {
	if r.reelComplete {
		r.Restart = r.reel.play(r.table, r.changed)
		return nil
	}
	err := r.readFrame()
	r.Restart = false
	if err == io.EOF {
		r.Total = r.Count
		if r.Loop {
			return r.startRound()
		}
	}
	if err == nil && r.reel != nil {
		r.reel.add(r.changed, r.table)
		if r.reel.full() {
			r.reel = nil // later rounds read the file again
		}
	}
	return err
}

// startRound starts another round at the end of the file: it sets table to the first frame after the
// preamble. If the reel has all frames, it is complete now and is played from here on; otherwise the
// file is read again.
func (r *Recording) startRound() error {
	r.Restart = true
	if r.reel != nil {
		r.reel.closeLoop(r.initial.Table, r.table)
		r.reelComplete = true
		r.In.Close()
		return r.advance() // plays the first frame of the reel
	}
	if err := r.rewind(); err != nil {
		return err
	}
	return r.readFrame()
}

// Changed returns the rows in which the newest frame differs from the frame before, or from the initial
// state for the first frame.
func (r *Recording) Changed() frame.Rows { return r.changed }

// Preamble returns an error that wraps ErrPreamble if frames 1 to 5 differ from frame 0, otherwise nil.
// Such a recording can be played, but the walk-off's rules do not allow it.
func (r *Recording) Preamble() error { return r.preambleErr }
