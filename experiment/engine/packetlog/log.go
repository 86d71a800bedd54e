package packetlog

import (
	"iter"
	"time"

	"wirelab/dataset/frame"
)

// Log stores the newest records in a ring. Records are numbered from 0 in the order of Add.
type Log struct {
	ring    []Record // record n is at n % len(ring)
	n       uint64   // records added so far
	history History  // the records before the newest; empty unless newest is set
	newest  uint64   // number of records that are not in the history
}

// New returns a log that stores the newest size records.
func New(size int) *Log { return &Log{ring: make([]Record, size)} }

// KeepHistory makes History contain all records before the given number of newest ones. It must be called before
// the first Add.
func (l *Log) KeepHistory(newest int) { l.newest = uint64(newest) }

// History returns the records before the newest ones; see KeepHistory.
func (l *Log) History() History { return l.history }

// Cap returns the number of records that the log can store.
func (l *Log) Cap() int { return len(l.ring) }

// Add stores a record and returns its number.
func (l *Log) Add(r Record) (number uint64) {
	*l.At(l.n) = r
	l.n++
	if l.newest > 0 && l.n > l.newest {
		l.history.add(l.At(l.n - 1 - l.newest))
	}
	return l.n - 1
}

// Set replaces the record with the given number. It returns false if that record is no longer stored.
func (l *Log) Set(number uint64, r *Record) bool {
	if !l.Held(number) {
		return false
	}
	*l.At(number) = *r
	l.history.set(number, r)
	return true
}

// Held reports whether the record with the given number is stored.
func (l *Log) Held(number uint64) bool { return number < l.n && number >= l.oldest() }

// At returns the record with the given number, which must be stored.
func (l *Log) At(number uint64) *Record { return &l.ring[number%uint64(len(l.ring))] }

// oldest returns the number of the oldest stored record.
func (l *Log) oldest() uint64 { return l.n - min(l.n, uint64(len(l.ring))) }

// Forward iterates over the records, oldest first, with their numbers.
func (l *Log) Forward() iter.Seq2[uint64, *Record] {
	return func(yield func(uint64, *Record) bool) {
		for n := l.oldest(); n < l.n; n++ {
			if !yield(n, l.At(n)) {
				return
			}
		}
	}
}

// Backward iterates over the records, newest first, with their numbers.
func (l *Log) Backward() iter.Seq2[uint64, *Record] {
	return func(yield func(uint64, *Record) bool) {
		for n := l.n; n > l.oldest(); n-- {
			if !yield(n-1, l.At(n-1)) {
				return
			}
		}
	}
}

// Find returns the record of packet seq, not of a copy of it. It searches only the newest records, and
// returns nil if the packet is not among them.
func (l *Log) Find(seq uint64) *Record {
	// References are at most frame.MaxHistory packets old. Copies made by the link have records too.
	const reach = 4 * frame.MaxHistory
	for n, r := range l.Backward() {
		if l.n-n > reach {
			break
		}
		if r.Seq == seq && r.Copy == 0 {
			return r
		}
	}
	return nil
}

// StoredAfter returns when the receiver first stored a frame newer than packet seq; 0 if unknown. Arrivals
// may be out of order, so it searches all stored records of newer packets.
func (l *Log) StoredAfter(seq uint64) (at time.Duration) {
	for _, r := range l.Backward() {
		if r.Seq <= seq && r.Copy == 0 {
			break
		}
		if r.Seq > seq && r.Outcome.Stored() && (at == 0 || r.Arrived < at) {
			at = r.Arrived
		}
	}
	return at
}

// Last appends copies of the newest n records to dst, oldest first.
func (l *Log) Last(dst []Record, n int) []Record {
	for i := max(l.oldest(), l.n-min(uint64(n), l.n)); i < l.n; i++ {
		dst = append(dst, *l.At(i))
	}
	return dst
}
