package patch

import (
	"wirelab/encoders/patch/align"
	"wirelab/encoders/patch/delta"
)

// Watch holds callbacks that observe the making of a patch: first the correlation of
// each block with the source, then how it was coded. They are called in order by the
// goroutine that makes the patch, which waits for them. Their arguments are valid until
// they return. Each may be nil.
type Watch struct {
	Correlated func(Correlation)
	Coded      func(Segment)
}

// Correlation is a row of the similarity matrix: a block of the new file against all of
// the source. There is none for a block that continues the last copy without a
// difference.
//
// The source is the old file followed by the coded part of the new one: address
// OldSize+n is byte n of the new file.
type Correlation struct {
	Start, End int64 // the block, in bytes of the new file
	OldSize    int64
	Cell       int64 // bytes of the source that a score stands for
	// Score holds for the source, cell by cell, how many samples of the block were
	// found there: about 1 for each byte of the block that comes from there, and 4
	// where one was found after none for long.
	Score []int32
}

// Mode is how a part of the new file is coded.
type Mode uint8

// The modes, as in the format.
const (
	Raw     Mode = modeRaw   // literal bytes
	Clone   Mode = modeClone // an equal range of the source
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

// Segment is a part of the new file as it was coded.
type Segment struct {
	Start, End int64 // in bytes of the new file
	Mode       Mode
	Size       int64  // bytes of the patch
	Copies     []Copy // one for a clone, none for raw bytes
}

// Copy maps N bytes of the new file from byte At on to similar ones of the source from
// address From on.
type Copy struct{ At, From, N int64 }

// watch passes correlations to the callback.
func (m *maker) watch() {
	if hear := m.opt.Watch.Correlated; hear != nil {
		m.aligner.Watch = func(start, end int, votes []int32) {
			hear(Correlation{Start: int64(start), End: int64(end), OldSize: int64(len(m.old)), Cell: align.Cell, Score: votes})
		}
	}
}

// reportCoded reports the last n bytes before m.at, which took size bytes of the patch.
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
