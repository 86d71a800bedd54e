package adaptive

import (
	"fmt"

	"wirelab/encoders"
	"wirelab/encoders/rangecoder"
)

// maxMessage bounds a message, in bytes, and so the work that a packet can cause.
const maxMessage = 1<<messageBits - 1

const messageBits = 14

// usual is the probability of the usual case of a flag.
const usual = rangecoder.One - rangecoder.One/512

// codeUsually codes v in n bits, after whether it is the usual value.
func codeUsually(c *rangecoder.Coder, v, usually int, n uint) int {
	if c.Bit(rangecoder.Flag(v == usually), usual) != 0 {
		return usually
	}
	return int(c.Direct(uint64(v), n))
}

// codeLabels codes which model is the sender's newest, and which it used.
func codeLabels(c *rangecoder.Coder, newest, used int) (int, int) {
	newest = int(c.Direct(uint64(newest), 3))
	return newest, codeUsually(c, used, newest, 3)
}

// codeSize codes the length of a message.
func codeSize(c *rangecoder.Coder, n, usually int) int {
	return codeUsually(c, n, usually, messageBits)
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

// encodeWith appends a message, coded with a model or literally, and returns its cost in units.
func (e *endpoint) encodeWith(dst, message []byte, used uint64, literal bool) (packet []byte, labels, body int64) {
	var c rangecoder.Coder
	c.Write(dst)
	zero := c.Spent()
	codeLabels(&c, labelOf(e.models.newest), labelOf(used))
	codeSize(&c, len(message), e.params.Message)
	codeLiteral(&c, literal)
	head, last := c.Spent(), uint32(start)
	m := e.models.use(used)
	for _, v := range message {
		if literal {
			c.Direct(uint64(v), 8)
			continue
		}
		m.code(&c, last, v)
		last = after(last, v)
	}
	spent := c.Spent()
	return c.Finish(), head - zero, spent - head
}

// codeLiteral codes whether the bytes follow without a model.
func codeLiteral(c *rangecoder.Coder, literal bool) bool {
	return c.Bit(rangecoder.Flag(literal), rangecoder.One-usual) != 0
}

// readBody reads a message into dst. It stops soon after the input ends.
func readBody(c *rangecoder.Coder, dst []byte, n int, m *model) ([]byte, error) {
	last, literal := uint32(start), codeLiteral(c, false)
	for range n {
		v := byte(0)
		if literal {
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
