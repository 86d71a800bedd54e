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

// minClone is the number of equal bytes from which on they are coded as a clone. At the end of the file
// fewer suffice, see codeNext.
const minClone = 256 << 10

// Progress is called with the number of bytes of the new file that are done, and its size. An error stops
// the work and is returned.
type Progress func(done, total int64) error

// Options configure Make and MakeFile.
type Options struct {
	Progress Progress // nil if not needed

	Disk *atomicfile.Disk // file system for MakeFile; nil means that of the operating system
}

// Stats counts the contents of a patch by block mode.
type Stats struct {
	Size               int64 // bytes of the patch
	Raw, Clone, Patch  int64 // bytes of the new file
	RawSize, CloneSize int64 // bytes of the patch
	PatchSize          int64
}

// Make writes to w a patch that makes new from old.
func Make(w io.Writer, old, new []byte, opt Options) (Stats, error) {
	return makeWith(delta.New(), w, old, new, opt)
}

// makeWith is Make with the given untrained model; tests pass a small one.
func makeWith(model *delta.Model, w io.Writer, old, new []byte, opt Options) (Stats, error) {
	if int64(len(old)) > maxSize || int64(len(new)) > maxSize {
		return Stats{}, fmt.Errorf("files of %d and %d bytes, expected at most %d each", len(old), len(new), int64(maxSize))
	}
	m := &maker{w: w, old: old, new: new, opt: opt, aligner: align.New(old, new), model: model}
	h := Header{OldSize: int64(len(old)), NewSize: int64(len(new))}
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
	for m.pos < len(new) {
		if err := m.codeNext(); err != nil {
			return m.stats, err
		}
		if opt.Progress != nil {
			if err := opt.Progress(int64(m.pos), int64(len(new))); err != nil {
				return m.stats, err
			}
		}
	}
	return m.stats, nil
}

// hash returns the SHA-256 of a file. It calls Progress with 0 bytes done, whose error stops it.
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

// maker makes one patch.
type maker struct {
	w             io.Writer
	old, new      []byte
	opt           Options
	aligner       *align.Aligner
	model         *delta.Model
	pos           int        // bytes of the new file coded so far
	cloneDiagonal int64      // address minus position of the last clone
	ops           []delta.Op // memory for the operations of a range
	noise         noiseFinder
	packet        []byte
	pending       []byte // coded parts that are not written yet
	stats         Stats
}

// write writes b to the patch.
func (m *maker) write(b []byte) error {
	n, err := m.w.Write(b)
	m.stats.Size += int64(n)
	return err
}

// memory is a delta.Source in memory: the files from which Make copies.
type memory struct{ old, new []byte }

// Locate implements delta.Source: it returns the offset of an address in its file, and the number of bytes from there
// to the end of the file. Addresses of the new file follow those of the old one.
func (s *memory) Locate(at int64) (offset, left int64) {
	if at < int64(len(s.old)) {
		return at, int64(len(s.old)) - at
	}
	at -= int64(len(s.old))
	return at, max(int64(len(s.new))-at, 0)
}

// View implements delta.Source: it returns the whole file and the index of the byte at address at.
func (s *memory) View(at int64, _ int) ([]byte, int, error) {
	if at < int64(len(s.old)) {
		return s.old, int(at), nil
	}
	return s.new, int(at - int64(len(s.old))), nil
}

// codeNext codes the next part of the new file: a clone if at least minClone bytes are equal to the source on the
// diagonal of the last copy, or if the whole rest of the file is equal and has more than 64 bytes, because a clone
// takes only a few bytes; otherwise a range of align.Block bytes.
func (m *maker) codeNext() error {
	from, equal := m.aligner.EqualRun(m.pos, len(m.new))
	if equal >= minClone || equal > 64 && equal == len(m.new)-m.pos {
		return m.codeClone(from, equal)
	}
	end := min(m.pos+align.Block, len(m.new))
	m.ops = m.aligner.Plan(m.ops[:0], m.pos, end)
	for rest := m.ops; m.pos < end; {
		var head []delta.Op
		n := min(end-m.pos, delta.MaxBlock)
		head, rest = align.Cut(rest, n)
		if err := m.codeBlock(head, n); err != nil {
			return err
		}
	}
	return nil
}

