package protocol

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// EndSymbol is the symbol that follows the last byte of a coded message.
const EndSymbol = 256

// Errors of decoding.
var (
	// ErrShort means that the data ends early.
	ErrShort = errors.New("ends early")
	// ErrCorrupt means that the data contains something that the game never writes.
	ErrCorrupt = errors.New("corrupt")
)

// weights are the game's fixed frequencies of the 256 bytes and of EndSymbol, from which the Huffman code
// is built (huffman.cpp, gs_aFreqTable).
var weights = [EndSymbol + 1]int32{
	1 << 30, 4545, 2657, 431, 1950, 919, 444, 482, 2244, 617, 838, 542, 715, 1814, 304, 240, 754, 212, 647, 186,
	283, 131, 146, 166, 543, 164, 167, 136, 179, 859, 363, 113, 157, 154, 204, 108, 137, 180, 202, 176,
	872, 404, 168, 134, 151, 111, 113, 109, 120, 126, 129, 100, 41, 20, 16, 22, 18, 18, 17, 19,
	16, 37, 13, 21, 362, 166, 99, 78, 95, 88, 81, 70, 83, 284, 91, 187, 77, 68, 52, 68,
	59, 66, 61, 638, 71, 157, 50, 46, 69, 43, 11, 24, 13, 19, 10, 12, 12, 20, 14, 9,
	20, 20, 10, 10, 15, 15, 12, 12, 7, 19, 15, 14, 13, 18, 35, 19, 17, 14, 8, 5,
	15, 17, 9, 15, 14, 18, 8, 10, 2173, 134, 157, 68, 188, 60, 170, 60, 194, 62, 175, 71,
	148, 67, 167, 78, 211, 67, 156, 69, 1674, 90, 174, 53, 147, 89, 181, 51, 174, 63, 163, 80,
	167, 94, 128, 122, 223, 153, 218, 77, 200, 110, 190, 73, 174, 69, 145, 66, 277, 143, 141, 60,
	136, 53, 180, 57, 142, 57, 158, 61, 166, 112, 152, 92, 26, 22, 21, 28, 20, 26, 30, 21,
	32, 27, 20, 17, 23, 21, 30, 22, 22, 21, 27, 25, 17, 27, 23, 18, 39, 26, 15, 21,
	12, 18, 18, 27, 20, 18, 15, 19, 11, 17, 33, 12, 18, 15, 19, 18, 16, 26, 17, 18,
	9, 10, 25, 22, 22, 17, 20, 16, 6, 16, 15, 20, 14, 18, 24, 335, 1}

// word is a code word of Len bits. The lowest bit of Bits is sent first.
type word struct {
	Bits uint32
	Len  uint
}

// code is the game's static Huffman code.
type code struct {
	Words [EndSymbol + 1]word // code words by symbol
	// nodes are the two children of each inner node. Nodes 0 to EndSymbol are the symbols, which are
	// leaves; the root is 2*EndSymbol.
	nodes [2*EndSymbol + 1][2]uint16
}

// Huffman returns the game's code. The caller must not modify it.
var Huffman = sync.OnceValue(build)

// build builds the code tree exactly as the game does. The order of nodes with equal weights decides
// which code words result: the list is sorted by falling weight, its last two nodes are joined, and
// the new node is inserted in front of all nodes that weigh less.
func build() *code {
	c := &code{}
	type node struct {
		id     uint16
		weight int32
	}
	list := make([]node, EndSymbol+1)
	for i, w := range weights {
		list[i] = node{uint16(i), w}
	}
	slices.SortStableFunc(list, func(a, b node) int { return int(b.weight) - int(a.weight) })
	for id := uint16(EndSymbol + 1); len(list) > 1; id++ {
		n := len(list)
		c.nodes[id] = [2]uint16{list[n-1].id, list[n-2].id}
		joined := node{id, list[n-1].weight + list[n-2].weight}
		list = list[:n-2]
		i := n - 2
		for i > 0 && list[i-1].weight < joined.weight {
			i--
		}
		list = slices.Insert(list, i, joined)
	}
	c.assignWords(2*EndSymbol, word{})
	return c
}

// assignWords assigns code words to all symbols below node id, whose own path from the root is w.
func (c *code) assignWords(id uint16, w word) {
	if id <= EndSymbol {
		c.Words[id] = w
		return
	}
	c.assignWords(c.nodes[id][0], word{w.Bits, w.Len + 1})
	c.assignWords(c.nodes[id][1], word{w.Bits | 1<<w.Len, w.Len + 1})
}

// Decode decodes src up to the symbol EndSymbol and appends the bytes to dst. More than maxBytes bytes are
// an error. EndSymbol must be followed by zero bits up to the end of the byte only, or by one zero byte if
// EndSymbol ends on a byte boundary: that is how the game pads.
func (c *code) Decode(dst, src []byte, maxBytes int) ([]byte, error) {
	const root = uint16(2 * EndSymbol)
	id, start := root, len(dst)
	for i, b := range src {
		for bit := range 8 {
			id = c.nodes[id][b>>bit&1]
			switch {
			case id > EndSymbol: // node id is an inner node
				continue
			case id == EndSymbol:
				return dst, checkPadding(src[i:], bit+1)
			case len(dst)-start == maxBytes:
				return dst, fmt.Errorf("%w: more than %d bytes", ErrCorrupt, maxBytes)
			}
			dst = append(dst, byte(id))
			id = root
		}
	}
	return dst, fmt.Errorf("%w: no end symbol", ErrShort)
}

// checkPadding checks the padding after the end symbol. rest begins with the byte that has the last
// bit of the symbol; bits (1 to 8) bits of that byte are code.
func checkPadding(rest []byte, bits int) error {
	size := bits/8 + 1
	switch {
	case len(rest) > size:
		return fmt.Errorf("%w: %d bytes after the end symbol", ErrCorrupt, len(rest)-size)
	case len(rest) < size:
		return fmt.Errorf("%w: no byte of padding after the end symbol", ErrShort)
	case rest[0]>>bits != 0 || rest[size-1]>>(bits%8) != 0:
		return fmt.Errorf("%w: bits set after the end symbol", ErrCorrupt)
	}
	return nil
}
