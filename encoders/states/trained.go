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

// A pretrained model is a file that sender and receiver both have; it is never transmitted. It
// holds counters that do not adapt, whose predictions are mixed with those of the adaptive ones,
// and the initial state of weights, error distributions and clusters. The parameter that names it
// is "book". Layout:
//
//	modelMagic
//	hash of the schema       8 bytes, little-endian; see schemaHash
//	CRC-32 of the rest       4 bytes, little-endian
//	contents                 little-endian integers in the order of modelParts, Zstandard
const (
	modelMagic      = "wirelab states 1\n"
	modelHeaderSize = len(modelMagic) + 8 + 4 // magic, hash of the schema, checksum
	maxModelFile    = 1 << 20                 // bytes of a file
	// maxUpdates bounds the update counts of pretrained weights, so that their warm-up, the higher
	// learning rate at the start, is not over.
	maxUpdates = 100
)

// schemaHash returns a hash of what must be equal in schemas that share a pretrained model:
// everything except the number of rows.
func (p *plan) schemaHash() uint64 {
	h := fnv.New64a()
	for i := range p.schema.Fields {
		f, c := &p.schema.Fields[i], &p.columns[i]
		fmt.Fprintln(h, f.Name, f.Kind, c.coding == codingSymbol, f.Hint)
		if c.coding == codingSymbol {
			fmt.Fprintln(h, c.Width)
		}
	}
	for _, q := range p.schema.Parts {
		fmt.Fprintln(h, q.Name, q.Field, q.Size)
	}
	fmt.Fprintln(h, len(p.parts), len(p.groups), p.velocities)
	return h.Sum64()
}

// modelParts lists the contents of a model file: pointers and slices to encode or decode in this
// order.
func (e *coder) modelParts() []any {
	m := e.Initial
	return []any{&m.timePerTick, e.mixer.Pretrained, m.weights, m.errors, m.units, m.speeds, m.pushes, m.steps}
}

// marshalModel returns a model file with the coder's initial state and pretrained counters.
func (e *coder) marshalModel() ([]byte, error) {
	var raw bytes.Buffer
	for _, v := range e.modelParts() {
		if err := binary.Write(&raw, binary.LittleEndian, v); err != nil {
			return nil, err
		}
	}
	packed, err := train.Pack(raw.Bytes())
	if err != nil {
		return nil, err
	}
	out := append([]byte(nil), modelMagic...)
	out = binary.LittleEndian.AppendUint64(out, e.schemaHash())
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(packed))
	return append(out, packed...), nil
}

// Errors of files with pretrained models.
var (
	errNotModel = errors.New("not a delta-trained model, or damaged")
	errShape    = errors.New("trained on a schema with other fields")
)

// loadModel sets a coder's initial state and pretrained counters from a model file. After an error
// the coder must not be used.
func (e *coder) loadModel(file []byte) error {
	if len(file) < modelHeaderSize || string(file[:len(modelMagic)]) != modelMagic {
		return errNotModel
	}
	header, packed := file[len(modelMagic):modelHeaderSize], file[modelHeaderSize:]
	if crc32.ChecksumIEEE(packed) != binary.LittleEndian.Uint32(header[8:]) {
		return errNotModel
	}
	if binary.LittleEndian.Uint64(header) != e.schemaHash() {
		return errShape
	}
	e.mixer.Pretrained = make([]rangecoder.StateCounter, 1<<rangecoder.PretrainedBits)
	size := 0
	for _, v := range e.modelParts() {
		size += binary.Size(v)
	}
	raw, err := train.Open(packed, size+1) // one byte more, to notice contents that are too long
	if err != nil || len(raw) != size {
		return errNotModel
	}
	r := bytes.NewReader(raw)
	for _, v := range e.modelParts() {
		if err := binary.Read(r, binary.LittleEndian, v); err != nil {
			return err
		}
	}
	return e.Initial.check(e.plan)
}

