package relay

import (
	"cmp"
	"sync"
	"time"

	"wirelab/internal/panics"
	"wirelab/lossmodel"
)

// Writer writes events somewhere. Its methods are called by one goroutine.
type Writer interface {
	Write(*Event) error
	Flush() error
}

// Journal is a Tap that hands events to Writers in a goroutine of its own, so that a slow
// disk never makes a datagram late. What it holds in between is bounded: beyond that,
// events are not written, and counted. A Writer that fails gets nothing more.
type Journal struct {
	outs   []Writer
	failed func(i int, err error)
	errs   []error // of each Writer; the goroutine's own until it is done
	quit   chan struct{}
	done   chan struct{}

	mu      sync.Mutex
	filling []*chunk
	free    []*chunk
	made    int // chunks there are
	skipped uint64
	idle    bool // all Writers have failed
}

// chunk is a run of events with their bytes. It never moves: a page that grew would be copied
// with the relay's lock held, and make datagrams late.
type chunk struct {
	entries [64]entry
	n       int
	data    []byte // of a fixed capacity
}

type entry struct {
	Event
	trail lossmodel.Trail
}

const (
	journalEvery  = 100 * time.Millisecond
	journalChunks = 768     // some 100 MB
	journalSpare  = 64      // of those, kept when they are empty
	chunkBytes    = 1 << 16 // any datagram
)

// NewJournal returns a journal that writes to outs until it is closed. failed, if not nil, is
// called by the journal's goroutine when a Writer fails, once for each.
func NewJournal(failed func(i int, err error), outs ...Writer) *Journal {
	j := &Journal{outs: outs, failed: failed, errs: make([]error, len(outs)), quit: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(j.done)
		panics.Guard(j.fail, j.run)()
	}()
	return j
}

// Tap notes an event.
func (j *Journal) Tap(e *Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.idle {
		return
	}
	c := j.room(len(e.Data))
	if c == nil {
		j.skipped++
		return
	}
	x := &c.entries[c.n]
	c.n++
	from := len(c.data)
	c.data = append(c.data, e.Data...)
	x.Event = *e
	x.Data = c.data[from:]
	if e.Trail != nil {
		x.trail.N = copy(x.trail.Steps[:], e.Trail.All())
		x.Trail = &x.trail
	}
}

// room returns the chunk that the next event goes to; nil if too much has not been written.
func (j *Journal) room(bytes int) *chunk {
	if n := len(j.filling); n > 0 {
		if c := j.filling[n-1]; c.n < len(c.entries) && len(c.data)+bytes <= chunkBytes {
			return c
		}
	}
	var c *chunk
	switch n := len(j.free); {
	case n > 0:
		c, j.free = j.free[n-1], j.free[:n-1]
	case j.made == journalChunks:
		return nil
	default:
		c = &chunk{data: make([]byte, 0, chunkBytes)}
		j.made++
	}
	j.filling = append(j.filling, c)
	return c
}

// Close writes what is left. It returns the first error of each Writer, and how many events
// were not written because of the disk's pace.
func (j *Journal) Close() (skipped uint64, errs []error) {
	close(j.quit)
	<-j.done
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.skipped, j.errs
}

func (j *Journal) run() {
	tick := time.NewTicker(journalEvery)
	defer tick.Stop()
	var page []*chunk
	for {
		select {
		case <-tick.C:
			page = j.write(page)
		case <-j.quit:
			j.write(page)
			return
		}
	}
}

// write hands over what has come together, and returns the memory of that list; empty is that of
// the last.
func (j *Journal) write(empty []*chunk) []*chunk {
	j.mu.Lock()
	page := j.filling
	j.filling = empty[:0]
	j.mu.Unlock()
	for _, c := range page {
		for i := range c.entries[:c.n] {
			j.each(func(w Writer) error { return w.Write(&c.entries[i].Event) })
		}
		c.n, c.data = 0, c.data[:0]
		j.mu.Lock() // one by one: what comes meanwhile needs room
		if len(j.free) < journalSpare {
			j.free = append(j.free, c)
		} else {
			j.made--
		}
		j.mu.Unlock()
	}
	j.each(Writer.Flush) // a header too, where nothing has happened
	return page
}

// each calls f for the Writers that have not failed.
func (j *Journal) each(f func(Writer) error) {
	left := 0
	for i, w := range j.outs {
		if j.errs[i] != nil {
			continue
		}
		j.errs[i] = panics.Call(func() error { return f(w) })
		if j.errs[i] == nil {
			left++
		} else if j.failed != nil {
			j.failed(i, j.errs[i])
		}
	}
	if left == 0 {
		j.stop()
	}
}

// fail makes err the error of all Writers that have none: the journal's goroutine has ended.
func (j *Journal) fail(err error) {
	for i := range j.errs {
		j.errs[i] = cmp.Or(j.errs[i], err)
	}
	j.stop()
}

// stop makes Tap note nothing more.
func (j *Journal) stop() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.idle = true
}
