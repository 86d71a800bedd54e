package endpoint

import (
	"bytes"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// deferring is a codec whose memo is a sum of its frame, the baseline and the baseline's memo. Its
// packets contain the values and the sum of the baseline's memo. With deferral, it reads both
// frames when it finishes.
type deferring struct {
	defers   bool
	tables   [2][]int32
	past     int32
	memo     *int32 // deferred work; nil if none
	finished int
}

func (p *deferring) Defer() { p.defers = true }

func (p *deferring) Finish() {
	if p.memo == nil {
		return
	}
	sum := p.past
	for _, table := range p.tables {
		for i, v := range table {
			sum += v * int32(i+1)
		}
	}
	*p.memo, p.memo = sum, nil
	p.finished++
}

func (p *deferring) finishMemo(cur *frame.Frame, ref *encoders.Ref) encoders.Memo {
	p.memo, p.tables = new(int32), [2][]int32{cur.Table, ref.Frame.Table}
	m := p.memo
	if !p.defers {
		p.Finish()
	}
	return m
}

func (p *deferring) start(ref *encoders.Ref) {
	p.past = 0
	if m, ok := ref.Memo.(*int32); ok {
		p.past = *m
	}
}

func (p *deferring) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, _ encoders.Memo, _ *encoders.Budget) ([]byte, encoders.Memo, error) {
	p.start(&refs[0])
	for _, v := range cur.Table {
		dst = append(dst, byte(v))
	}
	return append(dst, byte(p.past)), p.finishMemo(cur, &refs[0]), nil
}

func (p *deferring) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	p.start(&refs[0])
	if len(src) != len(dst.Table)+1 || src[len(dst.Table)] != byte(p.past) {
		return nil, encoders.ErrCorrupt
	}
	for i := range dst.Table {
		dst.Table[i] = int32(src[i])
	}
	return p.finishMemo(dst, &refs[0]), nil
}

// The packets do not depend on whether work is deferred, nor on who calls Finish.
func TestDeferral(t *testing.T) {
	run := func(deferred, finish bool) (packets [][]byte, ends [2]*deferring) {
		s := frame.Cubes(1)
		codec := codecNamed(1, "patient")
		codec.New = func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
			enc, dec := &deferring{}, &deferring{}
			if ends[0] == nil {
				ends[0] = enc
			} else {
				ends[1] = dec
			}
			return enc, dec, nil
		}
		encoding, err := NewEncoding(s, &codec, nil)
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{History: 4, Defer: deferred}
		snd, rcv := NewSender(s, s.NewFrame(), encoding, opt), NewReceiver(s, s.NewFrame(), []encoders.Codec{codec}, opt)
		cur := s.NewFrame()
		for n := range 60 {
			for i := range cur.Table {
				cur.Table[i] = int32((n*7 + i*n) % 100)
			}
			p, err := snd.Send(time.Duration(n)*time.Second, cur, nil)
			if err != nil {
				t.Fatal(err)
			}
			packets = append(packets, bytes.Clone(p.Datagram))
			if finish {
				snd.Finish()
			}
			if n%5 == 3 {
				continue // lost
			}
			rx := rcv.Receive(p.Datagram)
			if rx.Outcome != Decoded || !rx.Frame.Equal(cur) {
				t.Fatalf("packet %d: %v, %v", n, rx.Outcome, rx.Err)
			}
			ack := rcv.AppendAck(nil)
			if finish {
				rcv.Finish()
			}
			if n%3 > 0 {
				if err := snd.HandleAck(ack); err != nil {
					t.Fatal(err)
				}
			}
		}
		return packets, ends
	}
	want, _ := run(false, false)
	for _, finish := range []bool{false, true} {
		got, ends := run(true, finish)
		for n := range want {
			if !bytes.Equal(got[n], want[n]) {
				t.Fatalf("packet %d is %x, and %x without deferral", n, got[n], want[n])
			}
		}
		for k, packets := range [2]int{60, 48} {
			if least := packets - btoi(!finish); !ends[k].defers || ends[k].finished != least {
				t.Errorf("end %d finished %d times, want %d", k, ends[k].finished, least)
			}
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
