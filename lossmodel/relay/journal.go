package relay

import (
	"sync"
	"time"

	"wirelab/lossmodel"
)

// Writer writes events somewhere. Its methods are called by one goroutine.
type Writer interface {
	Write(*Event) error
	Flush() error
}

// Journal is a Tap that hands events to a Writer in a goroutine of its own, so that a slow
// disk never makes a datagram late. What it holds in between is bounded: beyond that,
// events are not written, and counted.
type Journal struct {
	out  Writer
	quit chan struct{}
	done chan struct{}

	mu      sync.Mutex
	filling page
	skipped uint64
	err     error
	writing page // the goroutine's own
}

// page is a run of events with their bytes.
type page struct {
	entries []entry
	data    []byte
}

type entry struct {
	Event
	trail    lossmodel.Trail
	watched  bool
	from, to int // of data
}

const (
	journalEvery   = 100 * time.Millisecond
	journalEntries = 1 << 15
	journalBytes   = 32 << 20
)

// NewJournal returns a journal that writes to out until it is closed.
func NewJournal(out Writer) *Journal {
	j := &Journal{out: out, quit: make(chan struct{}), done: make(chan struct{})}
	go j.run()
	return j
}

// Tap notes an event.
func (j *Journal) Tap(e *Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	p := &j.filling
	if j.err != nil || len(p.entries) == journalEntries || len(p.data)+len(e.Data) > journalBytes {
		j.skipped++
		return
	}
	if len(p.entries) < cap(p.entries) {
		p.entries = p.entries[:len(p.entries)+1]
	} else {
		p.entries = append(p.entries, entry{})
	}
	x := &p.entries[len(p.entries)-1]
	x.Event, x.from, x.watched = *e, len(p.data), e.Trail != nil
	p.data = append(p.data, e.Data...)
	x.to = len(p.data)
	if x.watched {
		x.trail = *e.Trail
	}
}

// Close writes what is left. It returns the first error of the writer, and how many events
// were not written.
func (j *Journal) Close() (skipped uint64, err error) {
	close(j.quit)
	<-j.done
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.skipped, j.err
}

func (j *Journal) run() {
	defer close(j.done)
	tick := time.NewTicker(journalEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			j.write()
		case <-j.quit:
			j.write()
			return
		}
	}
}

// write hands over what has come together.
func (j *Journal) write() {
	j.mu.Lock()
	j.filling, j.writing = j.writing, j.filling
	failed := j.err != nil
	j.mu.Unlock()
	p := &j.writing
	var err error
	for i := range p.entries {
		x := &p.entries[i]
		x.Data = p.data[x.from:x.to]
		if x.Trail = nil; x.watched {
			x.Trail = &x.trail
		}
		if err == nil && !failed {
			err = j.out.Write(&x.Event)
		}
	}
	if err == nil && !failed {
		err = j.out.Flush() // a header too, where nothing has happened
	}
	p.entries, p.data = p.entries[:0], p.data[:0]
	if err != nil {
		j.mu.Lock()
		j.err = err
		j.mu.Unlock()
	}
}
