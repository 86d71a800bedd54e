package packetlog

import "slices"

// History is the records of a log before its newest ones, oldest first, with their numbers in the log. Copies of a
// History share its records, which never change: a block is replaced if one of its records is.
type History struct {
	full    [][]Record // blocks of blockSize records
	partial []Record   // the next block
	first   uint64     // number of the oldest record
}

// The history contains the newest maxBlocks blocks, 40 MB: 73 minutes at 60 packets per second.
const (
	blockSize = 1024
	maxBlocks = 256
)

// First returns the number of the oldest record.
func (h *History) First() uint64 { return h.first }

// End returns the number after that of the newest record.
func (h *History) End() uint64 {
	return h.first + uint64(len(h.full)*blockSize+len(h.partial))
}

// At returns the record with the given number, from First up to, not including, End. It must not be modified.
func (h *History) At(number uint64) *Record {
	i := number - h.first
	if block := i / blockSize; block < uint64(len(h.full)) {
		return &h.full[block][i%blockSize]
	}
	return &h.partial[i%blockSize]
}

// add appends a record.
func (h *History) add(r *Record) {
	if h.partial == nil {
		h.partial = make([]Record, 0, blockSize)
	}
	h.partial = append(h.partial, *r)
	if len(h.partial) < blockSize {
		return
	}
	h.full = append(h.full, h.partial)
	h.partial = nil
	if len(h.full) > maxBlocks {
		h.full = h.full[1:]
		h.first += blockSize
	}
}

// set replaces the record with the given number, if it is in the history.
func (h *History) set(number uint64, r *Record) {
	if number < h.first || number >= h.End() {
		return
	}
	i := number - h.first
	block := int(i / blockSize)
	if block == len(h.full) {
		h.partial = append(make([]Record, 0, blockSize), h.partial...)
		h.partial[i%blockSize] = *r
		return
	}
	h.full = slices.Clone(h.full)
	h.full[block] = slices.Clone(h.full[block])
	h.full[block][i%blockSize] = *r
}
