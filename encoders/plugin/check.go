package plugin

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/drive"
)

// Check is the result of one check of an encoder.
type Check struct {
	Encoder string `json:"encoder"`
	Name    string `json:"name"`              // what was checked
	Result  string `json:"result,omitempty"`  // what was measured
	Problem string `json:"problem,omitempty"` // what does not hold; empty if all does
}

// trial is an encoder on one kind of frames. Frame 0 is the initial state.
type trial struct {
	codec  *encoders.Codec
	schema *frame.Schema
	frames []*frame.Frame
	pair   *drive.Pair // holds all frames that were sent
}

// Try lets an encoder send made-up frames of every kind that it takes, each against an earlier frame,
// with losses, from one end and again from a fresh one, and damages packets.
func Try(c *encoders.Codec) (list []Check) {
	for _, s := range []*frame.Schema{frame.Cubes(64), {Name: "table", Item: "row", Rows: 20, TickHz: 30,
		Fields: []frame.Field{{Name: "x", Min: -1000, Max: 1000}, {Name: "kind", Kind: frame.Enum, Max: 7}, {Name: "on", Kind: frame.Flag, Max: 1},
			{Name: "mask", Kind: frame.Bits}, {Name: "turn", Kind: frame.Angle, Max: 359}, {Name: "speed", Kind: frame.Float32}}},
		{Name: "text", Item: "byte", TickHz: 20, Delivery: frame.Each}} {
		if !c.Suits(s) {
			continue
		}
		t := &trial{codec: c, schema: s, frames: madeUp(s, 200)}
		for _, x := range []struct {
			name  string
			check func() (string, error)
		}{
			{"takes " + s.Name, t.begin},
			{s.Name + ": every frame comes back", t.sendAll},
			{s.Name + ": the same packets from a fresh sender", t.sendAgain},
			{s.Name + ": damaged packets", t.damage},
		} {
			result, err := x.check()
			check := Check{Encoder: c.Name, Name: x.name, Result: result}
			if err != nil {
				check.Problem = err.Error()
			}
			list = append(list, check)
			if err != nil {
				break
			}
		}
	}
	return list
}

// begin makes the two ends.
func (t *trial) begin() (string, error) {
	var err error
	t.pair, err = drive.NewPair(t.codec, t.codec.Defaults(), t.schema, t.frames[0], len(t.frames))
	return "", err
}

// madeUp returns n frames in which a tenth of the values change by at most 4.
func madeUp(s *frame.Schema, n int) []*frame.Frame {
	rng := rand.New(rand.NewPCG(1, 2))
	list := make([]*frame.Frame, n)
	for i := range list {
		f := s.NewFrame()
		if i > 0 {
			f.CopyFrom(list[i-1])
		}
		f.Tick = uint32(i)
		for at := range f.Table {
			fd := &s.Fields[at%len(s.Fields)]
			lowest, span := fd.Span()
			switch {
			case i == 0:
				f.Table[at] = lowest + int32(span/2)
			case rng.IntN(10) == 0:
				by := int64(rng.IntN(9) - 4)
				if v := int64(f.Table[at]) + by; v >= int64(lowest) && v-int64(lowest) <= int64(span) {
					f.Table[at] = int32(v)
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

// distance is how far back the reference of frame i is.
func distance(i int) int { return min(i, []int{1, 6, 2, 40, 3}[i%5]) }

// lost reports whether frame i never arrives, so that no later one refers to it.
func lost(i int) bool { return i%7 == 3 }

// refs returns the reference of frame i at one end.
func (t *trial) refs(e *drive.End, i int) []encoders.Ref {
	at := i - distance(i)
	for at > 0 && lost(at) {
		at--
	}
	if at == 0 {
		return e.Initial(t.frames[0].Tick)
	}
	return e.To(uint64(at))
}

// sendAll passes all frames from one end to the other.
func (t *trial) sendAll() (string, error) {
	p, size := t.pair, 0
	for i := 1; i < len(t.frames); i++ {
		var budget encoders.Budget
		packet, sent, err := p.Encode(nil, i, t.frames[i], t.refs(&p.Sender, i), &budget)
		if err != nil {
			return "", fmt.Errorf("frame %d: %w", i, err)
		}
		if !t.codec.Quantises && !sent.Equal(t.frames[i]) {
			return "", fmt.Errorf("frame %d: the encoder alters it, and does not say that it quantises", i)
		}
		t.frames[i] = sent
		size += len(packet)
		if lost(i) {
			continue
		}
		got, err := p.Decode(i, packet, t.refs(&p.Receiver, i))
		if err != nil {
			return "", fmt.Errorf("frame %d, packet of %d bytes: %w", i, len(packet), err)
		}
		if !got.Equal(sent) {
			return "", fmt.Errorf("frame %d, packet of %d bytes: it is decoded to something else", i, len(packet))
		}
	}
	n := len(t.frames) - 1
	return fmt.Sprintf("%d frames, %.1f bytes each", n, float64(size)/float64(n)), nil
}

// sendAgain encodes some of the frames by a fresh end that has nothing but references and memos.
func (t *trial) sendAgain() (string, error) {
	enc, _, err := t.codec.New(t.schema, t.codec.Defaults())
	if err != nil {
		return "", err
	}
	step := 3
	if t.codec.RunsAs() == Process { // each takes a while to begin
		step = 21
	}
	for i := 1; i < len(t.frames); i += step {
		packet, sent, refs, err := t.encodeAgain(enc, i)
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
			return "", fmt.Errorf("frame %d: a receiver that has only references and memos decodes something else (%v): "+
				"does an end keep something between two calls?", i, err)
		}
	}
	return "", nil
}

// encodeAgain encodes a copy of frame i, which the sender does not keep.
func (t *trial) encodeAgain(enc encoders.Encoder, i int) (packet []byte, sent *frame.Frame, refs []encoders.Ref, err error) {
	sent = t.schema.NewFrame()
	sent.CopyFrom(t.frames[i])
	refs = t.refs(&t.pair.Sender, i)
	packet, _, err = enc.Encode(nil, sent, refs, nil, nil)
	return packet, sent, refs, err
}

// damage passes damaged packets to a decoder.
func (t *trial) damage() (string, error) {
	enc, dec, err := t.codec.New(t.schema, t.codec.Defaults())
	if err != nil {
		return "", err
	}
	rng := rand.New(rand.NewPCG(3, 4))
	refused, n := 0, 0
	for i := 1; i < len(t.frames); i += 4 {
		packet, _, refs, err := t.encodeAgain(enc, i)
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
				refused++
			}
		}
	}
	return fmt.Sprintf("%d of %d refused, the others decoded to something", refused, n), nil
}
