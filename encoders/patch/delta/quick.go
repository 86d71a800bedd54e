package delta

import "bytes"

// quick is the state of a fast Model. It codes the number of bytes of a copy that are as
// expected before the next that is not, which takes nearly all the time, and other bytes by two
// contexts each. Expected are the old bytes, except in words whose predictions as pointers
// proved right.
type quick struct {
	gaps   *numbers
	values pair // differences
	texts  pair // literals, unless they are stored apart
	apart  stored

	trust [6][noPrediction][4]int8 // in predictions of moved words, by kind, level and confidence

	// Of the present word.
	moved bool    // the prediction differs from the old word
	use   bool    // the prediction is expected
	same  bool    // the new word equals the old one so far
	old   [8]byte // the old word
}

const (
	quickHistory = 16 // bytes kept before a block
	maxTrust     = 8
	quickFar     = 2048 // bytes without a difference after which pointers are not looked for
	quickLimit   = 60   // of counters
)

// newQuick returns a fast Model; see newModel.
func newQuick(less uint) *Model {
	words, bits := newPointers(), largeBits-less
	words.skipCertain = true
	return &Model{
		less:  less,
		quick: &quick{gaps: newNumbers(), values: newPair(bits), texts: newPair(bits)},
		words: words, jumps: newJumps(), copies: newNumbers(), after: newNumbers(), run: newRuns(),
		buf: make([]byte, quickHistory+MaxBlock), history: quickHistory,
	}
}

func (q *quick) copyFrom(o *quick) {
	gaps, values, texts, apart := q.gaps, q.values, q.texts, q.apart
	*gaps = *o.gaps
	values.copyFrom(&o.values)
	texts.copyFrom(&o.texts)
	*q = *o
	q.gaps, q.values, q.texts, q.apart = gaps, values, texts, apart
}

// quickCopy codes n bytes of a copy from view[k:], which is place in its file. room is the
// number of bytes of the copy that are left, those included.
func (m *Model) quickCopy(view []byte, k, n, room int, place int64) {
	r, q := &m.run, m.quick
	for i := 0; i < n; {
		gap := n - i
		if !m.coder.Reading() {
			gap = m.copyExpected(view, k+i, gap, room-i, place+int64(i))
		}
		ctx := min(class(r.gap1), 7)<<3 | min(class(r.gap2), 7)
		coded := int(min(q.gaps.code(&m.coder, int64(gap), ctx), int64(n-i)))
		if m.coder.Reading() {
			gap = m.copyExpected(view, k+i, coded, room-i, place+int64(i))
		}
		r.gap2, r.gap1 = r.gap1, gap
		i += gap
		if i == n {
			return
		}
		if m.words.left == 0 {
			m.quickWord(view, k+i, place+int64(i), room-i)
		}
		near := uint32(min(gap, 4))
		if m.words.left > 0 {
			near = 5 + uint32(m.words.kind)*4 + uint32(m.words.at&3)
		}
		context := uint32(r.nonzero[0]) | uint32(r.nonzero[1])<<8 | uint32(r.nonzero[2])<<16 | near<<24
		was := q.expectedByte(m.words, view[k+i])
		d := q.values.code(&m.coder, m.buf[m.p]-was, r.nonzero[0], context)
		m.buf[m.p] = was + d
		r.nonzero = [3]byte{d, r.nonzero[0], r.nonzero[1]}
		m.p++
		m.quickStep()
		i++
	}
}

// copyExpected copies at most n bytes as long as they are as expected, and returns how many
// are: for a reader all.
func (m *Model) copyExpected(view []byte, k, n, room int, place int64) int {
	q, w, reading := m.quick, m.words, m.coder.Reading()
	for i := 0; i < n; {
		if w.left == 0 {
			if i >= quickFar {
				old := view[k+i : k+n]
				if !reading {
					old = old[:common(m.buf[m.p:m.p+len(old)], old)]
				}
				m.p += copy(m.buf[m.p:], old)
				return i + len(old)
			}
			m.quickWord(view, k+i, place+int64(i), room-i)
			if w.size <= n-i && w.left > 0 && m.quickWhole() {
				i += w.size
				continue
			}
		}
		was := q.expectedByte(w, view[k+i])
		if reading {
			m.buf[m.p] = was
		} else if m.buf[m.p] != was {
			return i
		}
		m.p++
		m.quickStep()
		i++
	}
	return n
}

