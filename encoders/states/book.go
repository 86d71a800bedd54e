package states

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/rangecoder"
	"wirelab/encoders/train"
	"wirelab/internal/boundedio"
)

// A book is the file of a trained model, learnt from matches of a schema: pretrained counters,
// which do not change and whose predictions are mixed with those of the adaptive ones, and the
// initial state of weights, error distributions and clusters. After a head it holds these as
// little-endian integers, compressed by Zstandard. Both ends have it; it never travels.

const (
	bookMark = "wirelab states 1\n"
	headSize = len(bookMark) + 8 + 4 // the shape of the schema, the checksum of what follows
	maxBook  = 1 << 20               // bytes of a file
	// maxUpdates bounds the updates of weights from a book, so that they still learn.
	maxUpdates = 100
)

// shape returns a hash of what must be equal in schemas that share a book: all but the number of
// rows.
func (p *plan) shape() uint64 {
	h := fnv.New64a()
	for i := range p.schema.Fields {
		f, c := &p.schema.Fields[i], &p.cols[i]
		fmt.Fprintln(h, f.Name, f.Kind, c.sort == symbols, f.Hint)
		if c.sort == symbols {
			fmt.Fprintln(h, c.Width)
		}
	}
	for _, q := range p.schema.Parts {
		fmt.Fprintln(h, q.Name, q.Field, q.Size)
	}
	fmt.Fprintln(h, len(p.parts), len(p.groups), p.velocities)
	return h.Sum64()
}

// bookParts lists the contents of a book.
func (e *coder) bookParts() []any {
	m := e.Initial
	return []any{&m.pace, e.x.Pretrained, m.weights, m.errors, m.unit, m.speeds, m.pushes, m.steps}
}

