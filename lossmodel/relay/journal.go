package relay

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"

	"wirelab/internal/panics"
	"wirelab/lossmodel"
)

// Writer writes events, for example to a file. Its methods are called by one goroutine.
type Writer interface {
	Write(*Event) error
	Flush() error
}

// Journal is a Tap that passes events to Writers in its own goroutine, so that a slow disk does
// not delay datagrams. Events waiting to be written are bounded; further events are skipped and
// counted. A Writer that failed is not called again.
type Journal struct {
	writers []Writer
	onError func(i int, err error) // called when a Writer fails; may be nil
	errs    []error                // first error of each Writer; accessed by the goroutine only until done is closed
	quit    chan struct{}
	done    chan struct{}

	waiting      chan *journalEntry
	waitingBytes atomic.Int64  // memory of the payloads of waiting entries
	unused       sync.Pool     // entries that were written
	skipped      atomic.Uint64 // events that there was no room for
	stopped      atomic.Bool   // all Writers have failed
}

// journalEntry is an event with its own copies of the payload and of the trail.
type journalEntry struct {
	Event
	trail lossmodel.Trail
}

const (
	flushInterval   = 100 * time.Millisecond
	maxWaiting      = 1 << 15  // events
	maxWaitingBytes = 64 << 20 // memory of their payloads in bytes
)

// NewJournal returns a journal that passes events to writers until it is closed. onError, if not
// nil, is called by the journal's goroutine once for each Writer that fails, with its index.
func NewJournal(onError func(i int, err error), writers ...Writer) *Journal {
	j := &Journal{writers: writers, onError: onError, errs: make([]error, len(writers)), quit: make(chan struct{}),
		done: make(chan struct{}), waiting: make(chan *journalEntry, maxWaiting)}
	go func() {
		defer close(j.done)
		panics.Guard(j.fail, j.run)()
	}()
	return j
}

// Tap stores a copy of an event, of its data and of its trail for the Writers. It skips and counts
// the event if too many are waiting, and ignores it if all Writers have failed.
func (j *Journal) Tap(e *Event) {
	if j.stopped.Load() {
		return
	}
	entry, _ := j.unused.Get().(*journalEntry)
	if entry == nil {
		entry = &journalEntry{}
	}
	data := append(entry.Data[:0], e.Data...)
	entry.Event = *e
	entry.Data = data
	if e.Trail != nil {
		entry.trail.N = copy(entry.trail.Steps[:], e.Trail.All())
		entry.Trail = &entry.trail
	}
	if j.waitingBytes.Add(int64(cap(data))) <= maxWaitingBytes {
		select {
		case j.waiting <- entry:
			return
		default:
		}
	}
	j.skipped.Add(1)
	j.release(entry)
}

// release keeps an entry that no longer waits for reuse.
func (j *Journal) release(entry *journalEntry) {
	j.waitingBytes.Add(-int64(cap(entry.Data)))
	j.unused.Put(entry)
}

// Close writes the remaining events. It returns the number of skipped events and the first error
// of each Writer, nil if none.
func (j *Journal) Close() (skipped uint64, errs []error) {
	close(j.quit)
	<-j.done
	return j.skipped.Load(), j.errs
}

// run writes events until quit is closed, and flushes the Writers at every flushInterval.
func (j *Journal) run() {
	tick := time.NewTicker(flushInterval)
	defer tick.Stop()
	for {
		select {
		case entry := <-j.waiting:
			j.write(entry)
		case <-tick.C:
			j.forEachWriter(Writer.Flush) // also without events, so that headers are written
		case <-j.quit:
			for len(j.waiting) > 0 {
				j.write(<-j.waiting)
			}
			j.forEachWriter(Writer.Flush)
			return
		}
	}
}

// write passes an event to the Writers.
func (j *Journal) write(entry *journalEntry) {
	j.forEachWriter(func(w Writer) error { return w.Write(&entry.Event) })
	j.release(entry)
}

// forEachWriter calls f for each Writer that has not failed. It stops the journal when all have
// failed.
func (j *Journal) forEachWriter(f func(Writer) error) {
	working := 0
	for i, w := range j.writers {
		if j.errs[i] != nil {
			continue
		}
		j.errs[i] = panics.Call(func() error { return f(w) })
		if j.errs[i] == nil {
			working++
		} else if j.onError != nil {
			j.onError(i, j.errs[i])
		}
	}
	if working == 0 {
		j.stopped.Store(true)
	}
}

// fail sets the error of all Writers that have none, after a panic of the journal's goroutine.
func (j *Journal) fail(err error) {
	for i := range j.errs {
		j.errs[i] = cmp.Or(j.errs[i], err)
	}
	j.stopped.Store(true)
}