// quickWhole copies the word that begins if it is as expected, and reports whether it is.
func (m *Model) quickWhole() bool {
	q, w := m.quick, m.words
	word, want := m.buf[m.p:m.p+w.size], q.old[:w.size]
	if q.use {
		want = w.predict[:w.size]
	}
	if m.coder.Reading() {
		copy(word, want)
	} else if string(word) != string(want) {
		return false
	}
	m.p += w.size
	w.left = 0
	q.same = !q.use
	w.wrong = w.level == noPrediction || q.moved && !q.use
	q.learn(w)
	w.finish(word)
	return true
}

// quickWord looks for a word at view[k:].
func (m *Model) quickWord(view []byte, k int, place int64, room int) {
	p := m.first + int64(m.p)
	if (place|p)&3 != 0 && (k == 0 || opcodeEnds[view[k-1]>>6]>>(view[k-1]&63)&1 == 0) {
		return
	}
	m.words.begin(view, k, place, p, room)
	if m.words.left > 0 {
		m.quick.beginWord(m.words, view[k:])
	}
}

// opcodeEnds is the set of bytes that may end an instruction up to its displacement: 0x05, 0x0D
// and so on up to 0x3D, 0x80 to 0x8F, 0xE8 and 0xE9.
var opcodeEnds = [4]uint64{0x2020202020202020, 0, 0xFFFF, 3 << 40}

// beginWord decides whether the prediction of a word that begins is expected, or the old word.
func (q *quick) beginWord(w *pointers, old []byte) {
	q.moved = w.level < noPrediction && string(w.predict[:w.size]) != string(old[:w.size])
	q.use = q.moved && *q.trustIn(w) >= 0
	q.same = true
	copy(q.old[:], old[:w.size])
}

// trustIn returns the trust in predictions like that of the present word.
func (q *quick) trustIn(w *pointers) *int8 { return &q.trust[w.kind][w.level][w.confidence] }

// expectedByte returns the byte that is expected in place of an old one.
func (q *quick) expectedByte(w *pointers, old byte) byte {
	if w.left > 0 && q.use {
		return w.predict[w.at]
	}
	return old
}

// quickStep learns from the byte before m.p.
func (m *Model) quickStep() {
	w, q := m.words, m.quick
	if w.left == 0 {
		return
	}
	b := m.buf[m.p-1]
	q.same = q.same && b == q.old[w.at]
	w.wrong = w.wrong || w.level < noPrediction && b != w.predict[w.at]
	if w.left == 1 {
		q.learn(w)
	}
	w.step(m.buf[:m.p])
}

// learn changes the trust in predictions like that of the present word, which has ended.
func (q *quick) learn(w *pointers) {
	if !q.moved {
		return
	}
	if t := q.trustIn(w); !w.wrong {
		*t = min(*t+1, maxTrust)
	} else if q.same {
		*t = max(*t-1, -maxTrust)
	}
}

// quickLiteral codes the next byte.
func (m *Model) quickLiteral() {
	var b1, b2, b3 byte
	if m.p >= 3 {
		b1, b2, b3 = m.buf[m.p-1], m.buf[m.p-2], m.buf[m.p-3]
	}
	context := uint32(b1) | uint32(b2)<<8 | uint32(b3)<<16 | 1<<24
	m.buf[m.p] = m.quick.texts.code(&m.coder, m.buf[m.p], b1, context)
	m.p++
}

// common returns the number of leading bytes that are equal in a and b, which are equally long.
func common(a, b []byte) int {
	const word = 32
	n := 0
	for n+word <= len(a) && bytes.Equal(a[n:n+word], b[n:n+word]) {
		n += word
	}
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}