// write returns the book of a coder's initial state.
func (e *coder) write() ([]byte, error) {
	var raw bytes.Buffer
	for _, v := range e.bookParts() {
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

// open sets a coder's initial state to that of a book.
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
	e.x.Pretrained = make([]rangecoder.StateCounter, 1<<rangecoder.PretrainedBits)
	size := 0
	for _, v := range e.bookParts() {
		size += binary.Size(v)
	}
	raw, err := train.Open(packed, size+1)
	if err != nil || len(raw) != size {
		return errNoBook
	}
	r := bytes.NewReader(raw)
	for _, v := range e.bookParts() {
		if err := binary.Read(r, binary.LittleEndian, v); err != nil {
			return err
		}
	}
	return e.Initial.check(e.plan)
}

// check returns an error if a file holds values that no coder writes.
func (l *learnt) check(p *plan) error {
	for i := range l.weights {
		l.weights[i].Updates = min(l.weights[i].Updates, maxUpdates)
	}
	for i := range l.errors {
		sum := 0
		for _, c := range l.errors[i].Count {
			if c == 0 {
				return errNoBook
			}
			sum += int(c)
		}
		if sum != int(l.errors[i].Total) || sum > maxTotal {
			return errNoBook
		}
	}
	for i, u := range l.unit {
		if float := p.cols[i].kind == frame.Float32; float && (u > floatReach-1 || u < -96) || !float && u != integerUnit {
			return errNoBook
		}
	}
	if l.pace < 0 || l.pace > 1<<36 {
		return errNoBook
	}
	return nil
}

type trainedParams struct {
	Book string `toml:"book" help:"file of what was learnt from such data before, as tui train writes it; none: it begins with nothing" file:"true"`
}

// DeltaTrained begins with what was learnt from other matches, and learns more.
func DeltaTrained() encoders.Codec {
	return encoders.Codec{
		ID: 43, Name: "delta-trained", Refs: 1, Suits: suits,
		Summary: "delta-adaptive for floats, hints and parts, beginning with a book that both ends have: what was learnt from other matches",
		Source:  "PAQ, Matt Mahoney, 2005; gaffer_net, Fabian Giesen, 2015",
		Params:  &trainedParams{},
		New: func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
			if !suits(s) {
				return nil, nil, fmt.Errorf("schema %s has nothing that delta-trained is for", s.Name)
			}
			p := params.(*trainedParams)
			enc, dec := newCoder(s, usualLimit, usualRate), newCoder(s, usualLimit, usualRate)
			if p.Book == "" {
				return enc, dec, nil
			}
			book, err := boundedio.ReadFile(p.Book, maxBook)
			if err == nil {
				err = cmp.Or(enc.open(book), dec.open(book))
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

// The parameters of delta-trained: the defaults of delta-adaptive.
const usualLimit, usualRate = 250, 400

// Trainers returns the trainer of delta-trained. It learns as the codec does, from one match after
// the other, each frame against the one before.
func Trainers() []train.Trainer {
	return []train.Trainer{{Encoder: "delta-trained", Folder: "encoders/states", Model: true, Suits: suits, Train: learnBook, Per: "changed row",
		From: "a match or a table with floats, hints or parts, as quake3:FILE, teeworlds:FILE or table:SCHEMA.toml,FILE"}}
}

// learnBook makes a book of clips, in three lessons: counters of their first halves; with these as
// pretrained counters, weights and error distributions of their second halves; and counters of
// all frames, which are the book's. The curve is in bits per changed row.
func learnBook(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	if len(job.Clips) == 0 {
		return nil, fmt.Errorf("states: nothing to learn from")
	}
	lengths := make([]int, len(job.Clips))
	for i, clip := range job.Clips {
		err := clip.Frames(func(*frame.Frame) error {
			lengths[i]++
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
		if job.Quick {
			lengths[i] = min(lengths[i], 400)
		}
	}
	first, second, whole := lesson{large: true}, lesson{}, lesson{large: true}
	for epoch, s := range []struct {
		name string
		*lesson
		from, to int // halves of clips
	}{{"first halves", &first, 0, 1}, {"second halves, by those", &second, 1, 2}, {"all", &whole, 0, 2}} {
		if s.lesson == &second {
			second.pretrained = first.last.Initial.counters
		}
		for i, clip := range job.Clips {
			n := lengths[i]
			if err := s.learn(ctx, clip, s.from*n/2, s.to*n/2, log); err != nil {
				return nil, err
			}
		}
		log.Report(train.Point{Part: s.name, Epoch: epoch + 1, Train: s.perRow(), Held: math.NaN()})
	}
	e := second.last
	e.x.Pretrained = whole.last.Initial.counters
	data, err := e.write()
	if err != nil {
		return nil, err
	}
	if job.Held != nil && log.Point != nil {
		held := lesson{book: data}
		if err := held.learn(ctx, *job.Held, 0, math.MaxInt, log); err != nil {
			return nil, err
		}
		log.Report(train.Point{Part: "held", Epoch: 4, Train: math.NaN(), Held: held.perRow()})
	}
	return []train.File{{Name: "match.book", Data: data}}, nil
}

// lesson is one pass over clips.
type lesson struct {
	large       bool                      // with as many counters as a book has
	pretrained  []rangecoder.StateCounter // nil if none
	book        []byte                    // the file to begin with; nil if none
	last        *coder                    // its initial state is what was learnt
	rows, bytes int
}

func (l *lesson) perRow() float64 { return float64(8*l.bytes) / float64(max(l.rows, 1)) }

// learn encodes frames from..to of a clip.
func (l *lesson) learn(ctx context.Context, clip train.Clip, from, to int, log train.Log) error {
	e := newCoder(clip.Schema, usualLimit, usualRate)
	if l.book != nil {
		if err := e.open(l.book); err != nil {
			return fmt.Errorf("states: %s: %w", clip.Name, err)
		}
	}
	if l.pretrained != nil {
		e.x.Pretrained = l.pretrained
	}
	if l.large {
		e.Initial.counters = make([]rangecoder.StateCounter, 1<<rangecoder.PretrainedBits)
		rangecoder.Fill(e.Initial.counters, rangecoder.NewStateCounter)
	}
	if l.last != nil {
		if l.last.shape() != e.shape() {
			return fmt.Errorf("states: %s: %w", clip.Name, errShape)
		}
		e.Initial.learnt.copyFrom(&l.last.Initial.learnt)
	}
	base := e.schema.NewFrame()
	var past, spare encoders.Memo
	var out []byte
	n := 0
	err := clip.Frames(func(f *frame.Frame) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		n++
		if n <= from || n > to {
			return nil
		}
		if n%100 == 0 {
			log.Progress(clip.Name, int64(n-from), int64(min(to, 1<<20)-from))
		}
		packet, next, err := e.Encode(out[:0], f, []encoders.Ref{{Frame: base, Memo: past}}, spare, nil)
		if err != nil {
			return err
		}
		l.rows += e.changed.Count()
		l.bytes += len(packet)
		out, past, spare = packet, next, past
		base.CopyFrom(f)
		return nil
	})
	if m, ok := past.(*memo); ok {
		e.Initial.learnt.copyFrom(&m.learnt)
	}
	l.last = e
	return err
}