// codeClone codes the next n bytes as a clone of the source from address from on. The model does not code
// them; it gets the last ones as history for later blocks.
func (m *maker) codeClone(from int64, n int) error {
	head := binary.AppendUvarint(m.pending[:0], uint64(n)<<2|modeClone)
	head = binary.AppendVarint(head, from-int64(m.pos)-m.cloneDiagonal)
	m.cloneDiagonal = from - int64(m.pos)
	m.model.Skip(int64(n), m.new[max(m.pos, m.pos+n-delta.History):m.pos+n])
	m.model.Follow(from + int64(n))
	m.pos += n
	m.stats.Clone += int64(n)
	m.stats.CloneSize += int64(len(head))
	return m.write(head)
}

// part is a part of the new file that becomes one block of the patch, raw or by operations.
type part struct {
	n        int // bytes of the new file
	raw      bool
	ops      []delta.Op // nil if raw
	bodySize int        // bytes in the patch, without the block's head
}

// codeBlock codes the next n bytes by operations, and noise among their literals (see noiseFinder) raw. If a
// part is larger by operations than raw, it tries to code noise by operations too, and then to code everything
// raw.
func (m *maker) codeBlock(ops []delta.Op, n int) error {
	everything := part{n: n, ops: ops}
	// The ways to code these bytes, in the order of the tries. The last one always succeeds.
	attempts := [][]part{m.splitNoise(everything), {everything}, {{n: n, raw: true}}}
	switch first := attempts[0]; {
	case len(first) == 1 && first[0].raw:
		attempts = attempts[2:] // only noise
	case len(first) == 1:
		attempts = attempts[1:] // no noise
	}
	start := m.pos
	// A failed try changes the model. Save it if another try or a later block needs it.
	needsSave := len(attempts) > 2 || len(attempts) > 1 && start+n < len(m.new)
	if needsSave {
		m.model.Save()
	}
	for _, parts := range attempts {
		shorter, err := m.codeParts(parts)
		if err != nil {
			return fmt.Errorf("block at %d: %w", start, err)
		}
		if shorter {
			return m.writeParts(parts)
		}
		if needsSave {
			m.model.Restore()
		}
		m.pos, m.pending = start, m.pending[:0]
	}
	panic("patch: every attempt to code a block failed, although coding it raw cannot fail")
}

// splitNoise splits a part at the limits of noise. The parts share no operations with whole.
func (m *maker) splitNoise(whole part) (parts []part) {
	rest, splitUpTo := slices.Clone(whole.ops), m.pos
	// addPart adds the part from the end of the last one to position end.
	addPart := func(end int, raw bool) {
		if end > splitUpTo {
			var head []delta.Op
			head, rest = align.Cut(rest, end-splitUpTo)
			parts = append(parts, part{n: end - splitUpTo, raw: raw, ops: head})
			splitUpTo = end
		}
	}
	for _, s := range m.noise.find(m.new, m.pos, whole.ops) {
		addPart(s.from, false)
		addPart(s.to, true)
	}
	addPart(m.pos+whole.n, false)
	return parts
}

// codeParts appends the coded parts to m.pending, advances m.pos and sets the sizes of the parts. Where the packet
// of a part's operations is not shorter than the bytes of the part, it stops and returns false: the part is better
// stored raw.
func (m *maker) codeParts(parts []part) (shorter bool, err error) {
	for i := range parts {
		p := &parts[i]
		if p.raw {
			m.codeRawPart(p)
			continue
		}
		block := m.new[m.pos : m.pos+p.n]
		packet, err := m.model.Encode(m.packet[:0], block, p.ops, &memory{old: m.old, new: m.new[:m.pos]})
		if err != nil {
			return false, err
		}
		m.packet = packet
		if len(packet) >= p.n {
			return false, nil
		}
		m.pending = binary.AppendUvarint(m.pending, uint64(p.n)<<2|modePatch)
		m.pending = binary.AppendUvarint(m.pending, uint64(len(packet)))
		m.pending = append(m.pending, packet...)
		p.bodySize = len(packet)
		m.pos += p.n
	}
	return true, nil
}

