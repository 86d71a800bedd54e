package table_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
)

// predictableFrames returns frames that encoders can predict: clocks advance, positions change by velocities, numbers change
// at a constant rate, angles rotate, with some exceptions. A third of the rows rests most of the time. Bodies are
// datagrams with counters, texts, or files with edits.
func predictableFrames(s *frame.Schema, seed uint64, length int) []*frame.Frame {
	rng := rand.New(rand.NewPCG(seed, uint64(s.Rows)<<8|uint64(len(s.Fields))))
	first := initialFrame(s)
	frames := []*frame.Frame{first}
	n := len(s.Fields)
	pace := make([]int32, len(first.Table))
	for i := range pace {
		pace[i] = rng.Int32N(19) - 9
	}
	for len(frames) < length {
		f := &frame.Frame{}
		f.CopyFrom(frames[len(frames)-1])
		f.Tick++
		for r := range s.Rows {
			if r%3 == 2 && rng.IntN(8) > 0 {
				continue
			}
			for i := range s.Fields {
				if rng.IntN(40) == 0 {
					pace[r*n+i] = rng.Int32N(19) - 9
				}
				f.Table[r*n+i] = nextValue(rng, s, f.Table[r*n:(r+1)*n], i, pace[r*n+i])
			}
		}
		if s.Parts != nil {
			tame(s, f)
		}
		if hasBody(s) {
			f.Body = marchBody(rng, s, f.Body, f.Tick)
		}
		frames = append(frames, f)
	}
	return frames
}

// nextValue returns the next value of field i of a row.
func nextValue(rng *rand.Rand, s *frame.Schema, row []int32, i int, pace int32) int32 {
	fd, v := &s.Fields[i], row[i]
	switch {
	case fd.Hint.Role == frame.Present:
		if v == 0 || rng.IntN(60) == 0 {
			return 1 - v
		}
	case fd.Hint.Role == frame.Clock || fd.Hint.Role == frame.Now:
		v = addTo(v, 50, fd)
	case fd.Kind == frame.Float32:
		step := float32(pace) / 4
		if rng.IntN(5) == 0 {
			step *= 1.0625
		}
		v = int32(math.Float32bits(math.Float32frombits(uint32(v)) + step))
	case fd.Kind == frame.Quantity:
		v = addTo(v, int64(pace)+int64(rng.IntN(3)-1), fd)
	case fd.Kind == frame.Angle:
		if v = addTo(v, int64(pace), fd); v == fd.Max {
			v = fd.Min
		}
	case fd.Kind == frame.Bits:
		if rng.IntN(12) == 0 {
			v ^= 1 << rng.IntN(16)
		}
	case rng.IntN(25) == 0:
		v = randomValue(rng, fd)
	}
	return v
}

func addTo(v int32, d int64, fd *frame.Field) int32 {
	return int32(min(max(int64(v)+d, int64(fd.Min)), int64(fd.Max)))
}

var words = bytes.Fields([]byte("the of and to a in that he was it his is with as I had for at by on not be from but they you which she " +
	"snapshot baseline packet loss delay receiver sender"))

// marchBody returns the next body: for packets a datagram of one of three layouts, for files the last body with
// a few edits, and otherwise a text.
func marchBody(rng *rand.Rand, s *frame.Schema, last []byte, tick uint32) []byte {
	switch {
	case s.Delivery == frame.Reliable:
		body := bytes.Clone(last)
		if len(body) == 0 {
			for len(body) < 6000 {
				body = append(append(body, words[rng.IntN(len(words))]...), ' ')
			}
		}
		for range 1 + rng.IntN(6) {
			at := rng.IntN(len(body))
			body[at] = byte(rng.Uint32())
		}
		at := rng.IntN(len(body))
		return append(body[:at:at], append([]byte("an insertion "), body[at:]...)...)
	case s.Name == packetsSchema().Name:
		body := binary.LittleEndian.AppendUint32(nil, tick)
		body = append(body, byte(tick%3), 0xff)
		for i := range 1 + int(tick%3)*4 {
			body = binary.BigEndian.AppendUint16(body, uint16(1000*i)+uint16(tick)*uint16(i+1))
		}
		return append(body, byte(rng.IntN(4)))
	}
	var body []byte
	for len(body) < 200 {
		body = append(append(body, words[rng.IntN(rng.IntN(len(words))+1)]...), ' ')
	}
	return body
}

