package plugin

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/drive"
)

// A Check is the result of one check of an encoder.
type Check struct {
	Encoder string `json:"encoder"`           // name of the encoder
	Name    string `json:"name"`              // what was checked
	Result  string `json:"result,omitempty"`  // what was measured, may be empty
	Problem string `json:"problem,omitempty"` // why the check failed; empty if it passed
}

// A checker checks an encoder with frames of one schema. Frame 0 is the initial state.
type checker struct {
	codec  *encoders.Codec
	schema *frame.Schema
	frames []*frame.Frame
	pair   *drive.Pair // holds the newest frames that were sent
}

// keptFrames is the number of the newest frames that are encoded again after all were sent. The history, of
// frame.MaxHistory frames, also contains their references, which are at most 41 frames older.
const keptFrames = 200

// firstKept returns the index of the first frame that is encoded again.
func (t *checker) firstKept() int { return max(1, len(t.frames)-keptFrames) }

// CheckCodec checks whether an encoder works as wirelab.h requires, by CheckFrames with synthetic frames of each of
// three kinds (cubes, a table, a text) that the encoder accepts.
func CheckCodec(c *encoders.Codec) (list []Check) {
	for _, s := range []*frame.Schema{frame.Cubes(64), {Name: "table", Item: "row", Rows: 20, TickHz: 30,
		Fields: []frame.Field{{Name: "x", Min: -1000, Max: 1000}, {Name: "kind", Kind: frame.Enum, Max: 7}, {Name: "on", Kind: frame.Flag, Max: 1},
			{Name: "mask", Kind: frame.Bits}, {Name: "turn", Kind: frame.Angle, Max: 359}, {Name: "speed", Kind: frame.Float32}}},
		{Name: "text", Item: "byte", TickHz: 20, Delivery: frame.Unreliable}} {
		if c.Suits(s) {
			list = append(list, CheckFrames(c, s, syntheticFrames(s, keptFrames))...)
		}
	}
	return list
}

// CheckFrames checks whether an encoder works as wirelab.h requires with the given frames of schema s. frames[0] is the
// initial state, and the tick of frames[i] must be i. CheckFrames sends the frames with losses and compares what the decoder
// returns; repeats that with new encoders and decoders, which have only references and memos; and decodes damaged
// packets. After a failed check the others are left out. If the encoder quantises, CheckFrames rewrites the frames.
func CheckFrames(c *encoders.Codec, s *frame.Schema, frames []*frame.Frame) (list []Check) {
	chk := &checker{codec: c, schema: s, frames: frames}
	for _, step := range []struct {
		name  string
		check func() (string, error)
	}{
		{"accepts " + s.Name, chk.createPair},
		{s.Name + ": every frame comes back", chk.sendAll},
		{s.Name + ": new encoders and decoders give the same frames", chk.sendFromFresh},
		{s.Name + ": damaged packets", chk.decodeDamaged},
	} {
		result, err := step.check()
		check := Check{Encoder: c.Name, Name: step.name, Result: result}
		if err != nil {
			check.Problem = err.Error()
		}
		list = append(list, check)
		if err != nil {
			break
		}
	}
	return list
}

// createPair sets t.pair to a new encoder and decoder. Like all checks it returns a result to show, here none,
// and an error if the check failed.
func (t *checker) createPair() (string, error) {
	if !t.codec.Suits(t.schema) {
		return "", fmt.Errorf("%s does not encode such frames; expected another of WL_SUITS_* in its description", t.codec.Name)
	}
	var err error
	t.pair, err = drive.NewPair(t.codec, t.codec.Defaults(), t.schema, t.frames[0], min(len(t.frames), frame.MaxHistory))
	return "", err
}

// syntheticFrames returns n frames, from each of which to the next a tenth of the values change by at most
// 4. Frames of a schema without rows have a random text as body.
func syntheticFrames(s *frame.Schema, n int) []*frame.Frame {
	rng := rand.New(rand.NewPCG(1, 2)) // a fixed seed: every check of a plugin uses the same frames
	list := make([]*frame.Frame, n)
	for i := range list {
		f := s.NewFrame()
		if i > 0 {
			f.CopyFrom(list[i-1])
		}
		f.Tick = uint32(i)
		for cell := range f.Table {
			fd := &s.Fields[cell%len(s.Fields)]
			lowest, span := fd.Span()
			switch {
			case i == 0: // the initial state: the middle of each range
				f.Table[cell] = lowest + int32(span/2)
			case rng.IntN(10) == 0:
				change := int64(rng.IntN(9) - 4)
				if v := int64(f.Table[cell]) + change; v >= int64(lowest) && v-int64(lowest) <= int64(span) {
					f.Table[cell] = int32(v)
				}
			}
		}
		if s.Rows == 0 {
			f.Body = f.Body[:0]
			for range rng.IntN(300) {
				f.Body = append(f.Body, "some text of no use "[rng.IntN(20)])
			}
		}
		list[i] = f
	}
	return list
}

// refDistance returns the distance in frames from frame i to its reference, at most i: frame 0, the initial
// state, is the oldest. It varies, so that references are new, old, and older than those of earlier frames.
func refDistance(i int) int { return min(i, []int{1, 6, 2, 40, 3}[i%5]) }

