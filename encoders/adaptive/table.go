package adaptive

import (
	"bytes"
	"compress/flate"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"slices"
	"sync"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/rangecoder"
	"wirelab/encoders/train"
)

// A table is a tally prepared for counting how often any of a range of bytes followed a context:
// with cumulative sums, this takes two lookups.
type table struct {
	order    int      // length of contexts in bytes
	keys     tally    // context and byte, sorted; see contextKey
	sums     []uint32 // sums[i]: the count of keys[:i]
	rowStart []uint32 // index of the first key by the context's latest byte; nil at order 0

	// dense holds the cumulative sums of all bytes, rowSize for each context, in tables shared by all
	// clients, so that no search is needed; nil in other tables.
	dense []uint32
}

// rowSize is the number of cumulative sums of the bytes after a context.
const rowSize = 257

// prepare turns t.keys, which holds a tally of keys and counts, into a table: sorted keys and the running sums of
// their counts.
func (t *table) prepare(p layout) {
	n := p.numEntries(t.keys)
	t.order, t.sums = p.order, grow(t.sums[:0], n+1)
	sum := uint32(0)
	for i := range n {
		key, count := p.key(t.keys, i), p.count(t.keys, i)
		t.keys[i], t.sums[i] = key, sum // overwrites only entries that were read
		sum += count
	}
	t.keys, t.sums[n] = t.keys[:n], sum
	t.buildRowIndex()
}

// tally returns the keys of the table with their counts, the differences of successive sums. It uses the memory of
// t.keys; prepare turns the result into a table again.
func (t *table) tally(p layout) tally {
	n := len(t.keys)
	list := tally(grow(t.keys, n*(p.entryWords-1)))
	for i := n - 1; i >= 0; i-- { // from the end, so that no key is overwritten before it is read
		p.setEntry(list, i, list[i], t.sums[i+1]-t.sums[i])
	}
	return list
}

// foldFrom fills the table from one of the next higher order, by summing over the oldest byte of the context.
// A key holds, from its highest byte down, the latest to the oldest byte of the context and the byte that followed.
func (t *table) foldFrom(from *table) {
	t.order, t.keys, t.sums = from.order-1, t.keys[:0], grow(t.sums[:0], 1)
	t.sums[0] = 0
	var row [256]uint32
	var nonZero [4]uint64 // flags: which elements of row are not zero, so that few are visited
	for at := 0; at < len(from.keys); {
		context := from.keys[at] >> 16 // all but the oldest byte
		for ; at < len(from.keys) && from.keys[at]>>16 == context; at++ {
			b := from.keys[at] & 0xff
			row[b] += from.sums[at+1] - from.sums[at]
			nonZero[b/64] |= 1 << (b % 64)
		}
		for i := range nonZero {
			for ; nonZero[i] != 0; nonZero[i] &= nonZero[i] - 1 {
				b := 64*i + bits.TrailingZeros64(nonZero[i])
				t.appendEntry(context<<8|uint32(b), row[b])
				row[b] = 0
			}
		}
	}
	t.buildRowIndex()
}

// appendEntry appends a key, greater than all keys before, with count n.
func (t *table) appendEntry(key, n uint32) {
	t.keys, t.sums = grow(t.keys, 1), grow(t.sums, 1)
	last := len(t.keys) - 1
	t.keys[last], t.sums[last+1] = key, t.sums[last]+n
}

// buildRowIndex computes rowStart: for each byte c, the index of the first key whose context has c as its latest
// byte, which is the highest byte of the key. The last element is the number of keys.
func (t *table) buildRowIndex() {
	if t.order == 0 {
		return
	}
	if t.rowStart == nil {
		t.rowStart = make([]uint32, 257)
	}
	index := 0
	for c := range t.rowStart {
		for index < len(t.keys) && int(t.keys[index]>>(8*t.order)) < c {
			index++
		}
		t.rowStart[c] = uint32(index)
	}
}

