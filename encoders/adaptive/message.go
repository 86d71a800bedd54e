package adaptive

import (
	"fmt"

	"wirelab/encoders"
	"wirelab/encoders/rangecoder"
)

// maxMessage bounds the size of a message in bytes, and with it the work that a packet can cause.
const maxMessage = 1<<messageBits - 1

const messageBits = 14

// usualP is the probability of the usual outcome of a flag, so that it costs almost nothing.
const usualP = rangecoder.One - rangecoder.One/512

// codeWithDefault codes a flag whether v equals usual, and n bits of v if not. It returns v; a reader
// ignores the argument.
func codeWithDefault(c *rangecoder.Coder, v, usual int, n uint) int {
	if c.Bit(rangecoder.Flag(v == usual), usualP) != 0 {
		return usual
	}
	return int(c.Direct(uint64(v), n))
}

// codeLabels codes the label of the sender's newest model and that of the model used for the
// packet, and returns both; a reader ignores the arguments. A label has 3 bits.
func codeLabels(c *rangecoder.Coder, newest, used int) (newestLabel, usedLabel int) {
	newest = int(c.Direct(uint64(newest), 3))
	return newest, codeWithDefault(c, used, newest, 3)
}

// codeSize codes n, the size of a message in bytes, and returns it: a flag whether it is the usual size, otherwise 14
// bits. A reader ignores n.
func codeSize(c *rangecoder.Coder, n, usual int) int {
	return codeWithDefault(c, n, usual, messageBits)
}

// maxOverhead bounds how much longer a packet is than its message: labels, size and the flag for
// literal bytes.
const maxOverhead = 7

// appendPacket appends the packet of a message to dst: coded with the model with index used, or with literal
// bytes if the coded packet is more than maxOverhead bytes longer than the message. It charges the packet to
// budget, which may be nil.
func (e *endpoint) appendPacket(dst, message []byte, used uint64, budget *encoders.Budget) []byte {
	before, begin := budget.Total(), len(dst)
	const modelled, literal = false, true
	dst, labels, body := e.encodeWith(dst, message, used, modelled)
	if len(dst)-begin > len(message)+maxOverhead {
		dst, labels, body = e.encodeWith(dst[:begin], message, used, literal)
	}
	budget.Charge(encoders.SlotModel, labels)
	budget.Charge(encoders.SlotBody, body)
	budget.Close(before, len(dst)-begin)
	return dst
}

// encodeWith appends a message to dst, coded with the model with index used, or with literal bytes if literal
// is true. It returns the cost of the labels and of the body in units of a budget.
func (e *endpoint) encodeWith(dst, message []byte, used uint64, literal bool) (packet []byte, labels, body int64) {
	var c rangecoder.Coder
	c.Write(dst)
	start := c.Spent()
	codeLabels(&c, labelOf(e.models.newest), labelOf(used))
	codeSize(&c, len(message), e.params.UsualSize)
	codeLiteral(&c, literal)
	labelsEnd, recent := c.Spent(), uint32(startContext)
	m := e.models.build(used)
	for _, v := range message {
		if literal {
			c.Direct(uint64(v), 8)
			continue
		}
		m.codeByte(&c, recent, v)
		recent = nextContext(recent, v)
	}
	spent := c.Spent()
	return c.Finish(), labelsEnd - start, spent - labelsEnd
}

// codeLiteral codes whether the bytes of the message are literal: not coded with a model.
func codeLiteral(c *rangecoder.Coder, literal bool) bool {
	return c.Bit(rangecoder.Flag(literal), rangecoder.One-usualP) != 0
}

// readBody reads a message of n bytes that was coded with model m, appends it to dst and closes the packet. It stops
// soon after the input ends, whatever n is.
func readBody(c *rangecoder.Coder, dst []byte, n int, m *model) ([]byte, error) {
	recent, literal := uint32(startContext), codeLiteral(c, false) // a reader ignores false
	for range n {
		v := byte(0)
		if literal {
			v = byte(c.Direct(0, 8)) // 8 bits with probability 1/2 each
		} else {
			v = m.codeByte(c, recent, 0)
			recent = nextContext(recent, v)
		}
		dst = append(dst, v)
		if err := c.Err(); err != nil {
			return dst, wrapReadError(err)
		}
	}
	return dst, wrapReadError(c.Close())
}

// wrapReadError wraps an error of the range coder; nil stays nil.
func wrapReadError(err error) error {
	if err = encoders.DecodeError(err, rangecoder.ErrShort); err != nil {
		err = fmt.Errorf("adaptive: %w", err)
	}
	return err
}