// isLost reports whether the check drops the packet of frame i, as a network may. A lost frame is not a
// reference.
func isLost(i int) bool { return i%7 == 3 }

// refsFor returns the reference of frame i, with the memo that endpoint e, the sender or the receiver, has for
// it: the frame refDistance(i) before frame i or, if that was lost, the next older frame that was not lost.
func (t *checker) refsFor(e *drive.End, i int) []encoders.Ref {
	ref := i - refDistance(i)
	for ref > 0 && isLost(ref) {
		ref--
	}
	if ref == 0 {
		return e.Initial(t.frames[0].Tick)
	}
	return e.RefsTo(uint64(ref))
}

// sendAll encodes all frames, decodes those that are not lost and compares the result. If the encoder
// quantises, t.frames is changed to the frames as they were sent. The result is the mean size of a packet.
func (t *checker) sendAll() (string, error) {
	p, size := t.pair, 0
	for i := 1; i < len(t.frames); i++ {
		var budget encoders.Budget
		packet, sent, err := p.Encode(nil, i, t.frames[i], t.refsFor(&p.Sender, i), &budget)
		if err != nil {
			return "", fmt.Errorf("frame %d: %w", i, err)
		}
		if !t.codec.Quantises && !sent.Equal(t.frames[i]) {
			return "", fmt.Errorf("frame %d: the encoder changes the frame, expected WL_QUANTISES among its flags", i)
		}
		t.frames[i] = sent
		size += len(packet)
		if isLost(i) {
			continue
		}
		got, err := p.Decode(i, packet, t.refsFor(&p.Receiver, i))
		if err != nil {
			return "", fmt.Errorf("frame %d, packet of %d bytes: %w", i, len(packet), err)
		}
		if !got.Equal(sent) {
			return "", fmt.Errorf("frame %d, packet of %d bytes: the decoded frame differs", i, len(packet))
		}
	}
	n := len(t.frames) - 1
	return fmt.Sprintf("%d frames, %.1f bytes each", n, float64(size)/float64(n)), nil
}

// sendFromFresh encodes some of the frames with a new encoder and decodes each with a new decoder. They
// know only references and memos, so the frames differ if the plugin keeps other state between calls.
func (t *checker) sendFromFresh() (string, error) {
	enc, _, err := t.codec.New(t.schema, t.codec.Defaults())
	if err != nil {
		return "", err
	}
	step := 3
	if t.codec.Runtime() == Process { // each new decoder is a process, whose start takes time
		step = 21
	}
	for i := t.firstKept(); i < len(t.frames); i += step {
		packet, sent, refs, err := t.encodeCopy(enc, i)
		if err != nil {
			return "", fmt.Errorf("frame %d: %w", i, err)
		}
		_, dec, err := t.codec.New(t.schema, t.codec.Defaults())
		if err != nil {
			return "", err
		}
		got := t.schema.NewFrame()
		got.Tick = sent.Tick
		if _, err := dec.Decode(got, packet, refs, nil); err != nil || !got.Equal(sent) {
			return "", fmt.Errorf("frame %d: a new decoder with the same references and memos returns another frame "+
				"(error: %v); is state kept between calls outside of memos?", i, err)
		}
	}
	return "", nil
}

// encodeCopy encodes a copy of frame i with enc, against the references that the sender holds.
func (t *checker) encodeCopy(enc encoders.Encoder, i int) (packet []byte, sent *frame.Frame, refs []encoders.Ref, err error) {
	sent = t.schema.NewFrame()
	sent.CopyFrom(t.frames[i])
	refs = t.refsFor(&t.pair.Sender, i)
	packet, _, err = enc.Encode(nil, sent, refs, nil, nil) // no memory to reuse and no budget
	return packet, sent, refs, err
}

// decodeDamaged decodes packets that are truncated, have a flipped bit or additional bytes. The decoder must
// return an error or some frame. It returns how many packets were rejected.
func (t *checker) decodeDamaged() (string, error) {
	enc, dec, err := t.codec.New(t.schema, t.codec.Defaults())
	if err != nil {
		return "", err
	}
	rng := rand.New(rand.NewPCG(3, 4))
	rejected, n := 0, 0 // rejected packets, of n
	for i := t.firstKept(); i < len(t.frames); i += 4 {
		packet, _, refs, err := t.encodeCopy(enc, i)
		if err != nil {
			return "", err
		}
		for range 10 {
			bad := append([]byte(nil), packet...)
			switch rng.IntN(3) {
			case 0:
				bad = bad[:rng.IntN(len(bad)+1)]
			case 1:
				if len(bad) > 0 {
					bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
				}
			case 2:
				for range 1 + rng.IntN(20) {
					bad = append(bad, byte(rng.Uint32()))
				}
			}
			n++
			_, err := dec.Decode(t.schema.NewFrame(), bad, refs, nil)
			switch {
			case errors.Is(err, encoders.ErrBroken):
				return "", fmt.Errorf("a damaged packet of %d bytes: %w", len(bad), err)
			case err != nil:
				rejected++
			}
		}
	}
	return fmt.Sprintf("%d of %d rejected, the others decoded to some frame", rejected, n), nil
}