// codeRawPart appends a raw part to m.pending, sets its sizes and advances m.pos. The model gets the bytes as history
// for later blocks.
func (m *maker) codeRawPart(p *part) {
	block := m.new[m.pos : m.pos+p.n]
	m.model.Skip(int64(p.n), block)
	m.pending = binary.AppendUvarint(m.pending, uint64(p.n)<<2|modeRaw)
	m.pending = append(m.pending, block...)
	p.bodySize = p.n
	m.pos += p.n
}

// writeParts writes the parts, which codeParts has coded into m.pending, to the patch, and counts them in
// m.stats.
func (m *maker) writeParts(parts []part) error {
	for _, p := range parts {
		if p.raw {
			m.stats.Raw += int64(p.n)
			m.stats.RawSize += int64(p.bodySize)
			continue
		}
		m.stats.Patch += int64(p.n)
		m.stats.PatchSize += int64(p.bodySize)
	}
	out := m.pending
	m.pending = m.pending[:0]
	return m.write(out)
}

// minNoise is the size in bytes from which on noise is a raw block of its own. The heads of the additional
// blocks take some ten bytes. A model codes noise in a tenth more bytes than it has, until the model has adapted.
const minNoise = 256

const (
	noiseBits     = 14 // logarithm of the size of noiseFinder.positions
	noiseInterval = 4  // distance between positions that are recorded
)

// noiseFinder finds noise: literals that no model can code in fewer bytes, such as compressed data.
type noiseFinder struct {
	positions []uint32 // by a hash of eight bytes: their last position in the new file, modulo 1<<32
	spans     []span
}

// span is a run of literals in the new file.
type span struct {
	from, to int
	isRandom bool // looksRandom reports true for the bytes
	repeated int  // number of bytes that also occur in this or another span
}

// find returns the spans of noise among the literals of operations that begin at position start of the new
// file: bytes that look random and are not repeated. The result is valid until the next call.
func (f *noiseFinder) find(file []byte, start int, ops []delta.Op) []span {
	f.spans = f.spans[:0]
	pos := start
	for _, o := range ops {
		pos += o.Copy + o.Literal
		if o.Literal >= minNoise {
			f.spans = append(f.spans, span{from: pos - o.Literal, to: pos, isRandom: looksRandom(file[pos-o.Literal : pos])})
		}
	}
	if !slices.ContainsFunc(f.spans, func(s span) bool { return s.isRandom }) {
		return nil
	}
	for i := range f.spans {
		f.countRepeats(file, start, i)
	}
	// A span with one repeated byte in 64 is worth coding by operations.
	return slices.DeleteFunc(f.spans, func(s span) bool { return !s.isRandom || s.repeated*64 >= s.to-s.from })
}

// countRepeats counts the bytes of f.spans[spanIndex] at which eight bytes begin that occurred before, in this span
// or an earlier one, for both spans. Occurrences before position start do not count.
func (f *noiseFinder) countRepeats(file []byte, start, spanIndex int) {
	if f.positions == nil {
		f.positions = make([]uint32, 1<<noiseBits)
	}
	s := &f.spans[spanIndex]
	for i := s.from; i+8 <= s.to; i++ {
		eightBytes := binary.LittleEndian.Uint64(file[i:])
		lastPos := &f.positions[eightBytes*0x9E3779B97F4A7C15>>(64-noiseBits)]
		back := int(uint32(i) - *lastPos)
		if back > 0 && back <= i-start && binary.LittleEndian.Uint64(file[i-back:]) == eightBytes {
			s.repeated++
			if k := sort.Search(spanIndex, func(k int) bool { return f.spans[k].to > i-back }); k < spanIndex {
				f.spans[k].repeated++
			}
		}
		if i%noiseInterval == 0 {
			*lastPos = uint32(i)
		}
	}
}

// looksRandom reports whether a model of bytes and their neighbours would save nothing: the bytes, and their
// differences at a few distances, are distributed as evenly as random ones. This is much faster than coding
// them.
func looksRandom(b []byte) bool {
	for _, distance := range []int{0, 1, 2, 3, 4, 8} { // 0: the bytes themselves
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
		// For n random bytes the expected sum of squares is about n*n/256 + n. The bound allows for
		// deviations of a few standard deviations.
		n := uint64(len(b) - distance)
		if squares > n*n/256+n*n/(256*64)+n*3/2 {
			return false
		}
	}
	return true
}