// buildDense computes dense, for tables of order 0 and 1: for each context a row of 257 running sums, where
// element b is the number of bytes below b that followed the context.
func (t *table) buildDense() {
	contexts := 1 << (8 * t.order) // 1 or 256
	if t.dense == nil {
		t.dense = make([]uint32, contexts*rowSize)
	}
	next := 0
	for c := range contexts {
		row := t.dense[c*rowSize:][:rowSize]
		sum := uint32(0)
		for b := range uint32(256) {
			row[b] = sum
			if next < len(t.keys) && t.keys[next] == uint32(c)<<8|b {
				sum += t.sums[next+1] - t.sums[next]
				next++
			}
		}
		row[256] = sum
	}
}

// A cursor is the range of a context's entries that agree with the bits of the byte so far.
type cursor struct {
	lo, hi uint32 // indices of keys, or of dense
	row    uint32 // index in dense where the context's sums begin
}

// find returns the entries of the bytes that followed a context; recent holds the last three bytes. A
// table of order 0 must be dense.
func (t *table) find(recent uint32) cursor {
	if t.dense != nil {
		row := recent >> 16 * rowSize * uint32(t.order) // by the latest byte; order 0 has one row
		return cursor{lo: row, hi: row + 256, row: row}
	}
	if len(t.keys) == 0 {
		return cursor{}
	}
	c := recent >> 16
	sameByte := cursor{lo: t.rowStart[c], hi: t.rowStart[c+1]} // the contexts with the same latest byte
	if t.order == 1 {
		return sameByte
	}
	first := contextKey(t.order, recent, 0)
	lo := t.search(sameByte, first)
	hi := t.search(cursor{lo: lo, hi: sameByte.hi}, first|0xff) // first|0xff is the last key of the context
	if hi < sameByte.hi && t.keys[hi] == first|0xff {
		hi++
	}
	return cursor{lo: lo, hi: hi}
}

