package report

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/units"
)

// An uplink that flips bits, without a checksum, makes the sender use baselines that the receiver
// does not have: lost ones, and those that were not decoded.
func TestExplainForgedAcks(t *testing.T) {
	x := runWithProblems(t, 60*time.Second, newCrowd(5), "down.loss", "40%", "link.latency", "10ms", "up.checksum", "false", "up.corrupt", "60%",
		"receiver.history", "40", "sender.history", "40")
	i := x.newestIncident("no baseline: lost")
	rec := x.packets.record(t, i.Opened.Record.Seq)
	need := x.packets.record(t, rec.Seq-uint64(rec.Baseline))
	if need.Outcome != packetlog.Lost {
		t.Fatalf("the baseline ended as %v", need.Outcome)
	}
	x.checkSentence(i, "packet %d needed snapshot %d, which the link had lost; a damaged ack that no checksum detected had acknowledged it", rec.Seq, need.Seq)
	i = x.newestIncident("no baseline: not decoded")
	rec = x.packets.record(t, i.Opened.Record.Seq)
	need = x.packets.record(t, rec.Seq-uint64(rec.Baseline))
	if need.Outcome != packetlog.NoBaseline {
		t.Fatalf("the baseline ended as %v", need.Outcome)
	}
	x.checkSentence(i, "packet %d needed snapshot %d, which arrived but could not be decoded; a damaged ack that no checksum detected had acknowledged it", rec.Seq, need.Seq)
}

func TestExplainChecksum(t *testing.T) {
	x := runWithProblems(t, 5*time.Second, newCrowd(6), "down.corrupt", "5%", "down.corrupt_bits", "3")
	i := x.newestIncident("checksum")
	rec := x.packets.record(t, i.Opened.Record.Seq)
	const headers = 28 // IPv4 and UDP
	x.checkSentence(i, "packet %d was discarded because its checksum failed: 3 of its %s bits were flipped", rec.Seq,
		units.Thousands(int64(rec.Wire-headers)*8))
	if rec.Outcome != packetlog.Corrupt {
		t.Errorf("outcome %v", rec.Outcome)
	}
}

func TestExplainWithoutChecksum(t *testing.T) {
	x := runWithProblems(t, 30*time.Second, newCrowd(6), "down.corrupt", "30%", "down.corrupt_bits", "3", "down.checksum", "false")
	i := x.newestIncident("tainted")
	rec := x.packets.record(t, i.Opened.Record.Seq)
	bits := units.Thousands(int64(rec.Wire-28) * 8)
	if got := Explain(&i.Opened, i.Reason, x.s.Config()); !strings.HasSuffix(got,
		fmt.Sprintf("decoded although 3 of its %s bits were flipped: the checksum is off", bits)) &&
		got != fmt.Sprintf("packet %d arrived undamaged, but depends on snapshot %d, which differs from the sender's because of a corrupted packet: the checksum is off", rec.Seq,
			rec.Seq-uint64(rec.Baseline)) {
		t.Errorf("got\n%s", got)
	}
	if rec.Outcome != packetlog.Tainted {
		t.Errorf("outcome %v", rec.Outcome)
	}
	i = x.newestIncident("damaged")
	rec = x.packets.record(t, i.Opened.Record.Seq)
	x.checkSentence(i, "packet %d was rejected by the decoder: 3 of its %s bits were flipped, and there is no checksum: %s", rec.Seq,
		units.Thousands(int64(rec.Wire-28)*8), explained{In: &i.Opened.Inside}.Problem())
	if err := i.Opened.Inside.Err; !errors.Is(err, encoders.ErrCorrupt) && !errors.Is(err, encoders.ErrTruncated) &&
		!errors.Is(err, endpoint.ErrMalformed) {
		t.Errorf("the decoder said %v", err)
	}
}

// The sentence about a tainted packet names the cause: its own damage, another number, or earlier damage.
func TestExplainCausesOfTaint(t *testing.T) {
	for want, in := range map[string]inspector.AtReceiver{
		"packet 9 was decoded although 1 of its 80 bits was flipped: the checksum is off": {Flipped: 1, TakenFor: 9, Damage: inspector.Damage{AnyRef: true, Ref: 8}},
		"packet 9 arrived undamaged, but depends on snapshot 7, which differs from the sender's because of a corrupted packet: the checksum is off": {
			TakenFor: 9, Damage: inspector.Damage{AnyRef: true, Ref: 7, Decoder: true}},
		"packet 9 arrived undamaged, but its decoder was made from a corrupted packet: the checksum is off": {TakenFor: 9,
			Damage: inspector.Damage{Decoder: true}},
		"packet 9 arrived undamaged, but depends on what the encoder learned up to snapshot 8, which includes a corrupted packet: the checksum is off": {
			TakenFor: 9, Damage: inspector.Damage{AnyRef: true, Ref: 8, MemoOnly: true}},
	} {
		o := &inspector.Opened{Record: packetlog.Record{Seq: 9, Payload: 10, Outcome: packetlog.Tainted}, Inside: inspector.Inside{AtReceiver: in}}
		if got := Explain(o, o.Reasons()[0], config.Default()); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
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

// Loss alone cannot make an epoch unknown: its packets carry the parameters until
// one is acked. Damage without a checksum can.
func TestExplainUnknownEpoch(t *testing.T) {
	x := runWithProblems(t, 60*time.Second, newCrowd(8), "down.corrupt", "50%", "down.corrupt_bits", "8", "down.checksum", "false")
	i := x.newestIncident("unknown codec")
	rec := x.packets.record(t, i.Opened.Record.Seq)
	x.checkSentence(i, "packet %d has an encoding that the receiver cannot decode: %s", rec.Seq, explained{In: &i.Opened.Inside}.Problem())
	if rec.Outcome != packetlog.UnknownCodec {
		t.Errorf("outcome %v", rec.Outcome)
	}
}

// A damaged sequence number is doubted; so is that of the first packet after an outage, although it
// is not damaged. A receiver without guard assigns wrong sequence numbers.
func TestExplainDoubtedNumbers(t *testing.T) {
	settings := []string{"encoder.name", "quantized", "down.checksum", "false", "link.latency", "10ms"}
	x := runWithProblems(t, 60*time.Second, labtest.NewCubeSource(5, 1, -1, 5), append(settings, "down.corrupt", "60%")...) // small packets
	i := x.newestIncident("doubted")
	seq, as := i.Opened.Record.Seq, i.Opened.Inside.TakenFor
	if flip := (seq ^ as) & 0xffff; flip == 0 || flip&(flip-1) != 0 || flip < 256 {
		t.Errorf("packet %d was received as %d after one flipped bit", seq, as)
	}
	x.checkSentence(i, "packet %d arrived with sequence number %d, far from the newest, and no second packet confirmed it: 1 of its %s bits was flipped", seq, as,
		units.Thousands(int64(i.Opened.Record.Wire-28)*8))

	x = runWithProblems(t, 5*time.Second, labtest.NewCubeSource(5, 1, -1, 5), settings...)
	x.change(config.NewChange("down.loss", "100%"))
	x.run(15 * time.Second)
	first := x.nextSeq()
	x.change(config.NewChange("down.loss", "0%"))
	x.run(16 * time.Second)
	i = x.newestIncident("doubted")
	x.checkSentence(i, "packet %d arrived with sequence number %d, far from the newest, and no second packet confirmed it: packets are missing before it", first, first)
	if i.N != 1 {
		t.Errorf("%d packets were doubted after the outage", i.N)
	}
}
