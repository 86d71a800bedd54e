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

// table is a tally prepared for look-ups of how often any of a range of bytes followed a context:
// with running sums, two look-ups suffice.
type table struct {
	order int
	keys  tally    // context and byte, sorted
	sums  []uint32 // sums[i]: the count of keys[:i]
	rows  []uint32 // where the keys of each latest byte begin; none at order 0

	// dense has the running sums of all bytes, 257 for each context, in tables that are shared: then
	// nothing is searched.
	dense []uint32
}

// rowSize is how many running sums there are of the bytes after a context.
const rowSize = 257

// ready turns the tally in t.keys into a table.
func (t *table) ready(p packing) {
	n := p.entries(t.keys)
	t.order, t.sums = p.order, grow(t.sums[:0], n+1)
	sum := uint32(0)
	for i := range n {
		key, count := p.key(t.keys, i), p.count(t.keys, i)
		t.keys[i], t.sums[i] = key, sum // no entry is shorter than its key
		sum += count
	}
	t.keys, t.sums[n] = t.keys[:n], sum
	t.index()
}

// tally is the inverse of ready, in the memory of the keys.
func (t *table) tally(p packing) tally {
	n := len(t.keys)
	list := tally(grow(t.keys, n*(p.words-1)))
	for i := n - 1; i >= 0; i-- { // no entry reaches down to a key that is still wanted
		p.put(list, i, list[i], t.sums[i+1]-t.sums[i])
	}
	return list
}

// fold fills the table with the sums of one that is an order higher, over the oldest
// byte of each context.
func (t *table) fold(from *table) {
	t.order, t.keys, t.sums = from.order-1, t.keys[:0], grow(t.sums[:0], 1)
	t.sums[0] = 0
	var row [256]uint32
	var any [4]uint64 // which of the row are not zero
	for at := 0; at < len(from.keys); {
		context := from.keys[at] >> 16 // all but the oldest byte
		for ; at < len(from.keys) && from.keys[at]>>16 == context; at++ {
			b := from.keys[at] & 0xff
			row[b] += from.sums[at+1] - from.sums[at]
			any[b/64] |= 1 << (b % 64)
		}
		for i := range any {
			for ; any[i] != 0; any[i] &= any[i] - 1 {
				b := 64*i + bits.TrailingZeros64(any[i])
				t.put(context<<8|uint32(b), row[b])
				row[b] = 0
			}
		}
	}
	t.index()
}

func (t *table) put(key, n uint32) {
	t.keys, t.sums = grow(t.keys, 1), grow(t.sums, 1)
	last := len(t.keys) - 1
	t.keys[last], t.sums[last+1] = key, t.sums[last]+n
}

// index computes rows.
func (t *table) index() {
	if t.order == 0 {
		return
	}
	if t.rows == nil {
		t.rows = make([]uint32, 257)
	}
	at := 0
	for c := range t.rows {
		for at < len(t.keys) && int(t.keys[at]>>(8*t.order)) < c {
			at++
		}
		t.rows[c] = uint32(at)
	}
}

// spread computes the dense sums, of tables of order 0 and 1.
func (t *table) spread() {
	contexts := 1 << (8 * t.order)
	if t.dense == nil {
		t.dense = make([]uint32, contexts*rowSize)
	}
	at := 0
	for c := range contexts {
		row := t.dense[c*rowSize:][:rowSize]
		sum := uint32(0)
		for b := range uint32(256) {
			row[b] = sum
			if at < len(t.keys) && t.keys[at] == uint32(c)<<8|b {
				sum += t.sums[at+1] - t.sums[at]
				at++
			}
		}
		row[256] = sum
	}
}

// cursor is a context and the range of its bytes that the bits so far leave.
type cursor struct {
	lo, hi uint32
	row    uint32 // where the context begins in the dense sums
}

// find returns the bytes that followed the context.
func (t *table) find(last uint32) cursor {
	if t.dense != nil {
		row := last >> 16 * rowSize * uint32(t.order)
		return cursor{row, row + 256, row}
	}
	if len(t.keys) == 0 {
		return cursor{}
	}
	c := last >> 16
	row := cursor{lo: t.rows[c], hi: t.rows[c+1]}
	if t.order == 1 {
		return row
	}
	first := contextKey(t.order, last, 0)
	lo := t.search(row, first)
	hi := t.search(cursor{lo: lo, hi: row.hi}, first|0xff)
	if hi < row.hi && t.keys[hi] == first|0xff {
		hi++
	}
	return cursor{lo: lo, hi: hi}
}

