package endpoint

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// halvingCodec is plain as a codec that quantises: it drops the lowest bit.
type halvingCodec struct{ plain }

func (halvingCodec) Encode(dst []byte, cur *frame.Frame, r []encoders.Ref, m encoders.Memo, b *encoders.Budget) ([]byte, encoders.Memo, error) {
	for i := range cur.Table {
		cur.Table[i] &^= 1
	}
	return plain{}.Encode(dst, cur, r, m, b)
}

// changedProbe compares the changed rows that an encoder is given with the frames.
type changedProbe struct {
	t           *testing.T
	told, blind int
}

func (p *changedProbe) Begin(cur *frame.Frame, refs []encoders.Ref) {
	if cur == nil {
		return
	}
	if refs[0].Changed == nil {
		p.blind++
		return
	}
	p.told++
	differ := frame.NewRows(len(cur.Table) / frame.CubeFields)
	differ.SetDiffering(cur.Table, refs[0].Frame.Table, frame.CubeFields)
	if !slices.Equal(differ, refs[0].Changed) {
		p.t.Fatalf("rows %v differ from the reference, but the encoder was given %v", differ, refs[0].Changed)
	}
}

func (*changedProbe) End() {}

// A sender that shares frames sends the same packets as one that copies them, with any losses,
// skips and swaps. Its changed rows are correct, and it releases frames.
func TestSharedFramesGiveSamePackets(t *testing.T) {
	schema := frame.Cubes(70)
	exact, quantising := codecNamed(1, "a"), codecNamed(2, "b")
	quantising.Quantises = true
	quantising.New = func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
		return halvingCodec{}, plain{}, nil
	}
	runs := [2]Encoding{}
	for i, c := range []*encoders.Codec{&exact, &quantising} {
		var err error
		if runs[i], err = NewEncoding(schema, c, nil); err != nil {
			t.Fatal(err)
		}
	}
	known := []encoders.Codec{exact, quantising}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 4))
		probe := &changedProbe{t: t}
		opt := Options{History: 1 + rng.IntN(40)}
		copying := NewSender(schema, schema.NewFrame(), runs[0], opt)
		r := NewReceiver(schema, schema.NewFrame(), known, opt)
		opt.Probe = probe
		sharing := NewSender(schema, schema.NewFrame(), runs[0], opt)
		senders := []*Sender{copying, sharing}

		pool, made := frame.NewPool(schema), map[*frame.Shared]bool{}
		changed := frame.NewRows(schema.Rows)
		var acks [][]byte
		for n, cur := 0, schema.NewFrame(); n < 1000; n++ {
			for range rng.IntN(4) {
				i := rng.IntN(schema.Rows)
				cur.Table[i*frame.CubeFields+rng.IntN(frame.CubeFields)] = rng.Int32N(256)
				changed.Add(i)
			}
			if rng.IntN(100) == 0 {
				run := runs[rng.IntN(2)]
				copying.Request(run)
				sharing.Request(run)
			}
			if rng.IntN(10) == 0 {
				copying.Skip()
				sharing.Skip()
				continue
			}
			shared := pool.Get()
			shared.CopyFrom(cur)
			made[shared] = true
			told := changed
			if rng.IntN(50) == 0 {
				told = nil
			}
			now := time.Duration(n) * time.Second / 60
			want, err := copying.Send(now, cur, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := sharing.SendShared(now, shared, told, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Datagram, want.Datagram) || !got.Frame().Equal(want.Frame()) || !shared.Equal(cur) {
				t.Fatalf("seed %d: packet %d is another", seed, got.Seq)
			}
			shared.Release()
			changed.Clear()
			if rng.IntN(5) > 0 {
				r.Receive(got.Datagram)
				acks = append(acks, r.AppendAck(nil))
			}
			for len(acks) > rng.IntN(6) {
				for _, s := range senders {
					if err := s.HandleAck(acks[0]); err != nil {
						t.Fatal(err)
					}
				}
				acks = acks[1:]
			}
		}
		if len(made) > opt.History+2 {
			t.Errorf("seed %d: %d frames were in use for a history of %d", seed, len(made), opt.History)
		}
		if probe.told < 20 || probe.blind < 10 {
			t.Errorf("seed %d: changes were known of %d packets and not of %d: little was tested", seed, probe.told, probe.blind)
		}
	}
}
