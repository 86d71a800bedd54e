package engine

import (
	"errors"
	"io"

	"wirelab/dataset"
	"wirelab/dataset/frame"
)

// feed reads the frames of a source. A source that can end is read one frame ahead, because the
// session must know its end before it handles any event at that time.
type feed struct {
	source      dataset.Source
	pool        *frame.Pool
	cells       int           // values per row
	current     *frame.Shared // the newest frame; at first the initial state. It must not be modified.
	ahead       *frame.Shared // the frame after current; nil if the source never ends
	framesTaken uint64        // calls of next so far: the tick of the frame after current

	// State of the frame that was read last: ahead, or current if nothing is read ahead.
	restartsNext bool   // the recording restarted before that frame; false for other sources
	err          error  // error of reading that frame; next returns it when the frame is due
	ended        bool   // the source ended before that frame
	endTick      uint64 // tick of the first frame that the source does not have; set if ended
}

// newFeed returns a feed of src whose current frame is a copy of initial.
func newFeed(src dataset.Source, initial *frame.Frame) feed {
	f := feed{source: src, pool: frame.NewPool(src.Schema()), cells: len(src.Schema().Fields)}
	f.current = f.pool.Get()
	f.current.CopyFrom(initial)
	return f
}

// next makes the next frame the current one, and reports whether the recording restarted before it.
func (f *feed) next() (restarted bool, err error) {
	next, readsAhead := f.ahead, f.ahead != nil
	if !readsAhead {
		next = f.read()
	}
	if f.err != nil {
		return false, f.err
	}
	restarted = f.restartsNext
	f.current.Release()
	f.current = next
	f.framesTaken++
	if readsAhead {
		f.ahead = f.read()
	}
	return restarted, nil
}

// read reads one frame from the source. It sets f.restartsNext, and the rows in which the frame differs
// from the current one. It records an error in f.err and the end of the source in f.ended and f.endTick;
// then the content of the frame is undefined.
func (f *feed) read() *frame.Shared {
	next := f.pool.Get()
	f.err = f.source.Next(&next.Frame)
	if errors.Is(f.err, io.EOF) {
		f.ended, f.endTick, f.err = true, f.framesTaken, nil
		return next
	}
	s, ok := f.source.(dataset.Looping)
	f.restartsNext = ok && s.AtLoopPoint()
	if t, ok := f.source.(dataset.Tracked); ok {
		copy(next.Changed, t.Changed())
	} else if f.err == nil {
		next.Changed.SetDiffering(next.Table, f.current.Table, f.cells)
	}
	return next
}

// close closes the source, if it is an io.Closer.
func (f *feed) close() error {
	if c, ok := f.source.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