// search returns the first place at which the key is no less.
func (t *table) search(in cursor, key uint32) uint32 {
	lo, hi := in.lo, in.hi
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

// split returns where the bytes from middle on begin, and the counts on either side.
func (t *table) split(c cursor, middle byte) (at, below, above uint32) {
	sums := t.dense
	switch {
	case sums != nil:
		at = c.row + uint32(middle)
	case c.lo == c.hi:
		return c.lo, 0, 0
	default:
		sums, at = t.sums, t.search(c, t.keys[c.lo]&^0xff|uint32(middle))
	}
	return at, sums[at] - sums[c.lo], sums[c.hi] - sums[at]
}

// totals computes the running sums of how often each byte came after any context.
func (t *table) totals(sums *[rowSize]uint32) {
	for i, key := range t.keys {
		sums[key&0xff+1] += t.sums[i+1] - t.sums[i]
	}
	for b := range 256 {
		sums[b+1] += sums[b]
	}
}

// bytes returns the memory of the table.
func (t *table) bytes() int { return 4 * (cap(t.keys) + cap(t.sums) + cap(t.rows) + cap(t.dense)) }

// trainedTable is learnt from one English book: the number of times each byte followed each three
// bytes. `tui train` learns it again.
//
//go:embed trained.tab
var trainedTable []byte

// trained returns the model that all clients share. It is read once.
var trained = sync.OnceValue(func() *[orders]table {
	t, err := readTables(trainedTable)
	if err != nil {
		panic("adaptive: the embedded table: " + err.Error())
	}
	return t
})

// untrained is a model without observations.
var untrained [orders]table

// counts counts how often each byte followed each three, by key.
type counts map[uint32]uint32

// add counts some bytes after the last ones, and returns what are the last then.
func (c counts) add(last uint32, text []byte) uint32 {
	for _, b := range text {
		c[contextKey(orders-1, last, b)]++
		last = after(last, b)
	}
	return last
}

// pack writes the table of what was counted: differences of keys, and counts, deflated.
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

// readTables is the inverse of pack, with the lower orders.
func readTables(src []byte) (*[orders]table, error) {
	raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(src)))
	if err != nil {
		return nil, err
	}
	t := &[orders]table{}
	top := &t[orders-1]
	top.order, top.keys, top.sums = orders-1, make(tally, 0, len(raw)/2), make([]uint32, 1, len(raw)/2+1)
	key, total := uint64(0), uint64(0)
	for len(raw) > 0 {
		step, n := binary.Uvarint(raw)
		count, m := binary.Uvarint(raw[max(n, 0):])
		if n <= 0 || m <= 0 || len(top.keys) > 0 && step == 0 || step > 1<<32-1-key || count > 1<<31-total {
			return nil, fmt.Errorf("malformed after key %d", key)
		}
		key, total, raw = key+step, total+count, raw[n+m:]
		top.put(uint32(key), uint32(count))
	}
	top.index()
	for k := orders - 1; k > 0; k-- {
		t[k-1].fold(&t[k])
	}
	t[0].spread() // shared by all clients, so its memory counts little
	t[1].spread()
	return t, nil
}

// Trainers returns the trainer of this package's table: the number of times each byte of some texts
// followed each three bytes.
func Trainers() []train.Trainer {
	return []train.Trainer{{Encoder: "receiver-adaptive", Folder: "encoders/adaptive", Suits: suits, From: "a text, as text:PATH", Per: "byte", Train: learn}}
}

// learn implements the trainer in one pass. The curve shows for each order the bits for
// a byte with the table alone.
func learn(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	counts := counts{}
	last, of := uint32(start), 0
	err := train.Frames(ctx, job.Clips, func(clip int, f *frame.Frame) error {
		if clip != of {
			last, of = start, clip
		}
		last = counts.add(last, f.Body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	data, err := counts.pack()
	if err != nil {
		return nil, err
	}
	tables, err := readTables(data)
	if err != nil {
		return nil, err
	}
	for order := range orders {
		m := &model{trained: tables, order: order}
		m.ready(packingOf(order))
		part := fmt.Sprint("order ", order)
		err := job.Measure(log, part, func(clips ...train.Clip) (float64, error) { return bitsPerByte(ctx, m, clips) })
		if err != nil {
			return nil, err
		}
		log.Progress(part, 1, 1)
	}
	return []train.File{{Name: "trained.tab", Data: data}}, nil
}

// bitsPerByte returns the mean cost of a byte of some texts.
func bitsPerByte(ctx context.Context, m *model, clips []train.Clip) (float64, error) {
	units, n := int64(0), 0
	var c rangecoder.Coder
	var buf []byte
	err := train.Frames(ctx, clips, func(_ int, f *frame.Frame) error {
		c.Write(buf[:0])
		zero, last := c.Spent(), uint32(start)
		for _, b := range f.Body {
			m.code(&c, last, b)
			last = after(last, b)
		}
		units, n = units+c.Spent()-zero, n+len(f.Body)
		buf = c.Finish()
		return nil
	})
	return float64(units) / encoders.BitUnit / float64(max(n, 1)), err
}
