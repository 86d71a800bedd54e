package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Log is a file of a folder that grows from one Write of the folder to the next, such as a
// table of samples. It takes constant memory, and a Write of the folder costs what was added
// since the one before. To that end two files with the same content alternate: one is linked
// into the folder, where a reader may have it open, while the other one grows. A short log
// stays in memory.
type Log struct {
	folder  *Folder
	name    string
	buf     []byte   // not yet in a file
	files   [2]*File // nil while the log is short
	size    [2]int64 // of the log in each file
	growing int      // index of the file that grows
	linked  bool     // that file is in the folder that is being written
	err     error    // sticky
}

// logBuffer is the size of the part of a log that is in memory.
const logBuffer = 1 << 18

// Log begins a log with this name. It is in the folder once an Entry refers to it.
func (f *Folder) Log(name string) *Log {
	l := &Log{folder: f, name: name}
	f.logs = append(f.logs, l)
	return l
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.buf = append(l.buf, p...)
	if len(l.buf) >= logBuffer {
		l.flush()
	}
	return len(p), l.err
}

// flush moves the buffer to the file that grows, after what only the other file contains.
func (l *Log) flush() {
	if l.err == nil && l.files[0] == nil {
		l.err = l.open()
	}
	to, from := l.growing, 1-l.growing
	if l.err == nil && l.size[to] < l.size[from] {
		missing := io.NewSectionReader(l.files[from], l.size[to], l.size[from]-l.size[to])
		_, l.err = io.Copy(io.NewOffsetWriter(l.files[to], l.size[to]), missing)
		l.size[to] = l.size[from]
	}
	if l.err == nil {
		_, l.err = l.files[to].WriteAt(l.buf, l.size[to])
		l.size[to] += int64(len(l.buf))
		l.buf = l.buf[:0]
	}
}

// open creates the two files, beside the folder if possible.
func (l *Log) open() (err error) {
	f := l.folder
	for i := range l.files {
		if !f.inPlace {
			l.files[i], err = f.disk.Create(f.path)
			f.inPlace = isFixed(err)
		}
		if f.inPlace {
			l.files[i], err = f.disk.Create(filepath.Join(f.path, l.name))
		}
		if err != nil {
			break
		}
	}
	return err
}

// reader returns the content of the log.
func (l *Log) reader() io.Reader {
	if l.files[0] == nil {
		return bytes.NewReader(l.buf)
	}
	return io.MultiReader(io.NewSectionReader(l.files[l.growing], 0, l.size[l.growing]), bytes.NewReader(l.buf))
}

// link links path to the file that grows, with what tail writes at its end. It returns false
// if the log is short or the system cannot link an open file: then the log must be copied.
func (l *Log) link(path string, tail func(io.Writer) error) (bool, error) {
	if l.err != nil || l.files[0] == nil || runtime.GOOS == "windows" {
		return false, l.err
	}
	l.flush()
	if l.err != nil {
		return false, l.err
	}
	file, size := l.files[l.growing], l.size[l.growing]
	w := io.NewOffsetWriter(file, size)
	err := tail(w)
	if err == nil {
		written, _ := w.Seek(0, io.SeekCurrent)
		err = file.tmp.Truncate(size + written)
	}
	if err == nil {
		err = file.flush(0o644)
	}
	if err == nil {
		l.linked = l.folder.disk.do(Link, path, func() error { return os.Link(file.tmp.Name(), path) }) == nil
	}
	return l.linked, err
}

// alternate is called after a Write of the folder: the file in it must not change any more.
func (l *Log) alternate() {
	if l.linked {
		l.growing, l.linked = 1-l.growing, false
	}
}

// close removes the files.
func (l *Log) close() (err error) {
	for _, file := range l.files {
		if file != nil {
			err = errors.Join(err, file.Abort())
		}
	}
	l.err = &fs.PathError{Op: "write", Path: filepath.Join(l.folder.path, l.name), Err: fs.ErrClosed}
	return err
}
