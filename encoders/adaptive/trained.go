package adaptive

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
)

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
