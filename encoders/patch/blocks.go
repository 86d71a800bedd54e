package patch

import (
	"encoding/binary"
	"fmt"
	"slices"

	"wirelab/encoders/patch/align"
	"wirelab/encoders/patch/delta"
)

// next tells what comes next: a clone, or as much as is planned at once.
func (m *maker) next() error {
	from, n := m.aligner.Same(m.at)
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
	head = binary.AppendUvarint(head, zigzag(from-int64(m.at)-m.cloned))
	m.cloned = from - int64(m.at)
	m.coder.Skip(int64(n), m.new[max(m.at, m.at+n-delta.History):m.at+n])
	m.coder.Follow(from + int64(n))
	m.at += n
	m.stats.Clone += int64(n)
	m.stats.CloneSize += int64(len(head))
	m.reportCoded(Clone, n, int64(len(head)), []delta.Op{{From: from, Copy: n}})
	return m.write(head)
}

// part is a part of what is planned at once: noise, which is told as it is, or
// operations.
type part struct {
	n    int
	raw  bool
	ops  []delta.Op // unless it is raw
	body int        // bytes of the patch that it takes, without its head
	size int        // and with it
}

// block tells the next n bytes by operations, noise among their literals as it is. If
// that does not pay, noise is no exception; if nothing does, all is told as it is.
func (m *maker) block(ops []delta.Op, n int) error {
	whole := part{n: n, ops: ops}
	tries := [][]part{m.split(whole), {whole}, {{n: n, raw: true}}}
	switch first := tries[0]; {
	case len(first) == 1 && first[0].raw:
		tries = tries[2:] // it is all noise
	case len(first) == 1:
		tries = tries[1:] // there is none
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
// operations than as it is.
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

// tellRaw appends a part to m.out as it is.
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