// search returns the index of the first key within a range that is at least key, or the end of the
// range.
func (t *table) search(within cursor, key uint32) uint32 {
	lo, hi := within.lo, within.hi
	for lo < hi {
		mid := (lo + hi) / 2
		if t.keys[mid] < key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// countHalves splits the range c at byte middle. It returns the index of the split and how often bytes
// below middle, and bytes from middle on, followed the context.
func (t *table) countHalves(c cursor, middle byte) (split, below, above uint32) {
	sums := t.dense
	switch {
	case sums != nil:
		split = c.row + uint32(middle)
	case c.lo == c.hi: // nothing followed the context
		return c.lo, 0, 0
	default:
		sums, split = t.sums, t.search(c, t.keys[c.lo]&^0xff|uint32(middle)) // the context's key for middle
	}
	return split, sums[split] - sums[c.lo], sums[c.hi] - sums[split]
}

// totals sets sums[b] to the number of bytes below b that were counted, over all contexts. sums is all 0 before.
func (t *table) totals(sums *[rowSize]uint32) {
	for i, key := range t.keys {
		sums[key&0xff+1] += t.sums[i+1] - t.sums[i]
	}
	for b := range 256 {
		sums[b+1] += sums[b]
	}
}

// bytes returns the memory of the table.
func (t *table) bytes() int { return 4 * (cap(t.keys) + cap(t.sums) + cap(t.rowStart) + cap(t.dense)) }

// embeddedTable holds the number of times that each byte followed each three bytes in one English
// book. Program train reproduces it.
//
//go:embed trained.tab
var embeddedTable []byte

// pretrainedTables returns the tables that all clients share. They are decoded once.
var pretrainedTables = sync.OnceValue(func() *[numOrders]table {
	t, err := readTables(embeddedTable)
	if err != nil {
		panic("adaptive: the embedded table: " + err.Error())
	}
	return t
})

// emptyTables are the tables of a model without pretraining.
var emptyTables [numOrders]table

// counts maps keys to the number of times each byte followed each three bytes.
type counts map[uint32]uint32

// add counts text, whose preceding bytes are recent, and returns the last three bytes of the text.
func (c counts) add(recent uint32, text []byte) uint32 {
	for _, b := range text {
		c[contextKey(numOrders-1, recent, b)]++
		recent = nextContext(recent, b)
	}
	return recent
}

// pack encodes the counts in the order of keys: the difference from the last key, and the count, as varints, and
// deflates them.
func (c counts) pack() ([]byte, error) {
	var raw []byte
	before := uint32(0)
	for _, key := range slices.Sorted(maps.Keys(c)) {
		raw = binary.AppendUvarint(raw, uint64(key-before))
		raw = binary.AppendUvarint(raw, uint64(c[key]))
		before = key
	}
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(raw)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// readTables is the inverse of pack: it reads pairs of a key, as the difference from the last key, and a count. It also
// derives the tables of lower orders.
func readTables(src []byte) (*[numOrders]table, error) {
	raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(src)))
	if err != nil {
		return nil, err
	}
	t := &[numOrders]table{}
	top := &t[numOrders-1]
	top.order, top.keys, top.sums = numOrders-1, make(tally, 0, len(raw)/2), make([]uint32, 1, len(raw)/2+1)
	key, total := uint64(0), uint64(0)
	for len(raw) > 0 {
		// Keys must increase and fit 32 bits; the sum of all counts is at most 1<<31.
		step, n := binary.Uvarint(raw)
		count, m := binary.Uvarint(raw[max(n, 0):])
		if n <= 0 || m <= 0 || len(top.keys) > 0 && step == 0 || step > 1<<32-1-key || count > 1<<31-total {
			return nil, fmt.Errorf("byte counts are malformed after key %d", key)
		}
		key, total, raw = key+step, total+count, raw[n+m:]
		top.appendEntry(uint32(key), uint32(count))
	}
	top.buildRowIndex()
	for k := numOrders - 1; k > 0; k-- {
		t[k-1].foldFrom(&t[k])
	}
	t[0].buildDense() // shared by all clients, so the memory is spent once
	t[1].buildDense()
	return t, nil
}

// Trainer returns the trainer of the embedded table.
func Trainer() train.Trainer {
	return train.Trainer{
		Encoder: "receiver-adaptive", Suits: suits, From: "a text, such as text:FILE", Train: trainTable,
	}
}

// trainTable implements the trainer: one pass over the texts that counts how often each byte
// followed each three bytes. The curve shows, for each order, the bits per byte with the table
// alone.
func trainTable(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	observed := counts{}
	recent, clipIndex := uint32(startContext), 0
	err := train.ForEachFrame(ctx, job.Clips, func(clip int, f *frame.Frame) error {
		if clip != clipIndex { // a new text
			recent, clipIndex = startContext, clip
		}
		recent = observed.add(recent, f.Body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	data, err := observed.pack()
	if err != nil {
		return nil, err
	}
	tables, err := readTables(data)
	if err != nil {
		return nil, err
	}
	for order := range numOrders {
		m := &model{pretrained: tables, order: order}
		m.prepare(newLayout(order))
		part := fmt.Sprint("order ", order)
		err := job.Measure(log, part, func(clips ...train.Clip) (float64, error) { return bitsPerByte(ctx, m, clips) })
		if err != nil {
			return nil, err
		}
		log.Progress(part, 1, 1)
	}
	return []train.File{{Name: "trained.tab", Data: data}}, nil
}

// bitsPerByte returns the mean cost of a byte of the clips, which are texts, in bits, coded with model m.
func bitsPerByte(ctx context.Context, m *model, clips []train.Clip) (float64, error) {
	units, n := int64(0), 0 // cost in 1/encoders.BitUnit, and bytes
	var c rangecoder.Coder
	var buf []byte
	err := train.ForEachFrame(ctx, clips, func(_ int, f *frame.Frame) error {
		c.Write(buf[:0])
		start, recent := c.Spent(), uint32(startContext)
		for _, b := range f.Body {
			m.codeByte(&c, recent, b)
			recent = nextContext(recent, b)
		}
		units, n = units+c.Spent()-start, n+len(f.Body)
		buf = c.Finish()
		return nil
	})
	return float64(units) / encoders.BitUnit / float64(max(n, 1)), err
}
