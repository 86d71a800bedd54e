package plugin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// wazero limits the memory of a module but not its tables: a single table.grow instruction could use all
// memory of the machine. So every table gets a maximum size before the module is compiled. The format
// is that of the WebAssembly Core Specification, section 5.5.

const (
	maxTables     = 16
	maxTableItems = 1 << 17 // pointers to functions; a large C++ program has some thousands
	tableSection  = 4       // section ID
)

// errSections means that sections or their contents have wrong lengths.
var errSections = errors.New("the sections of the module are damaged")

// limitTables returns the module with a maximum of at most maxTableItems entries for each table, so that a plugin
// cannot grow its tables without bound. It does not change its argument.
func limitTables(module []byte) ([]byte, error) {
	const headerLen = 8 // magic and version
	// Each section is its ID, the size of its contents as a varint, and the contents.
	for offset := headerLen; offset < len(module); {
		id := module[offset]
		size, n := uvarint32(module[offset+1:])
		start := offset + 1 + n
		if n <= 0 || uint64(len(module)-start) < uint64(size) {
			return nil, errSections
		}
		end := start + int(size)
		if id == tableSection {
			tables, err := limitTableSection(module[start:end])
			if err != nil {
				return nil, err
			}
			out := append([]byte(nil), module[:offset+1]...)
			out = binary.AppendUvarint(out, uint64(len(tables)))
			return append(append(out, tables...), module[end:]...), nil
		}
		offset = end
	}
	return module, nil
}

// limitTableSection returns the contents of a table section with a maximum for each table. The contents are
// the number of tables, and for each its type, 1 if it has a maximum or 0 if not, the minimum number of
// entries, and the maximum.
func limitTableSection(in []byte) (out []byte, err error) {
	// next reads a number of the section; after an error it returns 0.
	next := func() uint32 {
		v, n := uvarint32(in)
		if n <= 0 {
			err, in = errSections, nil
			return 0
		}
		in = in[n:]
		return v
	}
	count := next()
	if count > maxTables {
		return nil, fmt.Errorf("module has %d tables, expected at most %d", count, maxTables)
	}
	out = binary.AppendUvarint(out, uint64(count))
	for i := range count {
		kind, limits := next(), next()
		minItems, maxItems := next(), uint32(math.MaxUint32)
		if limits == 1 {
			maxItems = next()
		}
		const funcref, externref = 0x70, 0x6f
		switch {
		case err != nil:
			return nil, err
		case kind != funcref && kind != externref || limits > 1:
			return nil, fmt.Errorf("table %d has type %#x and limits %d, expected type funcref or externref and limits 0 or 1", i, kind, limits)
		case minItems > maxTableItems:
			return nil, fmt.Errorf("table %d has %d entries, expected at most %d", i, minItems, maxTableItems)
		}
		out = append(out, byte(kind), 1) // 1: with a maximum
		out = binary.AppendUvarint(binary.AppendUvarint(out, uint64(minItems)), uint64(min(maxItems, maxTableItems)))
	}
	if len(in) > 0 {
		err = errSections
	}
	return out, err
}

// uvarint32 decodes an unsigned LEB128 number of at most 32 bits. n is its length in bytes; 0 or less if it
// is incomplete or too large.
func uvarint32(in []byte) (v uint32, n int) {
	x, n := binary.Uvarint(in)
	if x > math.MaxUint32 {
		return 0, -1
	}
	return uint32(x), n
}
