package engine

import (
	"errors"
	"io"

	"wirelab/dataset"
	"wirelab/dataset/frame"
)

// feed reads the frames of a source. A source that can end is read one frame ahead: the session
// must know its end before it handles any event of that instant.
type feed struct {
	source dataset.Source
	pool   *frame.Pool
	cells  int           // of a row
	cur    *frame.Shared // the newest frame; at first the initial state. It must not be modified.
	ahead  *frame.Shared // the frame after cur; nil if the source never ends
	ticks  uint64        // frames taken

	restarts bool   // the recording restarts before the frame that was read last (a seam)
	err      error  // of reading that frame; reported when it is due
	over     bool   // the source has ended
	lastTick uint64 // ticks when it did
}

// newFeed returns the feed of a source, with the initial state as the newest frame.
func newFeed(src dataset.Source, initial *frame.Frame) feed {
	f := feed{source: src, pool: frame.NewPool(src.Schema()), cells: len(src.Schema().Fields)}
	f.cur = f.pool.Take()
	f.cur.CopyFrom(initial)
	return f
}

// next takes the next frame, and reports whether the recording restarted before it.
func (f *feed) next() (restarted bool, err error) {
	next, readsAhead := f.ahead, f.ahead != nil
	if !readsAhead {
		next = f.read()
	}
	if f.err != nil {
		return false, f.err
	}
	restarted = f.restarts
	f.cur.Release()
	f.cur = next
	f.ticks++
	if readsAhead {
		f.ahead = f.read()
	}
	return restarted, nil
}

// read reads the frame after cur.
func (f *feed) read() *frame.Shared {
	next := f.pool.Take()
	f.err = f.source.Next(&next.Frame)
	if errors.Is(f.err, io.EOF) {
		f.over, f.lastTick, f.err = true, f.ticks, nil
		return next
	}
	s, ok := f.source.(dataset.Seamed)
	f.restarts = ok && s.Seam()
	if t, ok := f.source.(dataset.Tracked); ok {
		copy(next.Changed, t.Changed())
	} else if f.err == nil {
		next.Changed.Compare(next.Table, f.cur.Table, f.cells)
	}
	return next
}

// close releases the source.
func (f *feed) close() error {
	if c, ok := f.source.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
