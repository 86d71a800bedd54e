package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/internal/atomicfile"
	"wirelab/internal/unpack"
)

// recordingWriter writes a walk-off recording: raw records, or compressed if the path
// ends in .zst or .gz. The recording appears at its path whole or not at all: it
// is written beside it and renamed by Close.
type recordingWriter struct {
	path   string
	schema *frame.Schema
	file   *atomicfile.File // beside path, until Close
	buf    *bufio.Writer
	pack   io.WriteCloser // nil if raw
	out    io.Writer
	rec    []byte
	frames int
	err    error // sticky
}

// window returns how far back a .zst file is to look for what repeats: eight
// frames or a little more, as a power of two. Farther back there is nothing that
// the last frames do not show better, and a reader would need the memory.
func window(s *frame.Schema) int {
	w := zstd.MinWindowSize
	for w < 8*s.Rows*recordBytes {
		w *= 2
	}
	return w
}

// Create begins a recording of frames with this number of cubes; 0 means 901. It fails if path
// cannot be written. If path is a link, the file that it leads to is written. A nil disk is the
// machine's.
func Create(disk *atomicfile.Disk, path string, cubes int) (*recordingWriter, error) {
	schema, err := cubeSchema(cubes)
	if err != nil {
		return nil, err
	}
	// Renaming a file over /dev/null or a pipe would replace the thing itself.
	if info, err := os.Stat(path); path == "" || (err == nil && !info.Mode().IsRegular()) {
		return nil, fmt.Errorf("%w: cannot write to %q, expected the path of a file", ErrSpec, path)
	}
	file, err := disk.Create(path)
	if errors.Is(err, atomicfile.ErrDangling) {
		return nil, fmt.Errorf("%w: %q is a link to nothing, expected the path of a file", ErrSpec, path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be written: %w", path, err)
	}
	w := &recordingWriter{path: path, schema: schema, file: file, buf: bufio.NewWriterSize(file, 1<<16)}
	w.out = w.buf
	switch unpack.Named(path) {
	case unpack.Zstd:
		w.pack, err = zstd.NewWriter(w.buf, zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(window(schema)))
	case unpack.Gzip:
		w.pack, err = gzip.NewWriterLevel(w.buf, gzip.BestCompression)
	}
	if err != nil {
		w.Abort()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if w.pack != nil {
		w.out = w.pack
	}
	return w, nil
}

// Initial writes the initial state, as frames 0..5. It comes first, and once.
func (w *recordingWriter) Initial(f *frame.Frame) error {
	if w.frames > 0 {
		panic("dataset: Writer.Initial comes first, and once")
	}
	for range preamble {
		if err := w.write(f); err != nil {
			return err
		}
	}
	return nil
}

// Write writes one further frame. It refuses values that a reader would refuse,
// and after any error everything: a recording has no holes.
func (w *recordingWriter) Write(f *frame.Frame) error {
	if w.frames < preamble && w.err == nil {
		panic("dataset: Writer.Initial comes before Writer.Write")
	}
	return w.write(f)
}

func (w *recordingWriter) write(f *frame.Frame) error {
	if w.err != nil {
		return w.err
	}
	if err := w.schema.Check(f); err != nil {
		w.err = fmt.Errorf("%s: frame %d, %w", w.path, w.frames, err)
		return w.err
	}
	w.rec = appendRecords(w.rec[:0], f)
	if _, err := w.out.Write(w.rec); err != nil {
		w.err = fmt.Errorf("%s: frame %d: %w", w.path, w.frames, err)
		return w.err
	}
	w.frames++
	return nil
}

// Close completes the recording and puts it in its place, over what was there.
// It fails, and leaves nothing, if there was an error before or if the recording
// has fewer than seven frames.
func (w *recordingWriter) Close() error {
	if w.file == nil {
		return fmt.Errorf("%s: %w", w.path, source.ErrClosed)
	}
	if err := w.finish(); err != nil {
		w.Abort()
		return err
	}
	err := w.file.Commit(0o644)
	w.file, w.err = nil, fmt.Errorf("%s: %w", w.path, source.ErrClosed)
	return err
}

// finish writes what is still in memory.
func (w *recordingWriter) finish() error {
	if w.err != nil {
		return w.err
	}
	if w.frames < leastFrames {
		return fmt.Errorf("%s: %w: %d frames, expected at least %d", w.path, ErrFormat, w.frames, leastFrames)
	}
	if w.pack != nil {
		if err := w.pack.Close(); err != nil {
			return fmt.Errorf("%s: %w", w.path, err)
		}
	}
	if err := w.buf.Flush(); err != nil {
		return fmt.Errorf("%s: %w", w.path, err)
	}
	return nil
}

// Abort throws away what was written and leaves whatever was at the path. After
// Close it does nothing, so it can be deferred.
func (w *recordingWriter) Abort() {
	if w.file == nil {
		return
	}
	_ = w.file.Abort() // what cannot be removed now goes in a day
	w.file, w.err = nil, fmt.Errorf("%s: %w", w.path, source.ErrClosed)
}