// check returns an error if m, read from a file, holds values that would break an invariant of the
// coder. It also limits the update counts of weights.
func (m *model) check(p *plan) error {
	for i := range m.weights {
		m.weights[i].Updates = min(m.weights[i].Updates, maxUpdates)
	}
	for i := range m.errors {
		sum := 0
		for _, c := range m.errors[i].Count {
			if c == 0 {
				return errNotModel
			}
			sum += int(c)
		}
		if sum != int(m.errors[i].Total) || sum > maxTotal {
			return errNotModel
		}
	}
	for i, unit := range m.units {
		if isFloat := p.columns[i].kind == frame.Float32; isFloat && (unit > floatReach-1 || unit < minUnit) || !isFloat && unit != integerUnit {
			return errNotModel
		}
	}
	if m.timePerTick < 0 || m.timePerTick > 1<<36 { // at most 2^20 units per tick, as in codeTime
		return errNotModel
	}
	return nil
}

// trainedParams are the parameters of delta-trained.
type trainedParams struct {
	Model string `toml:"book" help:"file of a pretrained model, written by tui train; empty: no pretrained model" file:"true"`
}

// DeltaTrained returns the codec delta-trained: delta-adaptive for tables with a state, starting
// from a pretrained model that adapts further.
func DeltaTrained() encoders.Codec {
	return encoders.Codec{
		ID: 43, Name: "delta-trained", Refs: 1, Suits: suitsTrained,
		Summary: "delta-adaptive for floats, hints and parts, starting from a model pretrained on other matches",
		Source:  "PAQ, Matt Mahoney, 2005; gaffer_net, Fabian Giesen, 2015",
		Params:  &trainedParams{},
		New: func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
			if !suitsTrained(s) {
				return nil, nil, fmt.Errorf("schema %s is not suited to delta-trained: expected rows with floats, hints or parts", s.Name)
			}
			p := params.(*trainedParams)
			enc, dec := newCoder(s, defaultLimit, defaultRate, defaultMemory), newCoder(s, defaultLimit, defaultRate, defaultMemory)
			if p.Model == "" {
				return enc, dec, nil
			}
			file, err := boundedio.ReadFile(p.Model, maxModelFile)
			if err == nil {
				err = cmp.Or(enc.loadModel(file), dec.loadModel(file))
			}
			if err != nil {
				return nil, nil, fmt.Errorf("%w book (the pretrained model): %s: %w; expected a file written by tui train --encoder delta-trained for data of this schema",
					encoders.ErrParam, p.Model, err)
			}
			return enc, dec, nil
		},
	}
}

// suitsTrained reports whether delta-trained accepts a schema: Suits, and only the newest frame
// matters.
func suitsTrained(s *frame.Schema) bool {
	return s.Rows > 0 && s.Delivery == frame.Latest && Suits(s, defaultMemory)
}

// The parameters of New for delta-trained: the defaults of delta-adaptive.
const defaultLimit, defaultRate = 250, 400

// Trainers returns the trainer of delta-trained. It runs the codec over the clips (recordings), each frame
// encoded against the one before.
func Trainers() []train.Trainer {
	return []train.Trainer{{Encoder: "delta-trained", Folder: "encoders/states", MakesUserFile: true, Suits: suitsTrained, Train: trainModel, Per: "changed row",
		From: "a match or a table with floats, hints or parts, such as quake3:FILE, teeworlds:FILE or table:SCHEMA.toml,FILE"}}
}

