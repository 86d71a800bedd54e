package plugin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// wazero trusts two kinds of numbers in a module. It allocates as many entries as a list says it has before it reads
// the first one, so a file of 30 bytes could use all memory of the machine; and it limits the memory of a
// module but not its tables, which one table.grow instruction can enlarge without bound. limitModule checks the first
// and limits the second before a module is compiled. The format is that of the WebAssembly Core Specification 2.0,
// section 5.5; what wazero accepts beyond it is refused.

const (
	maxTables     = 16
	maxTableItems = 1 << 17 // pointers to functions; a large C++ program has some thousands
	maxLocals     = 50_000  // variables of a function; the limit of browsers
	maxAllLocals  = 1 << 22 // variables of all functions; wazero uses 8 bytes for each
)

// The IDs of sections, in the order of the specification.
const (
	sectionCustom = iota
	sectionType
	sectionImport
	sectionFunction
	sectionTable
	sectionMemory
	sectionGlobal
	sectionExport
	sectionStart
	sectionElement
	sectionCode
	sectionData
	sectionDataCount
)

// errSections means that sections or their contents have wrong lengths.
var errSections = errors.New("the sections of the module are damaged")

// limitModule returns the module without custom sections, such as names for debuggers, and with a maximum of at most
// maxTableItems entries for each table. It fails if a list has more entries than there are bytes for. It does not
// change its argument.
func limitModule(module []byte) ([]byte, error) {
	const headerLen = 8 // magic and version
	out := append(make([]byte, 0, len(module)), module[:headerLen]...)
	// Each section is its ID, the size of its contents, and the contents.
	for r := (&moduleReader{in: module[headerLen:]}); len(r.in) > 0; {
		id := r.byte()
		section := &moduleReader{in: r.bytes(r.number())}
		if r.err != nil {
			return nil, r.err
		}
		if id == sectionCustom {
			continue
		}
		contents := section.in
		if id == sectionTable {
			contents = section.limitTables()
		} else {
			section.check(id)
		}
		if section.err == nil && len(section.in) > 0 {
			section.err = errSections
		}
		if section.err != nil {
			return nil, section.err
		}
		out = binary.AppendUvarint(append(out, id), uint64(len(contents)))
		out = append(out, contents...)
	}
	return out, nil
}

// A moduleReader reads a part of a module. After an error its methods return 0 and nil, and in is empty.
type moduleReader struct {
	in  []byte // what has not been read
	err error  // the first error
}

// fail sets the error, if it is the first.
func (r *moduleReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.in = nil
}

// bytes reads n bytes.
func (r *moduleReader) bytes(n uint32) []byte {
	if uint64(len(r.in)) < uint64(n) {
		r.fail(errSections)
		return nil
	}
	read := r.in[:n]
	r.in = r.in[n:]
	return read
}

