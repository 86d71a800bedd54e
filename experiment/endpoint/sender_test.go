package endpoint

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// plain is a codec whose packets contain the values, one byte each.
type plain struct{}

func (plain) Encode(dst []byte, cur *frame.Frame, _ []encoders.Ref, _ encoders.Memo, _ *encoders.Budget) ([]byte, encoders.Memo, error) {
	for _, v := range cur.Table {
		dst = append(dst, byte(v))
	}
	return dst, nil, nil
}

func (plain) Decode(dst *frame.Frame, src []byte, _ []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	if len(src) != len(dst.Table) {
		return nil, encoders.ErrTruncated
	}
	for i, v := range src {
		dst.Table[i] = int32(v)
	}
	return nil, nil
}

func codecNamed(id uint8, name string) encoders.Codec {
	return encoders.Codec{ID: id, Name: name, Refs: 1, Suits: func(*frame.Schema) bool { return true },
		New: func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) { return plain{}, plain{}, nil }}
}

// newPair returns a sender and a receiver of one cube that know codecs a and b, and
// the encoding of b.
func newPair(t *testing.T) (*Sender, *Receiver, Encoding) {
	t.Helper()
	s := frame.Cubes(1)
	codecs := []encoders.Codec{codecNamed(1, "a"), codecNamed(2, "b")}
	var runs [2]Encoding
	for i := range codecs {
		var err error
		if runs[i], err = NewEncoding(s, &codecs[i], nil); err != nil {
			t.Fatal(err)
		}
	}
	opt := Options{History: 10}
	return NewSender(s, s.NewFrame(), runs[0], opt), NewReceiver(s, s.NewFrame(), codecs, opt), runs[1]
}

// A request before the first packet replaces the encoding without a new epoch.
func TestRequestBeforeFirstPacket(t *testing.T) {
	s, _, other := newPair(t)
	s.StartAt(5, 0)
	s.Skip()
	s.Request(other)
	if s.Pending() != nil || s.Encoding().Codec.Name != "b" || s.Seq() != 6 || s.Epoch() != 0 {
		t.Errorf("packet %d, pending %v, epoch %d", s.Seq(), s.Pending(), s.Epoch())
	}
}