// trainModel trains a model on clips, in Quick mode on the first quickFrames of each, in three
// passes: counters on the first half of each clip; with these as pretrained counters, weights and
// error distributions on the second halves; finally counters on all frames. The model combines the
// weights of the second pass and the counters of the third. The curve is in bits per changed row;
// its last point is the held-out clip, if any.
func trainModel(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	if len(job.Clips) == 0 {
		return nil, fmt.Errorf("states: no recordings to train on, expected at least one")
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
			lengths[i] = min(lengths[i], quickFrames)
		}
	}
	first, second, third := trainingPass{largeTable: true}, trainingPass{}, trainingPass{largeTable: true}
	for epoch, pass := range []struct {
		name string
		*trainingPass
		from, to int // in halves of a clip: 0 and 1 for the first half, 0 and 2 for all
	}{{"counters, first halves", &first, 0, 1}, {"weights, second halves", &second, 1, 2}, {"counters, all frames", &third, 0, 2}} {
		if pass.trainingPass == &second {
			second.pretrained = first.coder.Initial.counters
		}
		for i, clip := range job.Clips {
			n := lengths[i]
			if err := pass.encodeClip(ctx, clip, pass.from*n/2, pass.to*n/2, log); err != nil {
				return nil, err
			}
		}
		log.Report(train.Point{Part: pass.name, Epoch: epoch + 1, Train: pass.bitsPerRow(), Held: math.NaN()})
	}
	trained := second.coder
	trained.mixer.Pretrained = third.coder.Initial.counters
	data, err := trained.marshalModel()
	if err != nil {
		return nil, err
	}
	if job.Held != nil && log.Point != nil {
		held := trainingPass{modelFile: data}
		if err := held.encodeClip(ctx, *job.Held, 0, math.MaxInt, log); err != nil {
			return nil, err
		}
		log.Report(train.Point{Part: "held", Epoch: 4, Train: math.NaN(), Held: held.bitsPerRow()})
	}
	return []train.File{{Name: "match.book", Data: data}}, nil
}

// quickFrames is the number of frames of a clip that a quick training uses.
const quickFrames = 400

// A trainingPass encodes clips one after the other; the adaptive state continues from clip to clip.
type trainingPass struct {
	largeTable  bool                      // use as many counters as a model file holds
	pretrained  []rangecoder.StateCounter // nil if none
	modelFile   []byte                    // contents of the model file to start from; nil if none
	coder       *coder                    // coder of the last clip; its initial state is the state after that clip
	rows, bytes int                       // changed rows, and bytes of packets, so far
}

// bitsPerRow returns the mean size of a changed row so far.
func (pass *trainingPass) bitsPerRow() float64 {
	return float64(8*pass.bytes) / float64(max(pass.rows, 1))
}

// encodeClip encodes the frames with numbers in (from, to] of a clip, counted from 1, and stores
// the resulting state in pass.coder.
func (pass *trainingPass) encodeClip(ctx context.Context, clip train.Clip, from, to int, log train.Log) error {
	e := newCoder(clip.Schema, defaultLimit, defaultRate, defaultMemory)
	if pass.modelFile != nil {
		if err := e.loadModel(pass.modelFile); err != nil {
			return fmt.Errorf("states: %s: %w", clip.Name, err)
		}
	}
	if pass.pretrained != nil {
		e.mixer.Pretrained = pass.pretrained
	}
	if pass.largeTable {
		e.Initial.counters = make([]rangecoder.StateCounter, 1<<rangecoder.PretrainedBits)
		rangecoder.Fill(e.Initial.counters, rangecoder.NewStateCounter)
	}
	if pass.coder != nil {
		if pass.coder.schemaHash() != e.schemaHash() {
			return fmt.Errorf("states: %s: %w", clip.Name, errShape)
		}
		e.Initial.model.copyFrom(&pass.coder.Initial.model)
	}
	base := e.schema.NewFrame()
	var past, spare encoders.Memo // memo of the last frame, nil at first; and a memo whose memory is reused
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
			// The held-out clip has no upper bound; any large number serves as its length.
			log.Progress(clip.Name, int64(n-from), int64(min(to, 1<<20)-from))
		}
		packet, next, err := e.Encode(out[:0], f, []encoders.Ref{{Frame: base, Memo: past}}, spare, nil)
		if err != nil {
			return err
		}
		pass.rows += e.changed.Count()
		pass.bytes += len(packet)
		out, past, spare = packet, next, past
		base.CopyFrom(f)
		return nil
	})
	if m, ok := past.(*memo); ok { // at least one frame was encoded
		e.Initial.model.copyFrom(&m.model)
	}
	pass.coder = e
	return err
}
