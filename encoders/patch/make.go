package patch

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sort"

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

// next codes what comes next: a clone, or as much as is planned at once.
func (m *maker) next() error {
	from, n := m.aligner.Same(m.at, len(m.new))
	if n >= minClone || n > 64 && n == len(m.new)-m.at {
		return m.clone(from, n)
	}
	end := min(m.at+align.Block, len(m.new))
	m.ops = m.aligner.Plan(m.ops[:0], m.at, end)
	for rest := m.ops; m.at < end; {
		var head []delta.Op
		n := min(end-m.at, delta.MaxBlock)
		head, rest = align.Cut(rest, n)
		if err := m.block(head, n); err != nil {
			return err
		}
	}
	return nil
}

// clone tells n bytes that are those from an address on.
func (m *maker) clone(from int64, n int) error {
	head := binary.AppendUvarint(m.out[:0], uint64(n)<<2|modeClone)
	head = binary.AppendVarint(head, from-int64(m.at)-m.cloned)
	m.cloned = from - int64(m.at)
	m.coder.Skip(int64(n), m.new[max(m.at, m.at+n-delta.History):m.at+n])
	m.coder.Follow(from + int64(n))
	m.at += n
	m.stats.Clone += int64(n)
	m.stats.CloneSize += int64(len(head))
	m.reportCoded(Clone, n, int64(len(head)), []delta.Op{{From: from, Copy: n}})
	return m.write(head)
}

// part is a part of what is planned at once: noise, which is coded raw, or
// operations.
type part struct {
	n    int
	raw  bool
	ops  []delta.Op // unless it is raw
	body int        // bytes of the patch that it takes, without its head
	size int        // and with it
}

// block codes the next n bytes by operations, noise among their literals raw. If that is
// longer, noise is coded by operations too; if that is longer as well, all is raw.
func (m *maker) block(ops []delta.Op, n int) error {
	whole := part{n: n, ops: ops}
	tries := [][]part{m.split(whole), {whole}, {{n: n, raw: true}}}
	switch first := tries[0]; {
	case len(first) == 1 && first[0].raw:
		tries = tries[2:] // it is all noise
	case len(first) == 1:
		tries = tries[1:] // no noise
	}
	start := m.at
	saved := len(tries) > 2 || len(tries) > 1 && start+n < len(m.new) // else nothing follows that would need it
	if saved {
		m.coder.Save()
	}
	for _, parts := range tries {
		shorter, err := m.tell(parts)
		if err != nil {
			return fmt.Errorf("block at %d: %w", start, err)
		}
		if shorter {
			return m.commit(parts)
		}
		if saved {
			m.coder.Restore()
		}
		m.at, m.out = start, m.out[:0]
	}
	panic("patch: bytes as they are were found to be longer than they are")
}

// split cuts a part before and behind noise. What it returns shares no operations with
// it.
func (m *maker) split(whole part) (parts []part) {
	rest, told := slices.Clone(whole.ops), m.at
	add := func(to int, raw bool) {
		if to > told {
			var head []delta.Op
			head, rest = align.Cut(rest, to-told)
			parts = append(parts, part{n: to - told, raw: raw, ops: head})
			told = to
		}
	}
	for _, s := range m.noise.find(m.new, m.at, whole.ops) {
		add(s.from, false)
		add(s.to, true)
	}
	add(m.at+whole.n, false)
	return parts
}

// tell appends parts to m.out. It returns false, and stops, at one that is longer by
// operations than raw.
func (m *maker) tell(parts []part) (shorter bool, err error) {
	for i := range parts {
		p := &parts[i]
		if p.raw {
			m.tellRaw(p)
			continue
		}
		block := m.new[m.at : m.at+p.n]
		packet, err := m.coder.Encode(m.packet[:0], block, p.ops, &memory{old: m.old, new: m.new[:m.at]})
		if err != nil {
			return false, err
		}
		m.packet = packet
		if len(packet) >= p.n {
			return false, nil
		}
		before := len(m.out)
		m.out = binary.AppendUvarint(m.out, uint64(p.n)<<2|modePatch)
		m.out = binary.AppendUvarint(m.out, uint64(len(packet)))
		m.out = append(m.out, packet...)
		p.body, p.size = len(packet), len(m.out)-before
		m.at += p.n
	}
	return true, nil
}

// tellRaw appends a part to m.out raw.
func (m *maker) tellRaw(p *part) {
	block, before := m.new[m.at:m.at+p.n], len(m.out)
	m.coder.Skip(int64(p.n), block)
	m.out = binary.AppendUvarint(m.out, uint64(p.n)<<2|modeRaw)
	m.out = append(m.out, block...)
	p.body, p.size = p.n, len(m.out)-before
	m.at += p.n
}

