package transfer

import (
	"errors"
	"fmt"
)

// Receiver reassembles the blocks of a stream. The stream begins with a Label, which
// gives its length.
type Receiver struct {
	stream     []byte            // received without a gap
	blocks     int               // number of blocks in stream
	afterGap   map[uint32][]byte // blocks received after a gap, by number
	label      Label
	labelBytes int // length of the label; 0 until it has arrived
	err        error
}

// outcome is what a receiver did with a block.
type outcome uint8

// Values of outcome.
const (
	stored    outcome = iota // the block is new and was stored
	Duplicate                // the block had arrived before
	rejected                 // the block is invalid: see the error
)

// errBlock means that a block cannot be part of the stream.
var errBlock = errors.New("transfer: impossible block")

// Accept adds block number, from 0, with the contents body, which it copies. Any
// arguments are safe: memory grows with the bytes received, not with the sizes in the
// label. After an error in the stream, all blocks are refused with that error.
func (r *Receiver) Accept(number uint32, body []byte) (outcome, error) {
	if r.err != nil {
		return rejected, r.err
	}
	next := uint32(r.blocks)
	switch {
	case number < next:
		return Duplicate, nil
	case number-next >= MaxAhead:
		return rejected, fmt.Errorf("%w: block number %d, expected %d to %d", errBlock, number, next, next+MaxAhead-1)
	case len(body) == 0:
		return rejected, fmt.Errorf("%w: block %d is empty", errBlock, number)
	case r.Complete():
		return rejected, fmt.Errorf("%w: block %d is after the end of the stream", errBlock, number)
	}
	if number > next {
		if r.afterGap[number] != nil {
			return Duplicate, nil
		}
		if r.afterGap == nil {
			r.afterGap = map[uint32][]byte{}
		}
		r.afterGap[number] = append([]byte{}, body...)
		return stored, nil
	}
	// The next block may also close the gap before blocks that have arrived already.
	for body != nil && r.err == nil {
		r.err = r.appendBlock(body)
		body = r.afterGap[uint32(r.blocks)]
		delete(r.afterGap, uint32(r.blocks))
	}
	if r.err != nil {
		return rejected, r.err
	}
	return stored, nil
}

// appendBlock adds the next block to the stream.
func (r *Receiver) appendBlock(body []byte) error {
	r.stream = append(r.stream, body...)
	r.blocks++
	if r.labelBytes == 0 {
		var err error
		if r.label, r.labelBytes, err = parseLabel(r.stream); err != nil {
			return err
		}
	}
	if r.missing() < 0 {
		return fmt.Errorf("%w: the stream is longer than its label states", errBlock)
	}
	return nil
}

// missing returns the number of bytes that r.stream lacks until the end that the label
// states; negative if the stream is too long.
func (r *Receiver) missing() int64 {
	return r.label.Packed + int64(r.labelBytes) - int64(len(r.stream))
}

// Complete reports whether the whole stream has been received.
func (r *Receiver) Complete() bool { return r.err == nil && r.labelBytes > 0 && r.missing() == 0 }

// Packed returns the stream after its label, as far as it was received without a gap.
func (r *Receiver) Packed() []byte { return r.stream[r.labelBytes:] }

// Label returns the stream's label, the zero Label before it has been received.
func (r *Receiver) Label() Label { return r.label }

// Contiguous returns how many blocks were received without a gap.
func (r *Receiver) Contiguous() int { return r.blocks }

// Has reports whether a block was received.
func (r *Receiver) Has(number int) bool {
	return number < r.blocks || r.afterGap[uint32(number)] != nil
}

// Received returns how many blocks were received, including those after a gap.
func (r *Receiver) Received() int { return r.blocks + len(r.afterGap) }
