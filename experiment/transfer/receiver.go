package transfer

import (
	"errors"
	"fmt"
)

// Receiver puts the blocks of a stream together. The first bytes of the stream are
// its label, which says how long it is.
type Receiver struct {
	stream     []byte // without a gap
	blocks     int    // in it
	early      map[uint32][]byte
	label      Label
	labelBytes int // bytes of the label; 0 as long as it has not come
	err        error
}

// Fate is what became of a block at the receiver.
type Fate uint8

// The fates.
const (
	Kept      Fate = iota // it was missing
	Duplicate             // it was there already
	Refused               // it cannot be: see the error
)

// ErrBlock: a block that no sender sends.
var ErrBlock = errors.New("transfer: impossible block")

// Accept takes a block, which it copies. Any number and any bytes may come: memory
// grows with what came, and with nothing that it claims.
func (r *Receiver) Accept(number uint32, body []byte) (Fate, error) {
	if r.err != nil {
		return Refused, r.err
	}
	at := uint32(r.blocks)
	switch {
	case number < at:
		return Duplicate, nil
	case number-at >= Reach:
		return Refused, fmt.Errorf("%w: number %d where %d is missing", ErrBlock, number, at)
	case len(body) == 0:
		return Refused, fmt.Errorf("%w: number %d is empty", ErrBlock, number)
	case r.Complete():
		return Refused, fmt.Errorf("%w: number %d behind the end", ErrBlock, number)
	}
	if number > at {
		if r.early[number] != nil {
			return Duplicate, nil
		}
		if r.early == nil {
			r.early = map[uint32][]byte{}
		}
		r.early[number] = append([]byte{}, body...)
		return Kept, nil
	}
	for body != nil && r.err == nil {
		r.err = r.append(body)
		body = r.early[uint32(r.blocks)]
		delete(r.early, uint32(r.blocks))
	}
	if r.err != nil {
		return Refused, r.err
	}
	return Kept, nil
}

// append adds the next block to the stream.
func (r *Receiver) append(body []byte) error {
	r.stream = append(r.stream, body...)
	r.blocks++
	if r.labelBytes == 0 {
		var err error
		if r.label, r.labelBytes, err = parseLabel(r.stream); err != nil {
			return err
		}
	}
	if r.missing() < 0 {
		return fmt.Errorf("%w: the stream goes on behind its end", ErrBlock)
	}
	return nil
}

// left returns how many bytes are missing at the end.
func (r *Receiver) missing() int64 {
	return r.label.Packed + int64(r.labelBytes) - int64(len(r.stream))
}

// Complete reports whether the whole stream is there.
func (r *Receiver) Complete() bool { return r.err == nil && r.labelBytes > 0 && r.missing() == 0 }

// Packed returns the stream without its label, as far as it came without a gap.
func (r *Receiver) Packed() []byte { return r.stream[r.labelBytes:] }

// Label returns what the stream says of itself, and whether that has come.
func (r *Receiver) Label() (Label, bool) { return r.label, r.labelBytes > 0 }

// UpTo returns how many blocks are there without a gap.
func (r *Receiver) Contiguous() int { return r.blocks }

// Has reports whether a block is there.
func (r *Receiver) Has(number int) bool {
	return number < r.blocks || r.early[uint32(number)] != nil
}

// Held returns how many blocks are there, those after a gap included.
func (r *Receiver) Received() int { return r.blocks + len(r.early) }