// byte reads a byte.
func (r *moduleReader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// number reads an unsigned LEB128 number of at most 32 bits.
func (r *moduleReader) number() uint32 {
	v, n := binary.Uvarint(r.in)
	if n <= 0 || v > math.MaxUint32 {
		r.fail(errSections)
		return 0
	}
	r.in = r.in[n:]
	return uint32(v)
}

// list reads the number of entries of a list, of at least one byte each, and calls entry for each of them.
func (r *moduleReader) list(entry func()) {
	count := r.number()
	if uint64(count) > uint64(len(r.in)) {
		r.fail(errSections)
	}
	for i := uint32(0); i < count && r.err == nil; i++ {
		entry()
	}
}

// name reads a name: its length and its bytes.
func (r *moduleReader) name() { r.bytes(r.number()) }

// valueType reads the type of a value.
func (r *moduleReader) valueType() {
	const v128, funcref, externref, i32, f64 = 0x7b, 0x70, 0x6f, 0x7f, 0x7c
	b := r.byte()
	isNumber := b >= f64 && b <= i32
	if !isNumber && b != v128 && b != funcref && b != externref {
		r.fail(fmt.Errorf("a value has the unknown type %#x", b))
	}
}

// constant reads an expression that wazero evaluates before it runs the module: one instruction and the end.
func (r *moduleReader) constant() {
	const (
		end       = 0x0b
		globalGet = 0x23
		i32Const  = 0x41
		i64Const  = 0x42
		f32Const  = 0x43
		f64Const  = 0x44
		refNull   = 0xd0
		refFunc   = 0xd2
		vector    = 0xfd
	)
	for r.err == nil {
		switch instruction := r.byte(); instruction {
		case end:
			return
		case globalGet, i32Const, i64Const, refFunc:
			for r.byte() >= 0x80 { // the last byte of a LEB128 number is less
			}
		case f32Const:
			r.bytes(4)
		case f64Const:
			r.bytes(8)
		case refNull:
			r.valueType()
		case vector:
			r.bytes(1 + 16) // which instruction, and the constant
		default:
			r.fail(fmt.Errorf("a constant has the unknown instruction %#x", instruction))
		}
	}
}

// check reads the contents of a section, except those of tables.
func (r *moduleReader) check(id byte) {
	switch id {
	case sectionType:
		r.list(func() {
			if form := r.byte(); form != 0x60 {
				r.fail(fmt.Errorf("a type has form %#x, expected a function", form))
			}
			r.list(r.valueType)
			r.list(r.valueType)
		})
	case sectionImport:
		r.list(func() {
			r.name()
			r.name()
			if kind := r.byte(); kind != 0 {
				r.fail(errors.New("imports a table, a memory or a global, expected only functions of WASI"))
			}
			r.number()
		})
	case sectionGlobal:
		r.list(func() {
			r.valueType()
			r.byte() // whether it can change
			r.constant()
		})
	case sectionExport:
		r.list(func() {
			r.name()
			r.byte() // its kind
			r.number()
		})
	case sectionElement:
		r.list(r.element)
	case sectionCode:
		r.code()
	case sectionData:
		r.list(func() {
			const passive, withMemory = 1, 2
			mode := r.number()
			if mode == withMemory {
				r.number()
			}
			if mode != passive {
				r.constant()
			}
			r.bytes(r.number())
		})
	case sectionStart, sectionDataCount:
		r.number()
	case sectionFunction:
		r.list(func() { r.number() })
	case sectionMemory:
		r.list(func() {
			hasMaximum := r.number() == 1
			r.number()
			if hasMaximum {
				r.number()
			}
		})
	default:
		r.fail(fmt.Errorf("section %d is unknown", id))
	}
}

// element reads an entry of the element section. Its mode has a bit each for: without a place in a table; with
// the index of a table, or only declared; with expressions instead of indexes of functions.
func (r *moduleReader) element() {
	const noPlace, explicit, expressions = 1, 2, 4
	mode := r.number()
	if mode&noPlace == 0 {
		if mode&explicit != 0 {
			r.number() // the table
		}
		r.constant()
	}
	if mode&(noPlace|explicit) != 0 {
		r.byte() // the kind or the type
	}
	if mode&expressions != 0 {
		r.list(r.constant)
	} else {
		r.list(func() { r.number() })
	}
}

// code reads the code section: for each function its size, its variables, as runs of one type, and its instructions.
func (r *moduleReader) code() {
	sum := uint64(0)
	r.list(func() {
		function := &moduleReader{in: r.bytes(r.number()), err: r.err}
		locals := uint64(0)
		function.list(func() {
			locals += uint64(function.number())
			function.valueType()
		})
		sum += locals
		switch {
		case function.err != nil:
			r.fail(function.err)
		case locals > maxLocals:
			r.fail(fmt.Errorf("a function has %d variables, expected at most %d", locals, maxLocals))
		case sum > maxAllLocals:
			r.fail(fmt.Errorf("the functions have more than %d variables", maxAllLocals))
		}
	})
}

// limitTables returns the contents of a table section with a maximum for each table. The contents are the number of
// tables, and for each its type, 1 if it has a maximum or 0 if not, the minimum number of entries, and the maximum.
func (r *moduleReader) limitTables() (out []byte) {
	count := r.number()
	if count > maxTables {
		r.fail(fmt.Errorf("module has %d tables, expected at most %d", count, maxTables))
	}
	out = binary.AppendUvarint(out, uint64(count))
	for i := uint32(0); i < count && r.err == nil; i++ {
		const funcref, externref = 0x70, 0x6f
		kind, limits := r.byte(), r.byte()
		minItems, maxItems := r.number(), uint32(math.MaxUint32)
		if limits == 1 {
			maxItems = r.number()
		}
		switch {
		case kind != funcref && kind != externref || limits > 1:
			r.fail(fmt.Errorf("table %d has type %#x and limits %d, expected type funcref or externref and limits 0 or 1", i, kind, limits))
		case minItems > maxTableItems:
			r.fail(fmt.Errorf("table %d has %d entries, expected at most %d", i, minItems, maxTableItems))
		}
		out = append(out, kind, 1) // 1: with a maximum
		out = binary.AppendUvarint(out, uint64(minItems))
		out = binary.AppendUvarint(out, uint64(min(maxItems, maxTableItems)))
	}
	return out
}
