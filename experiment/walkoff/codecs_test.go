package walkoff

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
)

// The audit processes run this test binary.
const workerEnv = "WALKOFF_AUDIT_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) == "" {
		os.Exit(m.Run())
	}
	if err := Serve(os.Stdin, os.Stdout, lookup); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func testProcess(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0])
	// The race detector would have every process sleep a second before it ends.
	cmd.Env = append(os.Environ(), workerEnv+"=1", "GORACE=atexit_sleep_ms=0")
	return cmd
}

// walk is a generated recording of cubes on random walks.
type walk struct {
	schema  *frame.Schema
	rng     *rand.Rand
	now     *frame.Frame
	left    int
	broken  error // what Next says at the end
	closing *int
}

const walkCubes = 9

func openWalk(frames int) Open {
	return func() (dataset.Source, error) {
		w := &walk{schema: frame.Cubes(walkCubes), rng: rand.New(rand.NewPCG(1, 2)), left: frames - Delay, broken: io.EOF}
		w.now = w.schema.NewFrame()
		for i := range w.now.Table {
			w.now.Table[i] = int32(i % 2)
		}
		return w, nil
	}
}

// badPreambleWalk is a recording whose first frames do not repeat the initial state.
type badPreambleWalk struct{ *walk }

func (badPreambleWalk) Preamble() error { return dataset.ErrPreamble }

func openBadPreamble() (dataset.Source, error) {
	src, err := openWalk(20)()
	return badPreambleWalk{src.(*walk)}, err
}

func (w *walk) Schema() *frame.Schema  { return w.schema }
func (w *walk) Initial(f *frame.Frame) { f.CopyFrom(w.now) }

func (w *walk) Next(f *frame.Frame) error {
	if w.left == 0 {
		return w.broken
	}
	w.left--
	for range 1 + w.rng.IntN(3) {
		cube := w.now.Table[w.rng.IntN(walkCubes)*frame.CubeFields:]
		cube[frame.CubeX] += int32(w.rng.IntN(7)) - 3
		cube[frame.CubeA] = int32(w.rng.IntN(512))
	}
	f.CopyFrom(w.now)
	return nil
}

func (w *walk) Close() error {
	if w.closing != nil {
		*w.closing++
	}
	return nil
}

// testCodec is a codec made of two functions; base is frame n-6.
type testCodec struct {
	encode func(dst []byte, cur, base *frame.Frame) []byte
	decode func(dst, base *frame.Frame, src []byte) error
}

func (t testCodec) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, _ encoders.Memo,
	_ *encoders.Budget) ([]byte, encoders.Memo, error) {
	return t.encode(dst, cur, refs[0].Frame), nil, nil
}

func (t testCodec) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	return nil, t.decode(dst, refs[0].Frame, src)
}

// appendDelta appends the differences of cur and base, value by value; readDelta is its inverse.
func appendDelta(dst []byte, cur, base *frame.Frame) []byte {
	for i, v := range cur.Table {
		dst = binary.AppendVarint(dst, int64(v-base.Table[i]))
	}
	return dst
}

func readDelta(dst, base *frame.Frame, src []byte) error {
	for i := range dst.Table {
		v, n := binary.Varint(src)
		if n <= 0 {
			return encoders.ErrTruncated
		}
		dst.Table[i], src = base.Table[i]+int32(v), src[n:]
	}
	return nil
}

// Package-level state of the codecs that violate the rules.
var (
	leakedState [][]int32
	counted     struct{ sent, got byte }
)

