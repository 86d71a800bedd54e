package walkoff

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// messages is a source of messages: message i has its number and i mod 7 further bytes.
type messages struct{ next, n int }

func (m *messages) Schema() *frame.Schema {
	return &frame.Schema{Name: "packets", Item: "byte", Delivery: frame.Unreliable, TickHz: 30}
}

func (m *messages) Initial(*frame.Frame) {}

func (m *messages) Next(f *frame.Frame) error {
	if m.next == m.n {
		return io.EOF
	}
	f.Body = append(binary.LittleEndian.AppendUint32(f.Body[:0], uint32(m.next)), make([]byte, m.next%7)...)
	m.next++
	return nil
}

// probe is a codec that records its arguments.
type probe struct {
	refs    [][]uint32 // the numbers of the references of each message
	memos   [][]any
	learnt  []int // pairs: the message before which a report arrived, and the message it is about
	n       int
	lost    int // the message that is decoded incorrectly
	fails   int // the message whose decoding returns an error; 0 for none
	refuses int // the message that is rejected
	decoded int
}

// number returns the number of a message.
func number(f *frame.Frame) uint32 {
	if len(f.Body) < 4 {
		return 1 << 31 // the initial state
	}
	return binary.LittleEndian.Uint32(f.Body)
}

func (p *probe) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, _ encoders.Memo, _ *encoders.Budget) ([]byte, encoders.Memo, error) {
	var list []uint32
	var memos []any
	for _, r := range refs {
		list, memos = append(list, number(r.Frame)), append(memos, r.Memo)
	}
	p.refs, p.memos = append(p.refs, list), append(p.memos, memos)
	p.n++
	if p.n-1 == p.refuses {
		return dst, nil, errors.New("too odd")
	}
	return append(append(dst, 9), cur.Body...), fmt.Sprint("memo ", number(cur)), nil
}

func (p *probe) Decode(dst *frame.Frame, src []byte, _ []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	dst.Body = append(dst.Body[:0], src[1:]...)
	p.decoded = int(number(dst))
	if p.fails > 0 && p.decoded == p.fails {
		return nil, errors.New("too short")
	}
	if p.decoded == p.lost {
		dst.Body[0]++
	}
	return nil, nil
}

func (p *probe) Report(dst []byte) []byte { return append(dst, byte(p.decoded)) }

func (p *probe) Learn(report []byte) error {
	p.learnt = append(p.learnt, p.n, int(report[0]))
	return nil
}

func (p *probe) codec(refs int) *encoders.Codec {
	return &encoders.Codec{Name: "probe", Refs: refs, New: func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) { return p, p, nil }}
}

// References are the newest messages whose acks have arrived, with their memos. Reports arrive with the acks.
func TestMessageLag(t *testing.T) {
	for _, lag := range []int{1, 4, 9} {
		p := &probe{lost: -1, refuses: -1}
		got, err := MeasureMessages(t.Context(), p.codec(2), nil, &messages{n: 30}, MessageOptions{Lag: lag})
		if err != nil || !got.Lossless || got.Messages != 30 || got.Larger != 30 || got.MaxGrowth != 1 || got.Bytes != got.Raw+30 {
			t.Errorf("lag %d: %+v, %v", lag, got, err)
		}
		for n := range 30 {
			want := []uint32{1 << 31}
			if n >= lag {
				want = []uint32{uint32(n - lag)}
			}
			if n > lag {
				want = append(want, uint32(n-lag-1))
			}
			if !slices.Equal(p.refs[n], want) || n >= lag && p.memos[n][0] != fmt.Sprint("memo ", n-lag) {
				t.Errorf("lag %d, message %d: references %v with %v, want %v", lag, n, p.refs[n], p.memos[n], want)
			}
		}
		for i := 0; i < len(p.learnt); i += 2 {
			if p.learnt[i]-p.learnt[i+1] != lag {
				t.Errorf("lag %d: before message %d a report after message %d", lag, p.learnt[i], p.learnt[i+1])
			}
		}
		if len(p.learnt) != 2*(30-lag) {
			t.Errorf("lag %d: %d reports", lag, len(p.learnt)/2)
		}
	}
}

// The problem of a message that is decoded to another one, or not at all, is described.
func TestMessageDecodingProblem(t *testing.T) {
	for want, p := range map[string]*probe{
		"message 5: the decoded message differs from the sent one": {lost: 5, refuses: -1},
		"message 4 cannot be decoded: too short":                   {lost: 5, fails: 4, refuses: -1},
	} {
		got, err := MeasureMessages(t.Context(), p.codec(1), nil, &messages{n: 20}, MessageOptions{Lag: 2})
		if err != nil || got.Lossless || got.Problem != want {
			t.Errorf("problem %q, error %v, want problem %q", got.Problem, err, want)
		}
	}
}

// An incorrectly decoded message is reported. A rejected message counts with its raw size and is not a
// reference.
func TestMessageProblems(t *testing.T) {
	p := &probe{lost: 5, refuses: 8}
	got, err := MeasureMessages(t.Context(), p.codec(1), nil, &messages{n: 20}, MessageOptions{Lag: 2})
	if err != nil || got.Lossless || got.Refused != 1 || got.Bytes != got.Raw+19 || !bytes.Contains([]byte(got.Problem), []byte("message 5")) {
		t.Errorf("%+v, %v", got, err)
	}
	if want := []uint32{7}; !slices.Equal(p.refs[10], want) {
		t.Errorf("after a refusal the reference is %v, want %v", p.refs[10], want)
	}
	bad := &encoders.Codec{Name: "bad", New: func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
		return nil, nil, errors.New("needs a model")
	}}
	if got, err := MeasureMessages(t.Context(), bad, nil, &messages{n: 3}, MessageOptions{Lag: 1}); err != nil || got.Problem != "needs a model" || got.Messages != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := MeasureMessages(t.Context(), bad, nil, &messages{n: 3}, MessageOptions{}); err == nil {
		t.Error("a lag of 0 is accepted")
	}
}
