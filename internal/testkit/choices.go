package testkit

import "slices"

// Choices makes the decisions of a structure-aware fuzzer from its bytes, so that the fuzzer changes
// one decision when it changes a byte. When the bytes are used up, every choice is the first one,
// and Rare returns false.
type Choices struct{ data []byte }

// NewChoices returns the choices that data contains.
func NewChoices(data []byte) *Choices { return &Choices{data} }

// Empty reports whether all bytes are used up.
func (c *Choices) Empty() bool { return len(c.data) == 0 }

// Uint64 returns a number of size bytes, 1 to 8, in little-endian order.
func (c *Choices) Uint64(size int) (v uint64) {
	for i, b := range c.Bytes(size) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

// IntN returns a number from 0 to n-1. n must be 1 to 65536.
func (c *Choices) IntN(n int) int {
	if n <= 256 {
		return int(c.Uint64(1)) % n
	}
	return int(c.Uint64(2)) % n
}

// Rare reports whether the next byte is 255: once in 256 random bytes.
func (c *Choices) Rare() bool { return c.Uint64(1) == 255 }

// DamageText cuts text off, or inserts bytes into it.
func (c *Choices) DamageText(text string) string {
	at := int(c.Uint64(2)) % (len(text) + 1)
	if c.IntN(2) == 0 {
		return text[:at]
	}
	return text[:at] + string(c.Bytes(1+c.IntN(8))) + text[at:]
}

// Bytes returns a copy of the next n bytes, fewer at the end.
func (c *Choices) Bytes(n int) []byte {
	n = min(n, len(c.data))
	b := slices.Clone(c.data[:n])
	c.data = c.data[n:]
	return b
}

// Pick returns one element of list.
func Pick[T any](c *Choices, list ...T) T { return list[c.IntN(len(list))] }