// testCodecs are the codecs under test. All except "liar" decode correctly if one process gets all packets.
var testCodecs = map[string]func() (encoders.Encoder, encoders.Decoder){
	"honest": func() (encoders.Encoder, encoders.Decoder) {
		t := testCodec{appendDelta, readDelta}
		return t, t
	},
	// gambler remembers along the legal chain, and reuses the spare memo.
	"gambler": func() (encoders.Encoder, encoders.Decoder) { return twoFrames{}, twoFrames{} },
	// borrower sends the difference from frame n-1.
	"borrower": func() (encoders.Encoder, encoders.Decoder) {
		sent, got := &frame.Frame{}, &frame.Frame{}
		return testCodec{encode: func(dst []byte, cur, base *frame.Frame) []byte {
				if sent.Table == nil {
					sent.CopyFrom(base)
				}
				dst = appendDelta(dst, cur, sent)
				sent.CopyFrom(cur)
				return dst
			}}, testCodec{decode: func(dst, base *frame.Frame, src []byte) error {
				if got.Table == nil {
					got.CopyFrom(base)
				}
				err := readDelta(dst, got, src)
				got.CopyFrom(dst)
				return err
			}}
	},
	// counter scrambles by how many packets this process has seen.
	"counter": func() (encoders.Encoder, encoders.Decoder) {
		counted.sent, counted.got = 0, 0
		return testCodec{encode: func(dst []byte, cur, base *frame.Frame) []byte {
				counted.sent++
				cur.Table[0] ^= int32(counted.sent & 3)
				dst = appendDelta(dst, cur, base)
				cur.Table[0] ^= int32(counted.sent & 3)
				return dst
			}}, testCodec{decode: func(dst, base *frame.Frame, src []byte) error {
				counted.got++
				err := readDelta(dst, base, src)
				dst.Table[0] ^= int32(counted.got & 3)
				return err
			}}
	},
	// smuggler hands the frame over in memory and sends a number.
	"smuggler": func() (encoders.Encoder, encoders.Decoder) {
		return testCodec{encode: func(dst []byte, cur, _ *frame.Frame) []byte {
				leakedState = append(leakedState, append([]int32(nil), cur.Table...))
				return binary.AppendUvarint(dst, uint64(len(leakedState)-1))
			}}, testCodec{decode: func(dst, _ *frame.Frame, src []byte) error {
				i, _ := binary.Uvarint(src)
				copy(dst.Table, leakedState[i]) // panics where nothing was smuggled
				return nil
			}}
	},
	// restless never writes the same bytes twice, at no harm to the decoder.
	"restless": func() (encoders.Encoder, encoders.Decoder) {
		t := testCodec{func(dst []byte, cur, base *frame.Frame) []byte {
			return binary.AppendUvarint(appendDelta(dst, cur, base), uint64(os.Getpid()))
		}, readDelta}
		return t, t
	},
	// liar gets one value wrong; gagged decodes nothing; mute encodes nothing.
	"liar": func() (encoders.Encoder, encoders.Decoder) {
		return testCodec{encode: appendDelta}, testCodec{decode: func(dst, base *frame.Frame, src []byte) error {
			err := readDelta(dst, base, src)
			dst.Table[frame.CubeFields+frame.CubeX]++
			return err
		}}
	},
	"gagged": func() (encoders.Encoder, encoders.Decoder) {
		return testCodec{encode: appendDelta}, testCodec{decode: func(_, _ *frame.Frame, _ []byte) error {
			return fmt.Errorf("%w: no idea", encoders.ErrCorrupt)
		}}
	},
	"mute": func() (encoders.Encoder, encoders.Decoder) { return mute{}, testCodec{} },
}

type mute struct{}

func (mute) Encode(dst []byte, _ *frame.Frame, _ []encoders.Ref, _ encoders.Memo, _ *encoders.Budget) ([]byte, encoders.Memo, error) {
	return dst, nil, errors.New("cannot speak")
}

// twoFrames predicts from the last two baselines: the memo of a frame is a copy of its baseline.
type twoFrames struct{}

func (twoFrames) predict(refs []encoders.Ref, spare encoders.Memo) (guess *frame.Frame, memo *frame.Frame) {
	base := refs[0].Frame
	memo, ok := spare.(*frame.Frame)
	if !ok {
		memo = &frame.Frame{}
	}
	memo.CopyFrom(base)
	guess = &frame.Frame{}
	guess.CopyFrom(base)
	if older, ok := refs[0].Memo.(*frame.Frame); ok {
		for i := range guess.Table {
			guess.Table[i] += base.Table[i] - older.Table[i]
		}
	}
	return guess, memo
}

func (s twoFrames) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo,
	_ *encoders.Budget) ([]byte, encoders.Memo, error) {
	guess, memo := s.predict(refs, spare)
	return appendDelta(dst, cur, guess), memo, nil
}

func (s twoFrames) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	guess, memo := s.predict(refs, spare)
	return memo, readDelta(dst, guess, src)
}

func lookup(name string) (*encoders.Codec, error) {
	build, ok := testCodecs[name]
	if !ok {
		return table.ByName(name)
	}
	return &encoders.Codec{Name: name, Refs: 1, Suits: frame.IsCubes,
		New: func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
			enc, dec := build()
			return enc, dec, nil
		}}, nil
}
