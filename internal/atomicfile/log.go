package atomicfile

import (
	"bytes"
	"io"
	"io/fs"
	"path/filepath"
)

// Log is a file of a folder that grows between Writes of the folder, such as a table of samples. It
// takes constant memory: a temporary file holds what does not fit, and each Write of the folder
// copies it from there.
type Log struct {
	folder *Folder
	name   string
	buf    []byte // content that is not yet in the temporary file
	file   *File  // the temporary file; nil while the log fits in memory
	size   int64  // size of the temporary file
	err    error  // the first error, which all later calls return
}

// logBuffer is the size of the part of a log in memory, in bytes.
const logBuffer = 1 << 18

// Log begins a log with this name. It becomes part of the folder when an Entry refers to it.
func (f *Folder) Log(name string) *Log {
	l := &Log{folder: f, name: name}
	f.logs = append(f.logs, l)
	return l
}

// Write implements io.Writer. It moves the buffer to the temporary file when that is full.
func (l *Log) Write(p []byte) (int, error) {
	l.buf = append(l.buf, p...)
	if len(l.buf) < logBuffer || l.err != nil {
		return len(p), l.err
	}
	if l.file == nil {
		l.err = l.open()
	}
	if l.err == nil {
		_, l.err = l.file.Write(l.buf)
		l.size += int64(len(l.buf))
		l.buf = l.buf[:0]
	}
	return len(p), l.err
}

// open creates the temporary file next to the folder, because Folder.Write replaces the folder. If the
// folder is written in place, or if its parent is not writable, open creates the file in the folder.
func (l *Log) open() (err error) {
	f := l.folder
	if !f.inPlace {
		l.file, err = f.disk.Create(f.path)
		f.inPlace = isNotReplaceable(err)
	}
	if f.inPlace {
		l.file, err = f.disk.Create(filepath.Join(f.path, l.name))
	}
	return err
}

// copyTo writes the content of the log to w: first the part in the temporary file, then the buffer.
func (l *Log) copyTo(w io.Writer) error {
	if l.err != nil {
		return l.err
	}
	var spilled io.Reader = bytes.NewReader(nil)
	if l.file != nil {
		spilled = io.NewSectionReader(l.file, 0, l.size)
	}
	_, err := io.Copy(w, io.MultiReader(spilled, bytes.NewReader(l.buf)))
	return err
}

// close removes the temporary file. Later calls of Write fail.
func (l *Log) close() error {
	l.err = &fs.PathError{Op: "write", Path: filepath.Join(l.folder.path, l.name), Err: fs.ErrClosed}
	if l.file == nil {
		return nil
	}
	return l.file.Abort()
}
