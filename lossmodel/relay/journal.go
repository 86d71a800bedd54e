package relay

import (
	"cmp"
	"sync"
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

	mu      sync.Mutex
	pending []*eventBlock // blocks to be written, in order
	free    []*eventBlock // empty blocks for reuse
	blocks  int           // number of allocated blocks
	skipped uint64
	stopped bool // all Writers have failed
}

// eventBlock holds events and their payloads. Its size is fixed: growing would copy data while
// the relay's lock is held and delay datagrams.
type eventBlock struct {
	entries [64]journalEntry
	n       int    // number of entries in use
	data    []byte // payloads of the entries; the capacity is blockBytes
}

// journalEntry is an event with its own copy of the trail.
type journalEntry struct {
	Event
	trail lossmodel.Trail
}

const (
	flushInterval = 100 * time.Millisecond
	maxBlocks     = 768     // largest number of blocks; they take about 100 MB
	maxFreeBlocks = 64      // empty blocks kept for reuse
	blockBytes    = 1 << 16 // bytes for the payloads of a block: room for the largest datagram
)

// NewJournal returns a journal that passes events to writers until it is closed. onError, if not
// nil, is called by the journal's goroutine once for each Writer that fails, with its index.
func NewJournal(onError func(i int, err error), writers ...Writer) *Journal {
	j := &Journal{writers: writers, onError: onError, errs: make([]error, len(writers)), quit: make(chan struct{}),
		done: make(chan struct{})}
	go func() {
		defer close(j.done)
		panics.Guard(j.fail, j.run)()
	}()
	return j
}

// Tap stores a copy of an event, of its data and of its trail for the Writers. It skips and counts
// the event if the limit of blocks is reached, and ignores it if all Writers have failed.
func (j *Journal) Tap(e *Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.stopped {
		return
	}
	block := j.blockFor(len(e.Data))
	if block == nil {
		j.skipped++
		return
	}
	entry := &block.entries[block.n]
	block.n++
	from := len(block.data)
	block.data = append(block.data, e.Data...)
	entry.Event = *e
	entry.Data = block.data[from:]
	if e.Trail != nil {
		entry.trail.N = copy(entry.trail.Steps[:], e.Trail.All())
		entry.Trail = &entry.trail
	}
}

// blockFor returns the block for an event with a payload of the given size in bytes: the last
// pending block if it has room, otherwise an empty one, which it appends to the pending blocks. It
// returns nil if the limit of blocks is reached. j.mu must be held.
func (j *Journal) blockFor(bytes int) *eventBlock {
	if n := len(j.pending); n > 0 {
		if block := j.pending[n-1]; block.n < len(block.entries) && len(block.data)+bytes <= blockBytes {
			return block
		}
	}
	var block *eventBlock
	switch n := len(j.free); {
	case n > 0:
		block, j.free = j.free[n-1], j.free[:n-1]
	case j.blocks == maxBlocks:
		return nil
	default:
		block = &eventBlock{data: make([]byte, 0, blockBytes)}
		j.blocks++
	}
	j.pending = append(j.pending, block)
	return block
}

// Close writes the remaining events. It returns the number of skipped events and the first error
// of each Writer, nil if none.
func (j *Journal) Close() (skipped uint64, errs []error) {
	close(j.quit)
	<-j.done
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.skipped, j.errs
}

// run writes pending events at every flushInterval until quit is closed.
func (j *Journal) run() {
	tick := time.NewTicker(flushInterval)
	defer tick.Stop()
	var written []*eventBlock // the list of the previous call of writePending, reused by the next
	for {
		select {
		case <-tick.C:
			written = j.writePending(written)
		case <-j.quit:
			j.writePending(written)
			return
		}
	}
}

// writePending passes the events of all pending blocks to the Writers. The memory of empty, a list that is no
// longer used, becomes the new list of pending blocks. writePending returns the list of written blocks, which
// the caller passes as empty to the next call.
func (j *Journal) writePending(empty []*eventBlock) []*eventBlock {
	j.mu.Lock()
	batch := j.pending
	j.pending = empty[:0]
	j.mu.Unlock()
	for _, block := range batch {
		for i := range block.entries[:block.n] {
			j.forEachWriter(func(w Writer) error { return w.Write(&block.entries[i].Event) })
		}
		block.n, block.data = 0, block.data[:0]
		j.mu.Lock() // locks and unlocks for each block, because Tap needs free blocks meanwhile
		if len(j.free) < maxFreeBlocks {
			j.free = append(j.free, block)
		} else {
			j.blocks--
		}
		j.mu.Unlock()
	}
	j.forEachWriter(Writer.Flush) // flushes even without events, so that headers are written
	return batch
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
		j.stop()
	}
}

// fail sets the error of all Writers that have none, after a panic of the journal's goroutine.
func (j *Journal) fail(err error) {
	for i := range j.errs {
		j.errs[i] = cmp.Or(j.errs[i], err)
	}
	j.stop()
}

// stop makes Tap ignore further events.
func (j *Journal) stop() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stopped = true
}
