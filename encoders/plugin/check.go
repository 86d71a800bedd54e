package plugin

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// Check is something that was tried on an encoder.
type Check struct {
	Encoder string `json:"encoder"`
	Name    string `json:"name"`              // what was tried
	Result  string `json:"result,omitempty"`  // what was seen
	Problem string `json:"problem,omitempty"` // what does not hold
}

// trial is an encoder on one kind of frames.
type trial struct {
	codec  *encoders.Codec
	schema *frame.Schema
	frames []*frame.Frame
	memos  [2][]encoders.Memo // of the encoder's and of the decoder's frames
	sizes  int
}

// Try lets an encoder send made-up frames of every kind that it takes, each against a frame
// some way back, with losses, in one end and again in a fresh one, and damages packets.
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
			name string
			try  func() (string, error)
		}{
			{"takes " + s.Name, t.begins},
			{s.Name + ": every frame comes back", t.sends},
			{s.Name + ": the same packets from a fresh sender", t.again},
			{s.Name + ": damaged packets", t.damage},
		} {
			result, err := x.try()
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

func (t *trial) begins() (string, error) {
	_, _, err := t.codec.New(t.schema, t.codec.Defaults())
	return "", err
}

// madeUp returns frames in which some values change, a little.
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

// back is how far back the reference of frame i is.
func back(i int) int { return min(i, []int{1, 6, 2, 40, 3}[i%5]) }

// lost says that frame i never arrives, so that no later one is based on it.
func lost(i int) bool { return i%7 == 3 }

// refs are what frame i is based on, at one end; the initial state is frame 0.
func (t *trial) refs(end, i int) []encoders.Ref {
	at := i - back(i)
	for at > 0 && lost(at) {
		at--
	}
	ref := encoders.Ref{Frame: t.frames[at]}
	if at > 0 {
		ref.Memo = t.memos[end][at]
	}
	return []encoders.Ref{ref}
}

// sends passes all frames from one end to the other.
func (t *trial) sends() (string, error) {
	enc, dec, err := t.codec.New(t.schema, t.codec.Defaults())
	if err != nil {
		return "", err
	}
	t.memos = [2][]encoders.Memo{make([]encoders.Memo, len(t.frames)), make([]encoders.Memo, len(t.frames))}
	for i := 1; i < len(t.frames); i++ {
		var budget encoders.Budget
		cur := t.schema.NewFrame()
		cur.CopyFrom(t.frames[i])
		packet, memo, err := enc.Encode(nil, cur, t.refs(0, i), nil, &budget)
		if err != nil {
			return "", fmt.Errorf("frame %d: %w", i, err)
		}
		if !t.codec.Quantises && !cur.Equal(t.frames[i]) {
			return "", fmt.Errorf("frame %d: the encoder alters it, and does not say that it quantises", i)
		}
		t.frames[i], t.memos[0][i] = cur, memo
		t.sizes += len(packet)
		if lost(i) {
			continue
		}
		got := t.schema.NewFrame()
		got.Tick = cur.Tick
		if t.memos[1][i], err = dec.Decode(got, packet, t.refs(1, i), nil); err != nil {
			return "", fmt.Errorf("frame %d, packet of %d bytes: %w", i, len(packet), err)
		}
		if !got.Equal(cur) {
			return "", fmt.Errorf("frame %d, packet of %d bytes: it is decoded to something else", i, len(packet))
		}
	}
	return fmt.Sprintf("%d frames, %.1f bytes each", len(t.frames)-1, float64(t.sizes)/float64(len(t.frames)-1)), nil
}

// again encodes some of the frames by a fresh end that has nothing but references and memos.
func (t *trial) again() (string, error) {
	enc, _, err := t.codec.New(t.schema, t.codec.Defaults())
	if err != nil {
		return "", err
	}
	step := 3
	if t.codec.RunsAs() == Process { // each takes a while to begin
		step = 21
	}
	for i := 1; i < len(t.frames); i += step {
		var dec encoders.Decoder
		cur := t.schema.NewFrame()
		cur.CopyFrom(t.frames[i])
		packet, _, err := enc.Encode(nil, cur, t.refs(0, i), nil, nil)
		if err != nil {
			return "", fmt.Errorf("frame %d: %w", i, err)
		}
		if _, dec, err = t.codec.New(t.schema, t.codec.Defaults()); err != nil {
			return "", err
		}
		got := t.schema.NewFrame()
		got.Tick = cur.Tick
		if _, err := dec.Decode(got, packet, t.refs(0, i), nil); err != nil || !got.Equal(cur) {
			return "", fmt.Errorf("frame %d: a receiver that has only references and memos decodes something else (%v): "+
				"does an end keep something between two calls?", i, err)
		}
	}
	return "", nil
}

// damage gives the decoder packets that nobody wrote.
func (t *trial) damage() (string, error) {
	enc, dec, err := t.codec.New(t.schema, t.codec.Defaults())
	if err != nil {
		return "", err
	}
	rng := rand.New(rand.NewPCG(3, 4))
	refused, n := 0, 0
	for i := 1; i < len(t.frames); i += 4 {
		packet, _, err := enc.Encode(nil, t.frames[i], t.refs(0, i), nil, nil)
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
			if _, err := dec.Decode(t.schema.NewFrame(), bad, t.refs(0, i), nil); err != nil {
				if errors.Is(err, encoders.ErrBroken) {
					return "", fmt.Errorf("a damaged packet of %d bytes: %w", len(bad), err)
				}
				refused++
			}
		}
	}
	return fmt.Sprintf("%d of %d refused, the others decoded to something", refused, n), nil
}
