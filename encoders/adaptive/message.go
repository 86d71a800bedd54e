package adaptive

import (
	"errors"
	"fmt"

	"wirelab/encoders"
	"wirelab/encoders/rangecoder"
)

// MaxMessage bounds a message, in bytes, and so the work that a packet can cause.
const MaxMessage = 1<<messageBits - 1

const messageBits = 14

// Probabilities of what nearly always is so.
const usual = rangecoder.One - rangecoder.One/512

// codeLabels codes which model is the sender's newest, and which it used.
func codeLabels(c *rangecoder.Coder, newest, used int) (int, int) {
	newest = int(c.Direct(uint64(newest), 3))
	same := 0
	if used == newest {
		same = 1
	}
	if c.Bit(same, usual) != 0 {
		return newest, newest
	}
	return newest, int(c.Direct(uint64(used), 3))
}

// codeSize codes the length of a message.
func codeSize(c *rangecoder.Coder, n, usually int) int {
	same := 0
	if n == usually {
		same = 1
	}
	if c.Bit(same, usual) != 0 {
		return usually
	}
	return int(c.Direct(uint64(n), messageBits))
}

// write appends a message, coded with one of the models.
func (e *end) write(dst, message []byte, used uint64, b *encoders.Budget) []byte {
	before, begin := b.Total(), len(dst)
	m := e.models.use(used)
	var c rangecoder.Coder
	c.Write(dst)
	zero := c.Spent()
	codeLabels(&c, labelOf(e.models.newest), labelOf(used))
	codeSize(&c, len(message), e.params.Message)
	labels := c.Spent()
	last := uint32(start)
	for _, v := range message {
		m.code(&c, last, v)
		last = after(last, v)
	}
	b.Charge(encoders.SlotModel, labels-zero)
	b.Charge(encoders.SlotBody, c.Spent()-labels)
	dst = c.Finish()
	b.Close(before, len(dst)-begin)
	return dst
}

// readBody reads a message into dst with a model; a reader that runs out of bytes
// stops soon.
func readBody(c *rangecoder.Coder, dst []byte, n int, m *model) ([]byte, error) {
	last := uint32(start)
	for range n {
		v := m.code(c, last, 0)
		dst = append(dst, v)
		last = after(last, v)
		if err := c.Err(); err != nil {
			return dst, ended(err)
		}
	}
	return dst, ended(c.Close())
}

// ended translates the end of the range coder's bytes.
func ended(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, rangecoder.ErrShort):
		return fmt.Errorf("adaptive: %w", encoders.ErrTruncated)
	}
	return fmt.Errorf("adaptive: %w: %w", encoders.ErrCorrupt, err)
}
