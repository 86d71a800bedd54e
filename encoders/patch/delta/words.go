package delta

import (
	"bytes"

	"wirelab/encoders/rangecoder"
)

const wordContexts = 10

// wholeWord codes whether the word that begins is as predicted, and copies it if so.
func (m *Model) wholeWord(x *context, old []byte) bool {
	r, w, f := &m.run, m.words, m.wholes
	predicted := w.predict[:w.size]
	moved := uint32(rangecoder.Flag(!bytes.Equal(predicted, old[:w.size])))
	kind := uint32(w.kind) | moved<<4
	sure := uint32(w.confidence) | uint32(w.level)<<2 | kind<<4
	lately := w.wordHistory[w.kind]
	since, gap1 := uint32(min(class(r.since), 12)), uint32(min(class(r.gap1), 12))
	f.Hashes[0] = hash(1, sure|lately&3<<12)
	f.Hashes[1] = hash(2, lately&0xff|kind<<8)
	f.Hashes[2] = hash(3, uint32(w.by)) + kind
	f.Hashes[3] = hash(4, uint32(w.target)) + kind
	f.Hashes[4] = hash(5, x.backward) + moved
	f.Hashes[5] = hash(6, x.backward>>8&0xffff|kind<<16)
	f.Hashes[6] = hash(7, since|gap1<<4|kind<<8|r.history&15<<13)
	f.Hashes[7] = hash(8, uint32(w.target>>8)) + kind
	f.Hashes[8] = hash(9, x.forward) + moved
	f.Hashes[9] = hash(10, uint32(w.by)) + sure<<8 + lately&3
	right := !m.coder.Reading() && bytes.Equal(m.buf[m.p:m.p+w.size], predicted)
	if f.CodeBit(&m.coder, rangecoder.Flag(right), 0, rangecoder.Selector{
		SetA: int(sure&15 | moved<<4), SetB: int(lately&15) | w.kind<<4,
		ContextA: int(sure), ContextB: int(lately&31)<<5 | int(since)}) == 0 {
		w.wordHistory[w.kind] = lately << 1
		w.refuted = true
		return false
	}
	w.wordHistory[w.kind] = lately<<1 | 1
	copy(m.buf[m.p:], predicted)
	for i, b := range predicted {
		r.add(b - old[i])
	}
	m.p += w.size
	w.left = 0
	w.finish(predicted)
	return true
}