// TestGoldenKinds compares the SHA-256 of the packets of predictable ("march") and random ("story") frames with
// testdata/kinds.golden, for every
// codec on every schema that it suits and for other values of every parameter. A change of any byte of any packet
// changes a line. Codecs of libraries are left out, because an upgrade may change their bytes.
func TestGoldenKinds(t *testing.T) {
	var got bytes.Buffer
	for _, c := range table.All() {
		if !isOwnCodec(c) {
			continue
		}
		for _, s := range schemas() {
			if c.Suits(s) && s.Rows <= 100 {
				kind := fmt.Sprintf("%s-%d", s.Name, s.Rows)
				fmt.Fprintf(&got, "%-22s %-14s march %s\n", c.Name, kind, digest(t, c, s, defaults(c), predictableFrames(s, 3, 28)))
				fmt.Fprintf(&got, "%-22s %-14s story %s\n", c.Name, kind, digest(t, c, s, defaults(c), randomFrames(s, 5, 13)))
			}
		}
		goldenParams(t, &got, c)
	}
	compareLines(t, "testdata/kinds.golden", got.Bytes())
}

// goldenParams writes a line for the smallest and the largest value of each parameter.
func goldenParams(t *testing.T, got *bytes.Buffer, c encoders.Codec) {
	t.Helper()
	s := frame.Cubes(33)
	if !c.Suits(s) {
		s, _ = taleFor(c)
	}
	frames := predictableFrames(s, 4, 12)
	for _, p := range c.ParamInfo() {
		var values []any
		switch p.Type {
		case "int":
			values = []any{int(*p.Min), int(*p.Max)}
		case "float":
			values = []any{*p.Min, *p.Max}
		case "bool":
			values = []any{true, false}
		}
		for _, v := range values {
			params := defaults(c)
			if err := encoders.SetParam(params, p.Name, v); err != nil {
				t.Fatal(err)
			}
			if _, _, err := c.New(s, params); err != nil {
				continue // it contradicts another parameter
			}
			fmt.Fprintf(got, "%-22s %s=%v %s\n", c.Name, p.Name, v, digest(t, c, s, params, frames))
		}
	}
}

// digest returns a hash of the packets of frames, each encoded against the frame two before it, and with a second
// reference, three before it, for codecs that take two.
func digest(t *testing.T, c encoders.Codec, s *frame.Schema, params any, frames []*frame.Frame) string {
	t.Helper()
	enc, _, err := c.New(s, params)
	if err != nil {
		t.Fatal(err)
	}
	const age = 2
	memos, sum := make([]encoders.Memo, len(frames)), sha256.New()
	frames = slices.Clone(frames)
	for i := 1; i < len(frames); i++ {
		var cur frame.Frame
		cur.CopyFrom(frames[i]) // a codec that quantises rewrites it
		refs := []encoders.Ref{{Frame: frames[max(0, i-age)], Memo: memos[max(0, i-age)]}}
		if c.Refs > 1 && i > age {
			refs = append(refs, encoders.Ref{Frame: frames[i-age-1], Memo: memos[i-age-1]})
		}
		packet, memo, err := enc.Encode(nil, &cur, refs, nil, nil)
		if err != nil {
			t.Fatalf("%s on %s, frame %d: %v", c.Name, s.Name, i, err)
		}
		memos[i] = memo
		frames[i] = &cur
		fmt.Fprintf(sum, "%d %x\n", i, packet)
	}
	return fmt.Sprintf("%.8x", sum.Sum(nil))
}

// compareLines compares the computed lines with a golden file and reports the lines that differ.
func compareLines(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update to write it)", err)
	}
	now, then := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	if len(now) != len(then) {
		t.Errorf("%d lines, want %d", len(now), len(then))
	}
	for i := range min(len(now), len(then)) {
		if !bytes.Equal(now[i], then[i]) {
			t.Errorf("line %d is\n%s\nwant\n%s", i+1, now[i], then[i])
		}
	}
}
