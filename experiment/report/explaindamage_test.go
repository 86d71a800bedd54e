package report

import (
	"errors"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment/config"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/units"
)

func TestExplainChecksum(t *testing.T) {
	x := runWithProblems(t, 5*time.Second, newCrowd(6), "down.corrupt", "5%", "down.corrupt_bits", "3")
	i := x.newestIncident("corrupt")
	rec := x.packets.record(t, i.Opened.Record.Seq)
	const headers = 28 // IPv4 and UDP
	x.checkSentence(i, "packet %d was discarded because its checksum failed: 3 of the %s bits of header and payload were flipped", rec.Seq,
		units.Thousands(int64(rec.Wire-headers)*8))
	if rec.Outcome != packetlog.Corrupt {
		t.Errorf("outcome %v", rec.Outcome)
	}
}

// rejectingCodec is the raw codec with a decoder that rejects every tenth frame and an encoder that rejects
// every fiftieth.
type rejectingCodec struct {
	encoders.Encoder
	encoders.Decoder
}

var errMood = errors.New("not today")

func (m rejectingCodec) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo, b *encoders.Budget) ([]byte,
	encoders.Memo, error) {
	if cur.Tick%50 == 49 {
		return dst, nil, errMood
	}
	return m.Encoder.Encode(dst, cur, refs, spare, b)
}

func (m rejectingCodec) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	if dst.Tick%10 == 3 {
		return nil, errMood
	}
	return m.Decoder.Decode(dst, src, refs, spare)
}

func TestExplainCodecErrors(t *testing.T) {
	raw := table.All()[0]
	c := config.Default()
	c.Codecs = append(table.All(), encoders.Codec{ID: 120, Name: "moody", Refs: 1, Suits: raw.Suits,
		New: func(s *frame.Schema, p any) (encoders.Encoder, encoders.Decoder, error) {
			enc, dec, err := raw.New(s, raw.Params)
			return rejectingCodec{enc, dec}, rejectingCodec{enc, dec}, err
		}})
	c.Encoder = config.Encoder{Name: "moody"}
	x := runConfigWithProblems(t, 5*time.Second, newCrowd(7), c)
	i := x.newestIncident("codec error")
	rec := x.packets.record(t, i.Opened.Record.Seq)
	x.checkSentence(i, "packet %d, which was not damaged, was rejected by the decoder of moody: not today", rec.Seq)
	if rec.Outcome != packetlog.Corrupt || rec.Seq%10 != 3 {
		t.Errorf("packet %d ended as %v", rec.Seq, rec.Outcome)
	}
	i = x.newestIncident("frame refused")
	x.checkSentence(i, "encoder moody rejected frame 299, so no packet was sent: encoder moody: not today")
	if i.N != 6 {
		t.Errorf("%d frames of 300 were refused", i.N)
	}
}

// Damage is discarded, so a modelled link never causes these problems. A real network can.
func TestExplainRareProblems(t *testing.T) {
	for want, o := range map[string]inspector.Opened{
		"packet 9 needed snapshot 7, which the link had lost": {Record: packetlog.Record{Outcome: packetlog.NoBaseline},
			Inside: inspector.Inside{AtReceiver: inspector.AtReceiver{Base: inspector.BaseLost, Missing: 7}}},
		"packet 9 needed snapshot 7, which arrived but could not be decoded": {Record: packetlog.Record{Outcome: packetlog.NoBaseline},
			Inside: inspector.Inside{AtReceiver: inspector.AtReceiver{Base: inspector.BaseFailed, Missing: 7}}},
		"packet 9 has an encoding that the receiver cannot decode: not today": {Record: packetlog.Record{Outcome: packetlog.UnknownCodec},
			Inside: inspector.Inside{AtReceiver: inspector.AtReceiver{Err: errMood}}},
	} {
		o.Record.Seq = 9
		if got := Explain(&o, o.Reasons()[0], config.Default()); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
