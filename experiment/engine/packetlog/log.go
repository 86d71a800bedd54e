package packetlog

import (
	"iter"
	"time"

	"wirelab/dataset/frame"
)

// Log is a ring of the newest records. Records are numbered from 0 in the order of Add.
type Log struct {
	ring []Record
	n    uint64 // records ever added
}

// New returns a log that keeps the newest size records.
func New(size int) *Log { return &Log{ring: make([]Record, size)} }

// Cap returns how many records the log keeps.
func (l *Log) Cap() int { return len(l.ring) }

// Add stores a record and returns its number.
func (l *Log) Add(r Record) (number uint64) {
	*l.At(l.n) = r
	l.n++
	return l.n - 1
}

// Set overwrites the record with that number. It returns false if the record was evicted.
func (l *Log) Set(number uint64, r *Record) bool {
	if !l.Held(number) {
		return false
	}
	*l.At(number) = *r
	return true
}

// Held reports whether the record with that number is in the ring.
func (l *Log) Held(number uint64) bool { return number < l.n && number >= l.oldest() }

// At returns the record with that number, which must be in the ring.
func (l *Log) At(number uint64) *Record { return &l.ring[number%uint64(len(l.ring))] }

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

// Find returns the record of a packet, not of a copy. It searches only the newest records
// and returns nil if the packet is not among them.
func (l *Log) Find(seq uint64) *Record {
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

// StoredAfter returns when the receiver first stored a packet newer than seq; 0 if unknown.
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
