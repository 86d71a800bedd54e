package delta

import "bytes"

const wordContexts = 10

// wholeWord codes whether the word that begins is as guessed, and takes it if so.
func (m *Model) wholeWord(x *context, old []byte) bool {
	r, w, f := &m.run, m.words, m.wholes
	guess := w.predict[:w.size]
	moved := uint32(flag(!bytes.Equal(guess, old[:w.size])))
	kind := uint32(w.kind) | moved<<4
	sure := uint32(w.confidence) | uint32(w.level)<<2 | kind<<4
	lately := w.wordHistory[w.kind]
	since, gap1 := uint32(min(class(r.since), 12)), uint32(min(class(r.gap1), 12))
	f.base[0] = hash(1, sure|lately&3<<12)
	f.base[1] = hash(2, lately&0xff|kind<<8)
	f.base[2] = hash(3, uint32(w.by)) + kind
	f.base[3] = hash(4, uint32(w.target)) + kind
	f.base[4] = hash(5, x.backward) + moved
	f.base[5] = hash(6, x.backward>>8&0xffff|kind<<16)
	f.base[6] = hash(7, since|gap1<<4|kind<<8|r.history&15<<13)
	f.base[7] = hash(8, uint32(w.target>>8)) + kind
	f.base[8] = hash(9, x.forward) + moved
	f.base[9] = hash(10, uint32(w.by)) + sure<<8 + lately&3
	right := 0
	if !m.coder.Reading() {
		right = flag(bytes.Equal(m.buf[m.p:m.p+w.size], guess))
	}
	set := int(sure & 15)
	if right = f.code(&m.coder, right, 0, set|int(moved)<<4, int(lately&15)|w.kind<<4, int(sure),
		int(lately&31)<<5|int(since)); right == 0 {
		w.wordHistory[w.kind] = lately << 1
		w.refuted = true
		return false
	}
	w.wordHistory[w.kind] = lately<<1 | 1
	copy(m.buf[m.p:], guess)
	for i, b := range guess {
		if d := b - old[i]; d == 0 {
			r.same()
		} else {
			r.differs(d)
		}
	}
	m.p += w.size
	w.left = 0
	w.finish(guess)
	return true
}
