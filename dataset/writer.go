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

// recordingWriter writes a walk-off recording: raw records, or compressed if the path ends in .zst or
// .gz. It writes to a temporary file in the same folder, which Close renames to the path, so that an
// incomplete recording never appears there.
type recordingWriter struct {
	path       string
	schema     *frame.Schema
	file       *atomicfile.File // the temporary file; nil after Close or Abort
	buf        *bufio.Writer
	compressor io.WriteCloser // the compressor; nil for raw records
	out        io.Writer      // compressor, or buf for raw records
	records    []byte         // buffer for the records of a frame
	frames     int            // number of frames written
	err        error          // the first error, which all later calls return
}

// zstdWindow returns the window size in bytes for a .zst file: the lowest power of two that holds eight
// frames. Matches further back hardly ever improve on the last frames, and readers need memory for
// the window.
func zstdWindow(s *frame.Schema) int {
	w := zstd.MinWindowSize
	for w < 8*s.Rows*recordBytes {
		w *= 2
	}
	return w
}

// Create starts a recording at path with the given number of cubes; 0 means 901. If path is a symbolic
// link, its target is written. disk is nil except in tests, which use it to inject faults.
func Create(disk *atomicfile.Disk, path string, cubes int) (*recordingWriter, error) {
	schema, err := cubeSchema(cubes)
	if err != nil {
		return nil, err
	}
	// Renaming a file over /dev/null or a pipe would replace the device or pipe.
	if info, err := os.Stat(path); path == "" || (err == nil && !info.Mode().IsRegular()) {
		return nil, fmt.Errorf("%w: cannot write to %q, expected the path of a file", ErrSpec, path)
	}
	file, err := disk.Create(path)
	if errors.Is(err, atomicfile.ErrDangling) {
		return nil, fmt.Errorf("%w: %q is a %v, expected the path of a file", ErrSpec, path, atomicfile.ErrDangling)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be written: %w", path, err)
	}
	w := &recordingWriter{path: path, schema: schema, file: file, buf: bufio.NewWriterSize(file, 1<<16)}
	w.out = w.buf
	switch unpack.FromPath(path) {
	case unpack.Zstd:
		w.compressor, err = zstd.NewWriter(w.buf, zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(zstdWindow(schema)))
	case unpack.Gzip:
		w.compressor, err = gzip.NewWriterLevel(w.buf, gzip.BestCompression)
	}
	if err != nil {
		w.Abort()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if w.compressor != nil {
		w.out = w.compressor
	}
	return w, nil
}

// Initial writes the initial state as frames 0 to 5. It must be called first, and only once.
func (w *recordingWriter) Initial(f *frame.Frame) error {
	if w.frames > 0 {
		panic("dataset: Initial must be called first and only once")
	}
	for range preamble {
		if err := w.write(f); err != nil {
			return err
		}
	}
	return nil
}

// Write writes a frame. It fails if a value is out of range, as a reader would. After an error, all
// calls return that error, so that a recording has no gaps.
func (w *recordingWriter) Write(f *frame.Frame) error {
	if w.frames < preamble && w.err == nil {
		panic("dataset: Initial must be called before Write")
	}
	return w.write(f)
}

// write writes a frame, which may belong to the preamble. It stores the first error in w.err.
func (w *recordingWriter) write(f *frame.Frame) error {
	if w.err != nil {
		return w.err
	}
	if err := w.schema.Check(f); err != nil {
		w.err = fmt.Errorf("%s: frame %d, %w", w.path, w.frames, err)
		return w.err
	}
	w.records = appendRecords(w.records[:0], f)
	if _, err := w.out.Write(w.records); err != nil {
		w.err = fmt.Errorf("%s: frame %d: %w", w.path, w.frames, err)
		return w.err
	}
	w.frames++
	return nil
}

// Close completes the recording and renames it to its path, replacing an existing file. If there was an
// error before, or if the recording has fewer than seven frames, Close fails and removes it.
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

// finish checks the number of frames and flushes the compressor and the buffer.
func (w *recordingWriter) finish() error {
	if w.err != nil {
		return w.err
	}
	if w.frames < minFrames {
		return fmt.Errorf("%s: %w: %d frames, expected at least %d", w.path, ErrFormat, w.frames, minFrames)
	}
	if w.compressor != nil {
		if err := w.compressor.Close(); err != nil {
			return fmt.Errorf("%s: %w", w.path, err)
		}
	}
	if err := w.buf.Flush(); err != nil {
		return fmt.Errorf("%s: %w", w.path, err)
	}
	return nil
}

// Abort removes the temporary file and does not change the file at the path. After Close it does
// nothing, so that it can be deferred.
func (w *recordingWriter) Abort() {
	if w.file == nil {
		return
	}
	_ = w.file.Abort() // the error is ignored: later programs remove the file if it cannot be removed now
	w.file, w.err = nil, fmt.Errorf("%s: %w", w.path, source.ErrClosed)
}
