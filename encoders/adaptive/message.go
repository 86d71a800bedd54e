package adaptive

import (
	"fmt"

	"wirelab/encoders"
	"wirelab/encoders/rangecoder"
)

// MaxMessage bounds a message, in bytes, and so the work that a packet can cause.
const MaxMessage = 1<<messageBits - 1

const messageBits = 14

// usual is the probability of the usual case of a flag.
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

// mostOver bounds how much longer a packet is than its message: labels, size, and the
// flag for literal bytes.
const mostOver = 7

// write appends a message coded with a model, or as literal bytes if that is shorter.
func (e *endpoint) write(dst, message []byte, used uint64, b *encoders.Budget) []byte {
	before, begin := b.Total(), len(dst)
	dst, labels, body := e.encodeWith(dst, message, used, false)
	if len(dst)-begin > len(message)+mostOver {
		dst, labels, body = e.encodeWith(dst[:begin], message, used, true)
	}
	b.Charge(encoders.SlotModel, labels)
	b.Charge(encoders.SlotBody, body)
	b.Close(before, len(dst)-begin)
	return dst
}

// encodeWith appends a message coded in one of the two ways, and returns what it spent.
func (e *endpoint) encodeWith(dst, message []byte, used uint64, asItIs bool) (packet []byte, labels, body int64) {
	var c rangecoder.Coder
	c.Write(dst)
	zero := c.Spent()
	codeLabels(&c, labelOf(e.models.newest), labelOf(used))
	codeSize(&c, len(message), e.params.Message)
	// codeLiteral codes whether literal bytes follow.
	codeLiteral(&c, asItIs)
	head, last := c.Spent(), uint32(start)
	m := e.models.use(used)
	for _, v := range message {
		if asItIs {
			c.Direct(uint64(v), 8)
			continue
		}
		m.code(&c, last, v)
		last = after(last, v)
	}
	spent := c.Spent()
	return c.Finish(), head - zero, spent - head
}

// codeLiteral codes whether the bytes follow as they are, without a model.
func codeLiteral(c *rangecoder.Coder, asItIs bool) bool {
	bit := 0
	if asItIs {
		bit = 1
	}
	return c.Bit(bit, rangecoder.One-usual) != 0
}

// readBody reads a message into dst. It stops soon after the input ends.
func readBody(c *rangecoder.Coder, dst []byte, n int, m *model) ([]byte, error) {
	last, asItIs := uint32(start), codeLiteral(c, false)
	for range n {
		v := byte(0)
		if asItIs {
			v = byte(c.Direct(0, 8))
		} else {
			v = m.code(c, last, 0)
			last = after(last, v)
		}
		dst = append(dst, v)
		if err := c.Err(); err != nil {
			return dst, ended(err)
		}
	}
	return dst, ended(c.Close())
}

// ended translates the end of the range coder's bytes.
func ended(err error) error {
	if err = encoders.DecodeError(err, rangecoder.ErrShort); err != nil {
		err = fmt.Errorf("adaptive: %w", err)
	}
	return err
}
