package view

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"strconv"

	"wirelab/internal/words"
)

// An ack consists of, in little-endian order,
//
//	number  16 bits  low 15 bits of the number of the ack, from 1; the highest bit is set if an extension follows
//	newest  16 bits  low bits of the newest packet decoded
//	mask    16 bits  bit i is set if packet newest-i was decoded
//	epoch    8 bits  low bits of the newest epoch of the encoder; of no meaning for this package
//
// The extension lists packets with rows that are older than those of the mask, if there are any that were applied since
// the ack that the newest packet named:
//
//	gap     16 bits  from newest to the first packet of the extension
//	length   8 bits  of the list in bytes
//	list             bit i is set if packet newest-gap-i was applied
const (
	ackBytes  = 7
	extends   = 1 << 15
	maskBits  = 16
	maxListed = 126 // bytes: more than (maxSpan+7)/8
)

// errMalformed is wrapped by errors about bytes that are not an ack.
var errMalformed = errors.New("view: malformed ack")

// ack is a parsed ack. list aliases the datagram.
type ack struct {
	number, newest, mask uint16
	epoch                uint8
	gap                  uint16
	list                 []byte // nil without an extension
}

func (a *ack) append(dst []byte) []byte {
	number := a.number &^ extends
	if len(a.list) > 0 {
		number |= extends
	}
	dst = binary.LittleEndian.AppendUint16(dst, number)
	dst = binary.LittleEndian.AppendUint16(dst, a.newest)
	dst = binary.LittleEndian.AppendUint16(dst, a.mask)
	dst = append(dst, a.epoch)
	if len(a.list) > 0 {
		dst = binary.LittleEndian.AppendUint16(dst, a.gap)
		dst = append(dst, uint8(len(a.list)))
		dst = append(dst, a.list...)
	}
	return dst
}

// parseAck parses the ack at the beginning of src, and returns it with the bytes after it.
func parseAck(src []byte) (a ack, rest []byte, err error) {
	if len(src) < ackBytes {
		return a, nil, fmt.Errorf("%w: %d bytes", errMalformed, len(src))
	}
	a.number, a.newest = binary.LittleEndian.Uint16(src), binary.LittleEndian.Uint16(src[2:])
	a.mask, a.epoch = binary.LittleEndian.Uint16(src[4:]), src[6]
	src = src[ackBytes:]
	if a.number&extends == 0 {
		return a, src, nil
	}
	a.number &^= extends
	if len(src) < 3 || int(src[2]) > len(src)-3 {
		return a, nil, fmt.Errorf("%w: its extension is incomplete", errMalformed)
	}
	a.gap = binary.LittleEndian.Uint16(src)
	n := int(src[2])
	a.list = src[3:][:n]
	return a, src[3+n:], nil
}

// lists reports whether the ack lists the packet that is behind packets older than the newest.
func (a *ack) lists(behind uint64) bool {
	if behind < maskBits {
		return a.mask>>behind&1 == 1
	}
	i := behind - uint64(a.gap)
	return behind >= uint64(a.gap) && i < uint64(8*len(a.list)) && a.list[i/8]>>(i%8)&1 == 1
}

// nameOf returns the byte by which a packet names ack number n: 1 to 255, or 0 for n = 0, the initial state.
func nameOf(n uint64) uint8 {
	if n == 0 {
		return 0
	}
	return uint8(1 + (n-1)%255)
}

// AckField is a field of an ack, with its value as text.
type AckField struct {
	Name, Value string
	Bits        int
}

// DescribeAck describes the bits of an ack, from the lowest bit of each byte on.
func DescribeAck(src []byte) (list []AckField) {
	a, rest, err := parseAck(src)
	add := func(name, value string, bits int) { list = append(list, AckField{name, value, bits}) }
	if err != nil {
		add("ack", hex.EncodeToString(src), 8*len(src))
		return list
	}
	add("number", strconv.Itoa(int(a.number)), 15)
	add("extension follows", strconv.FormatBool(len(a.list) > 0), 1)
	add("newest decoded", strconv.Itoa(int(a.newest)), 16)
	add("decoded", fmt.Sprintf("%d of the newest %d", bits.OnesCount16(a.mask), maskBits), maskBits)
	add("epoch", strconv.Itoa(int(a.epoch)), 8)
	if len(a.list) > 0 {
		shown := 0
		for _, b := range a.list {
			shown += bits.OnesCount8(b)
		}
		add("gap", words.Count(int(a.gap), "packet"), 16)
		add("length of list", strconv.Itoa(len(a.list)), 8)
		add("applied", words.Count(shown, "packet"), 8*len(a.list))
	}
	if len(rest) > 0 {
		add("report", words.Count(len(rest), "byte"), 8*len(rest))
	}
	return list
}