// After the first packet, a request begins an epoch, at most one per 100 ms. Every packet contains
// the parameters until an ack names the epoch.
func TestEpochs(t *testing.T) {
	s, r, other := newPair(t)
	f := frame.Cubes(1).NewFrame()
	send := func(now time.Duration) Packet {
		t.Helper()
		p, err := s.Send(now, f, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	announces := func(p Packet) bool { return p.Datagram[3]&paramsFollow != 0 }
	deliver := func(p Packet) {
		t.Helper()
		if rx := r.Receive(p.Datagram); rx.Outcome != Decoded {
			t.Fatalf("packet %d: %v, %v", p.Seq, rx.Outcome, rx.Err)
		}
		if err := s.HandleAck(r.AppendAck(nil)); err != nil {
			t.Fatal(err)
		}
	}
	p := send(0)
	if !announces(p) {
		t.Error("the first packet has the wrong encoder")
	}
	deliver(p)
	if p = send(10 * time.Millisecond); announces(p) {
		t.Error("params travel although an ack named the epoch")
	}
	s.Request(other)
	if p = send(99 * time.Millisecond); p.Epoch != 0 || p.Codec != "a" {
		t.Errorf("an epoch of %v began", p.Codec)
	}
	if p = send(100 * time.Millisecond); p.Epoch != 1 || p.Codec != "b" || !announces(p) {
		t.Errorf("epoch %d of %s, announced %v", p.Epoch, p.Codec, announces(p))
	}
	lost := p
	lost.Datagram = bytes.Clone(p.Datagram) // valid only until the next call
	if p = send(120 * time.Millisecond); !announces(p) {
		t.Error("params stop although nothing was acked")
	}
	deliver(p)
	if p = send(140 * time.Millisecond); announces(p) {
		t.Error("params travel although an ack named the epoch")
	}
	if rx := r.Receive(lost.Datagram); rx.Outcome != Stale || !rx.Reordered {
		t.Errorf("a packet of the epoch that comes late is %v", rx.Outcome)
	}
	if rx := r.Receive(lost.Datagram); rx.Outcome != Duplicate {
		t.Errorf("a second copy is %v", rx.Outcome)
	}
}

// After the newest acked packet has left the history, packets refer to the initial state and contain the
// parameters again.
func TestParametersAfterSilence(t *testing.T) {
	s, r, _ := newPair(t) // with a history of 10 packets
	f := frame.Cubes(1).NewFrame()
	for i := range 16 {
		p, err := s.Send(time.Duration(i)*time.Second, f, nil)
		if err != nil {
			t.Fatal(err)
		}
		if alone := i <= 3 || i > 3+10; (p.Datagram[3]&paramsFollow != 0) != alone || (p.Baseline == 0) != alone {
			t.Errorf("packet %d: baseline %d, header % x; refers to no packet: %v", i, p.Baseline, p.Datagram[:8], alone)
		}
		if i == 3 {
			r.Receive(p.Datagram)
			if err := s.HandleAck(r.AppendAck(nil)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// WithoutMemo is true for a codec with memos until a packet of the epoch is acked, and always false for
// other codecs.
func TestWithoutMemo(t *testing.T) {
	s, r, _ := newPair(t)
	f := frame.Cubes(1)
	codec := codecNamed(1, "memo")
	codec.New = func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
		return &deferring{}, &deferring{}, nil
	}
	encoding, err := NewEncoding(f, &codec, nil)
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{History: 10}
	for _, x := range []struct {
		s    *Sender
		r    *Receiver
		want [2]bool
	}{{s, r, [2]bool{}}, {NewSender(f, f.NewFrame(), encoding, opt), NewReceiver(f, f.NewFrame(), []encoders.Codec{codec}, opt), [2]bool{true, false}}} {
		for i, want := range x.want {
			p, err := x.s.Send(0, f.NewFrame(), nil)
			if err != nil || p.WithoutMemo != want {
				t.Errorf("%s, packet %d: %v, %v; want %v", p.Codec, i, p.WithoutMemo, err, want)
			}
			x.r.Receive(p.Datagram)
			if err := x.s.HandleAck(x.r.AppendAck(nil)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The header and the payload of a packet of a file add up to the datagram.
func TestBlockSizes(t *testing.T) {
	s, _, _ := newPair(t)
	f := NewFileSender(s, 100, 8, time.Millisecond)
	f.Begin(0)
	f.Load(&Label{}, make([]byte, 450))
	total := f.Bytes()
	payload := 0
	for range (total + 99) / 100 {
		p, number, _, ok := f.SendBlock(0, nil)
		if want := min(100, total-100*number); !ok || p.Payload != want || p.Header+p.Payload != len(p.Datagram) || p.Header <= 0 {
			t.Errorf("block %d: %d bytes of header and %d of payload in %d; want %d of payload", number, p.Header, p.Payload, len(p.Datagram), want)
		}
		payload += p.Payload
	}
	if payload != total {
		t.Errorf("the blocks have %d bytes, want %d", payload, total)
	}
}

// A block with a forged sequence number, also as the very first, does not disable acks.
func TestForgedBlock(t *testing.T) {
	for _, before := range []int{0, 1, 20} { // blocks
		for _, distance := range []int{70, 300, 900} {
			s, r, _ := newPair(t)
			forger, _, _ := newPair(t)
			snd, forged := NewFileSender(s, 100, 1024, time.Millisecond), NewFileSender(forger, 100, 1024, time.Millisecond)
			rcv := NewFileReceiver(r)
			for _, f := range []*FileSender{snd, forged} {
				f.Begin(0)
				f.Load(&Label{Packed: 150_000}, make([]byte, 150_000))
			}
			var p Packet
			for range before + distance {
				p, _, _, _ = forged.SendBlock(0, nil)
			}
			for i := range before + 10 {
				if i == before {
					rcv.ReceiveBlock(p.Datagram)
				}
				block, _, _, _ := snd.SendBlock(0, nil)
				rx := rcv.ReceiveBlock(block.Datagram)
				if err := snd.HandleBlockAck(0, rcv.AppendBlockAck(nil)); err != nil && i > before || rx.Outcome != Decoded {
					t.Errorf("forged %d ahead of %d: block %d is %v, its ack %v", distance, before, i, rx.Outcome, err)
				}
			}
		}
	}
}

// A receiver returns an outcome and a sender an error for any bytes.
func TestMalformedInput(t *testing.T) {
	s, r, _ := newPair(t)
	if rx := r.Receive([]byte{1, 2, 3}); rx.Outcome != Corrupt || !errors.Is(rx.Err, ErrMalformed) {
		t.Errorf("three bytes: %v, %v", rx.Outcome, rx.Err)
	}
	if rx := r.Receive([]byte{0, 0, 0, 77, 0, 9}); rx.Outcome != UnknownCodec {
		t.Errorf("a codec that does not exist: %v", rx.Outcome)
	}
	if rx := r.Receive([]byte{0, 0, 0, 1, 0, 9}); rx.Outcome != UnknownCodec {
		t.Errorf("an epoch without params: %v", rx.Outcome)
	}
	if got := r.AppendAck(nil); len(got) != 0 {
		t.Errorf("an ack of nothing: % x", got)
	}
	if _, err := s.Send(0, frame.Cubes(1).NewFrame(), nil); err != nil {
		t.Fatal(err)
	}
	for _, ack := range [][]byte{{1}, {9, 0, 0, 0, 0, 0, 0}} {
		if err := s.HandleAck(ack); !errors.Is(err, ErrMalformed) {
			t.Errorf("ack % x: %v", ack, err)
		}
	}
	if _, acked := s.Acked(); acked {
		t.Error("a forged ack counts")
	}
}
