package atomicfile

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Log is a file of a folder that grows from one Write of the folder to the next, such as
// a table of hours. What it holds is on the disk, not in memory, and a Write costs what
// came since the one before. Two files of the same content take turns: one is in the
// folder and stays as it is, the other one grows beside it. A small one is in memory, and
// written anew each time.
type Log struct {
	folder *Folder
	name   string
	buf    []byte      // not yet in a file
	files  [2]*os.File // nil while all fits in buf
	size   [2]int64    // of what was written to each, without a tail
	grows  int         // which one grows
	shown  bool        // that one is in the folder about to be written
	err    error       // the first, which all later calls return
}

// logBuffer is how much of a log is in memory.
const logBuffer = 1 << 18

// Log begins a file of that name; it is in the folder once an Entry has it. Close removes
// what it needs beside the folder.
func (f *Folder) Log(name string) *Log { return &Log{folder: f, name: name} }

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	if l.buf = append(l.buf, p...); len(l.buf) >= logBuffer {
		l.err = l.flush()
	}
	return len(p), l.err
}

// flush moves what is in memory into the file that grows.
func (l *Log) flush() error {
	if l.err != nil {
		return l.err
	}
	as := filepath.Join(l.folder.path, l.name)
	err := l.open()
	if err == nil {
		err = l.folder.disk.fault(Write, as)
	}
	if err == nil {
		err = l.follow()
	}
	if err == nil {
		_, err = l.files[l.grows].WriteAt(l.buf, l.size[l.grows])
	}
	if err != nil {
		return about(as, err)
	}
	l.size[l.grows] += int64(len(l.buf))
	l.buf = l.buf[:0]
	return nil
}

// open makes the two files, unless they are there.
func (l *Log) open() error {
	if l.files[0] != nil {
		return nil
	}
	dir, err := l.folder.besides()
	for i := range l.files {
		if err == nil {
			l.files[i], err = os.OpenFile(filepath.Join(dir, l.name+"."+string(rune('a'+i))), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		}
	}
	if err == nil {
		l.folder.logs = append(l.folder.logs, l)
	}
	return err
}

// follow gives the file that grows what only the other one has.
func (l *Log) follow() error {
	to, from := l.grows, 1-l.grows
	if l.size[to] >= l.size[from] {
		return nil
	}
	missing := io.NewSectionReader(l.files[from], l.size[to], l.size[from]-l.size[to])
	n, err := io.Copy(io.NewOffsetWriter(l.files[to], l.size[to]), missing)
	l.size[to] += n
	return err
}

// put makes the content, with a tail that comes to it this once, a new file at path,
// which is called as in errors.
func (l *Log) put(path, as string, tail func(io.Writer) error) error {
	d := l.folder.disk
	if l.err == nil && l.files[0] != nil {
		l.err = l.flush()
	}
	if l.err != nil {
		return l.err
	}
	if l.files[0] == nil {
		return d.writeNew(path, as, Entry{Write: func(w io.Writer) error {
			if _, err := w.Write(l.buf); err != nil {
				return err
			}
			return tail(w)
		}})
	}
	file := l.files[l.grows]
	end := &tailWriter{OffsetWriter: io.NewOffsetWriter(file, l.size[l.grows])}
	if err := tail(end); err != nil {
		return err
	}
	if err := file.Truncate(l.size[l.grows] + end.n); err != nil {
		return err
	}
	if err := d.settle(file, as, 0o644); err != nil {
		return err
	}
	if linksOpen && d.fault(Link, as) == nil && os.Link(file.Name(), path) == nil {
		l.shown = true
		return nil
	}
	all := io.NewSectionReader(file, 0, l.size[l.grows]+end.n) // a disk that knows no links
	return d.writeNew(path, as, Entry{Write: func(w io.Writer) error { _, err := io.Copy(w, all); return err }})
}

// turn is called when the folder was written: the file in it stays as it is.
func (l *Log) turn() {
	if l.shown {
		l.grows, l.shown = 1-l.grows, false
	}
}

// tailWriter counts what is written.
type tailWriter struct {
	*io.OffsetWriter
	n int64
}

func (t *tailWriter) Write(p []byte) (int, error) {
	n, err := t.OffsetWriter.Write(p)
	t.n += int64(n)
	return n, err
}

// besides is a temporary folder on the same disk, where logs are; Close removes it.
func (f *Folder) besides() (dir string, err error) {
	if f.beside != "" {
		return f.beside, nil
	}
	if !f.inPlace {
		f.beside, err = f.disk.tempDir(filepath.Dir(f.path))
		f.inPlace = fixed(err)
	}
	if f.inPlace {
		f.beside, err = f.disk.tempDir(f.path)
	}
	return f.beside, err
}

// Close removes what the logs of the folder needed beside it. The folder stays, unless it was made
// for a run of which nothing was written.
func (f *Folder) Close() error {
	defer f.disk.RemoveEmpty(f.made)
	for _, l := range f.logs {
		for _, file := range l.files {
			_ = file.Close() // what counts was synced when it was put in the folder
		}
		l.err = &fs.PathError{Op: "write", Path: filepath.Join(f.path, l.name), Err: fs.ErrClosed}
	}
	f.logs = nil
	dir := f.beside
	if f.beside = ""; dir == "" {
		return nil
	}
	return about(f.path, f.disk.RemoveAll(dir))
}
