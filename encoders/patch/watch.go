package patch

import (
	"wirelab/encoders/patch/align"
	"wirelab/encoders/patch/delta"
)

// Watch is what an onlooker hears while a patch is made: first what a block of the
// new file is like, then how it was told. Both are called by the goroutine that
// makes the patch, which waits for them, in the order in which blocks are told, and
// what they are handed is theirs only until they return. Each may be nil.
type Watch struct {
	Correlated func(Correlation)
	Coded      func(Segment)
}

// Correlation is a row of the matrix of what is like what: a block of the new file
// against all of the source. There is none for a block that goes on where the last
// copy ended, without a difference: nothing else was looked at.
//
// The source is the old file and, behind it, the new one up to where it has been
// told: address OldSize+n is byte n of the new file.
type Correlation struct {
	Start, End int64 // the block, in bytes of the new file
	OldSize    int64
	Cell       int64 // bytes of the source that a score stands for
	// Score holds for the source, cell by cell, how many samples of the block were
	// found there: about 1 for each byte of the block that comes from there, and 4
	// where one was found after none for long.
	Score []int32
}

// Mode is how a part of the new file is told.
type Mode uint8

// The modes, as in the format.
const (
	Raw     Mode = modeRaw   // its bytes
	Clone   Mode = modeClone // a place in the source where the same bytes lie
	Patched Mode = modePatch // copies with differences, and literals
)

// String returns the name of a mode.
func (m Mode) String() string {
	switch m {
	case Raw:
		return "raw"
	case Clone:
		return "clone"
	case Patched:
		return "patch"
	}
	return "unknown"
}

// Told is how a part of the new file was told.
type Segment struct {
	Start, End int64 // in bytes of the new file
	Mode       Mode
	Size       int64  // bytes of the patch
	Copies     []Copy // one for a clone, none for what is raw
}

// Copy says that N bytes of the new file from byte At on are much like those of the
// source from address From on.
type Copy struct{ At, From, N int64 }

// watch arranges for the onlooker to hear of correlations.
func (m *maker) watch() {
	if hear := m.opt.Watch.Correlated; hear != nil {
		m.aligner.Watch = func(start, end int, votes []int32) {
			hear(Correlation{Start: int64(start), End: int64(end), OldSize: int64(len(m.old)), Cell: align.Cell, Score: votes})
		}
	}
}

// reportCoded tells the onlooker of n bytes that took so many of the patch. They are those
// before m.at.
func (m *maker) reportCoded(mode Mode, n int, size int64, ops []delta.Op) {
	if m.opt.Watch.Coded == nil {
		return
	}
	start := int64(m.at - n)
	m.copies = m.copies[:0]
	at := start
	for _, o := range ops {
		if o.Copy > 0 {
			m.copies = append(m.copies, Copy{at, o.From, int64(o.Copy)})
		}
		at += int64(o.Copy + o.Literal)
	}
	m.opt.Watch.Coded(Segment{Start: start, End: int64(m.at), Mode: mode, Size: size, Copies: m.copies})
}
