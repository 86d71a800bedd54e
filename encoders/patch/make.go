package patch

import (
	"crypto/sha256"
	"fmt"
	"io"

	"wirelab/encoders/patch/align"
	"wirelab/encoders/patch/delta"
	"wirelab/internal/atomicfile"
)

const minClone = 256 << 10 // bytes that are worth a block of their own

// Progress hears how much of the new file is done. An error ends the work and comes
// back.
type Progress func(done, total int64) error

// Options of a maker.
type Options struct {
	Fast     bool     // quick to apply rather than small
	Progress Progress // called now and then, if not nil
	Watch    Watch    // for those who want to see more

	Disk *atomicfile.Disk // on which MakeFile writes; nil: the machine's
}

// Stats is what a patch is made of: bytes of the new file, and of the patch, by
// mode.
type Stats struct {
	Size                    int64 // of the patch
	Raw, Clone, Patch       int64 // bytes made
	RawSize, CloneSize      int64
	PatchSize               int64
	Copied, Literal, Copies int64 // in blocks of mode patch
}

// Make writes a patch that makes new from old.
func Make(w io.Writer, old, new []byte, opt Options) (Stats, error) {
	return makeWith(delta.New(opt.Fast), w, old, new, opt)
}

// makeWith is Make with a model that has learnt nothing.
func makeWith(model *delta.Model, w io.Writer, old, new []byte, opt Options) (Stats, error) {
	if int64(len(old)) > maxSize || int64(len(new)) > maxSize {
		return Stats{}, fmt.Errorf("files of %d and %d bytes; expected at most %d", len(old), len(new), int64(maxSize))
	}
	m := &maker{w: w, old: old, new: new, opt: opt, aligner: align.New(old, new), coder: model}
	m.watch()
	h := Header{Fast: opt.Fast, OldSize: int64(len(old)), NewSize: int64(len(new))}
	var err error
	if h.OldHash, err = m.hash(old); err != nil {
		return m.stats, err
	}
	if h.NewHash, err = m.hash(new); err != nil {
		return m.stats, err
	}
	if err := m.write(h.append(nil)); err != nil {
		return m.stats, err
	}
	for m.at < len(new) {
		if err := m.next(); err != nil {
			return m.stats, err
		}
		if opt.Progress != nil {
			if err := opt.Progress(int64(m.at), int64(len(new))); err != nil {
				return m.stats, err
			}
		}
	}
	return m.stats, nil
}

// hash hashes a file, and stops when Progress says so.
func (m *maker) hash(file []byte) (sum Hash, err error) {
	h := sha256.New()
	for b := file; len(b) > 0; {
		part := b[:min(len(b), 16<<20)]
		h.Write(part)
		b = b[len(part):]
		if m.opt.Progress != nil {
			if err := m.opt.Progress(0, int64(len(m.new))); err != nil {
				return sum, err
			}
		}
	}
	return Hash(h.Sum(nil)), nil
}

type maker struct {
	w        io.Writer
	old, new []byte
	opt      Options
	aligner  *align.Aligner
	coder    *delta.Model
	at       int   // bytes of the new file that were coded
	cloned   int64 // address less position of the last clone
	ops      []delta.Op
	noise    noiseFinder
	packet   []byte
	out      []byte // parts that are not written yet
	copies   []Copy // for Watch
	stats    Stats
}

func (m *maker) write(b []byte) error {
	n, err := m.w.Write(b)
	m.stats.Size += int64(n)
	return err
}

// memory is a source that lies in memory.
type memory struct{ old, new []byte }

// Locate is as delta.Source says.
func (s *memory) Locate(at int64) (place, left int64) {
	if at < int64(len(s.old)) {
		return at, int64(len(s.old)) - at
	}
	at -= int64(len(s.old))
	return at, max(int64(len(s.new))-at, 0)
}

// View is as delta.Source says.
func (s *memory) View(at int64, _ int) ([]byte, int, error) {
	if at < int64(len(s.old)) {
		return s.old, int(at), nil
	}
	return s.new, int(at - int64(len(s.old))), nil
}