// commit writes the parts that were told, and counts and reports them.
func (m *maker) commit(parts []part) error {
	for _, p := range parts {
		m.at -= p.n
	}
	for _, p := range parts {
		m.at += p.n
		if p.raw {
			m.stats.Raw += int64(p.n)
			m.stats.RawSize += int64(p.body)
			m.reportCoded(Raw, p.n, int64(p.size), nil)
			continue
		}
		for _, o := range p.ops {
			m.stats.Copied += int64(o.Copy)
			m.stats.Literal += int64(o.Literal)
			m.stats.Copies++
		}
		m.stats.Patch += int64(p.n)
		m.stats.PatchSize += int64(p.body)
		m.reportCoded(Patched, p.n, int64(p.size), p.ops)
	}
	out := m.out
	m.out = m.out[:0]
	return m.write(out)
}

// minNoise is how many bytes of noise are worth being told apart: some ten bytes are
// lost by that, and of noise the models make a tenth more until they know it for noise.
const minNoise = 256

const (
	noiseBits  = 14
	noiseEvery = 4 // bytes from one place that is noted to the next
)

// noiseFinder finds literals that no model would tell in fewer bytes.
type noiseFinder struct {
	seen  []uint32 // places of eight bytes of noise, modulo 1<<32, by their hash
	spans []span
}

// span is a run of literals: where it is in the new file, whether its bytes are evenly
// spread, and how many of them are found twice.
type span struct {
	from, to int
	even     bool
	twice    int
}

// find returns where, among the literals of operations that begin at a place in a file,
// there is noise: bytes evenly spread that the operations tell only once. It is valid
// until the next call.
func (f *noiseFinder) find(file []byte, start int, ops []delta.Op) []span {
	f.spans = f.spans[:0]
	at := start
	for _, o := range ops {
		at += o.Copy + o.Literal
		if o.Literal >= minNoise {
			f.spans = append(f.spans, span{from: at - o.Literal, to: at, even: looksRandom(file[at-o.Literal : at])})
		}
	}
	if !slices.ContainsFunc(f.spans, func(s span) bool { return s.even }) {
		return nil
	}
	for i := range f.spans {
		f.count(file, start, i)
	}
	return slices.DeleteFunc(f.spans, func(s span) bool { return !s.even || s.twice*64 >= s.to-s.from })
}

// count looks for the bytes of a span in itself and in those before it.
func (f *noiseFinder) count(file []byte, start, which int) {
	if f.seen == nil {
		f.seen = make([]uint32, 1<<noiseBits)
	}
	s := &f.spans[which]
	for i := s.from; i+8 <= s.to; i++ {
		w := binary.LittleEndian.Uint64(file[i:])
		place := &f.seen[w*0x9E3779B97F4A7C15>>(64-noiseBits)]
		back := int(uint32(i) - *place)
		if back > 0 && back <= i-start && binary.LittleEndian.Uint64(file[i-back:]) == w {
			s.twice++
			if k := sort.Search(which, func(k int) bool { return f.spans[k].to > i-back }); k < which {
				f.spans[k].twice++
			}
		}
		if i%noiseEvery == 0 {
			*place = uint32(i)
		}
	}
}

// looksRandom reports whether no model of a byte by its neighbours would tell a
// block in fewer bytes: the bytes, and their differences over a few distances, are
// as evenly spread as chance has it. It saves the time to find that out by coding.
func looksRandom(b []byte) bool {
	for _, distance := range []int{0, 1, 2, 3, 4, 8} {
		var counts [256]uint64
		for i := distance; i < len(b); i++ {
			d := b[i]
			if distance > 0 {
				d -= b[i-distance]
			}
			counts[d]++
		}
		var squares uint64
		for _, c := range counts {
			squares += c * c
		}
		// Of n bytes that are random the squares sum up to n*n/256 + n on average.
		n := uint64(len(b) - distance)
		if squares > n*n/256+n*n/(256*64)+n*3/2 {
			return false
		}
	}
	return true
}

// Watch holds callbacks that observe the making of a patch: first the correlation of
// each block with the source, then how it was coded. They are called in order by the
// goroutine that makes the patch, which waits for them. Their arguments are valid until
// they return. Each may be nil.
type Watch struct {
	Correlated func(Correlation)
	Coded      func(Segment)
}

// Correlation is a row of the similarity matrix: a block of the new file against all of
// the source. A block has none if it continues the last copy without a
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
