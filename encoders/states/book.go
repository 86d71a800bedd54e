package states

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/train"
	"wirelab/internal/boundedio"
)

// A book is what was learnt from matches of a schema: counters that stay as they are and are
// asked beside those that learn, and the state that weights and records of errors begin with.
// Its file is a head and, compressed by Zstandard, these as little-endian integers. It is
// larger than what could travel with frames, and need not.

const (
	bookMark = "wirelab states 1\n"
	headSize = len(bookMark) + 8 + 4 // the shape of the schema, the checksum of what follows
	// MaxBook bounds the file of a book, in bytes.
	MaxBook = 1 << 20
	// settled is how much weights from a book have seen: they still learn.
	settled = 100
)

// shape tells schemas apart that books cannot be shared between. How many rows there are does
// not matter.
func (p *plan) shape() uint64 {
	h := fnv.New64a()
	for i := range p.schema.Fields {
		f, c := &p.schema.Fields[i], &p.cols[i]
		fmt.Fprintln(h, f.Name, f.Kind, c.sort == symbols, f.Hint)
		if c.sort == symbols {
			fmt.Fprintln(h, c.width)
		}
	}
	for _, q := range p.schema.Parts {
		fmt.Fprintln(h, q.Name, q.Field, q.Size)
	}
	fmt.Fprintln(h, len(p.parts), len(p.groups), p.velocities)
	return h.Sum64()
}

// learnt lists what a book holds.
func (e *coder) learnt() []any {
	m := e.initial
	return []any{&m.pace, e.x.book, m.weights, m.records, m.unit, m.speeds, m.pushes, m.steps}
}

// write returns the file of what a coder begins with.
func (e *coder) write() ([]byte, error) {
	var raw bytes.Buffer
	for _, v := range e.learnt() {
		if err := binary.Write(&raw, binary.LittleEndian, v); err != nil {
			return nil, err
		}
	}
	packed, err := train.Pack(raw.Bytes())
	if err != nil {
		return nil, err
	}
	out := append([]byte(nil), bookMark...)
	out = binary.LittleEndian.AppendUint64(out, e.shape())
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(packed))
	return append(out, packed...), nil
}

// Errors of books.
var (
	errNoBook = errors.New("it is no book of delta-trained, or a damaged one")
	errShape  = errors.New("it was learnt from a schema with other fields")
)

// open makes a coder begin with a book.
func (e *coder) open(book []byte) error {
	if len(book) < headSize || string(book[:len(bookMark)]) != bookMark {
		return errNoBook
	}
	head, packed := book[len(bookMark):headSize], book[headSize:]
	if crc32.ChecksumIEEE(packed) != binary.LittleEndian.Uint32(head[8:]) {
		return errNoBook
	}
	if binary.LittleEndian.Uint64(head) != e.shape() {
		return errShape
	}
	e.x.book = make([]counter, 1<<bookBits)
	size := 0
	for _, v := range e.learnt() {
		size += binary.Size(v)
	}
	raw, err := train.Open(packed, size+1)
	if err != nil || len(raw) != size {
		return errNoBook
	}
	r := bytes.NewReader(raw)
	for _, v := range e.learnt() {
		if err := binary.Read(r, binary.LittleEndian, v); err != nil {
			return err
		}
	}
	return e.initial.check(e.plan)
}

// check makes what came from a file safe to work with.
func (m *memo) check(p *plan) error {
	for i := range m.weights {
		m.weights[i].N = min(m.weights[i].N, settled)
	}
	for i := range m.records {
		sum := 0
		for _, c := range m.records[i].Count {
			if c == 0 {
				return errNoBook
			}
			sum += int(c)
		}
		if sum != int(m.records[i].Total) || sum > mostSeen {
			return errNoBook
		}
	}
	for i, u := range m.unit {
		if float := p.cols[i].kind == frame.Float32; float && (u > floatReach-1 || u < -96) || !float && u != integerUnit {
			return errNoBook
		}
	}
	if m.pace < 0 || m.pace > 1<<36 {
		return errNoBook
	}
	return nil
}

// TrainedParams are the parameters of delta-trained.
type TrainedParams struct {
	Book string `toml:"book" help:"file of what was learnt from such data before, as tui train writes it; none: it begins with nothing" file:"true"`
}

// DeltaTrained begins with what was learnt from other matches, and learns on.
func DeltaTrained() encoders.Codec {
	return encoders.Codec{
		ID: 43, Name: "delta-trained", Refs: 1, Suits: suits,
		Summary: "delta-adaptive for floats, hints and parts, beginning with a book that both ends have: what was learnt from other matches",
		Source:  "PAQ, Matt Mahoney, 2005; gaffer_net, Fabian Giesen, 2015",
		Params:  &TrainedParams{},
		New: func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
			if !suits(s) {
				return nil, nil, fmt.Errorf("schema %s has nothing that delta-trained is for", s.Name)
			}
			p := params.(*TrainedParams)
			enc, dec := newCoder(s, usual), newCoder(s, usual)
			if p.Book == "" {
				return enc, dec, nil
			}
			book, err := boundedio.ReadFile(p.Book, MaxBook)
			if err == nil {
				if err = enc.open(book); err == nil {
					err = dec.open(book)
				}
			}
			if err != nil {
				return nil, nil, fmt.Errorf("%w book: %s: %w; expected a file that tui train --encoder delta-trained made of such data",
					encoders.ErrParam, p.Book, err)
			}
			return enc, dec, nil
		},
	}
}

func suits(s *frame.Schema) bool { return s.Rows > 0 && s.Delivery == frame.Latest && Suits(s) }

var usual = Params{Limit: 250, Rate: 400}
