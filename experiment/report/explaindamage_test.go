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
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/units"
)

// An uplink without a checksum that flips bits makes the sender take snapshots for
// held that are not: those lost, and those that could not be decoded.
func TestExplainForgedAcks(t *testing.T) {
	x := provoke(t, 60*time.Second, crowdOf(5), "down.loss", "40%", "link.latency", "10ms", "up.checksum", "false", "up.corrupt", "60%",
		"receiver.history", "40", "sender.history", "40")
	i := x.newest("no baseline: lost")
	rec := x.lives.of(t, i.Opened.Record.Seq)
	need := x.lives.of(t, rec.Seq-uint64(rec.Baseline))
	if need.Outcome != packetlog.Lost {
		t.Fatalf("the baseline ended as %v", need.Outcome)
	}
	x.says(i, "packet %d needed snapshot %d, which the link had lost; a damaged ack that no checksum detected had acknowledged it", rec.Seq, need.Seq)
	i = x.newest("no baseline: not decoded")
	rec = x.lives.of(t, i.Opened.Record.Seq)
	need = x.lives.of(t, rec.Seq-uint64(rec.Baseline))
	if need.Outcome != packetlog.NoBaseline {
		t.Fatalf("the baseline ended as %v", need.Outcome)
	}
	x.says(i, "packet %d needed snapshot %d, which arrived but could not be decoded; a damaged ack that no checksum detected had acknowledged it", rec.Seq, need.Seq)
}

func TestExplainChecksum(t *testing.T) {
	x := provoke(t, 5*time.Second, crowdOf(6), "down.corrupt", "5%", "down.corrupt_bits", "3")
	i := x.newest("checksum")
	rec := x.lives.of(t, i.Opened.Record.Seq)
	const headers = 28 // IPv4 and UDP
	x.says(i, "packet %d was discarded because its checksum failed: 3 of its %s bits were flipped", rec.Seq,
		units.Thousands(int64(rec.Wire-headers)*8))
	if rec.Outcome != packetlog.Corrupt {
		t.Errorf("it ended as %v", rec.Outcome)
	}
}

func TestExplainWithoutChecksum(t *testing.T) {
	x := provoke(t, 30*time.Second, crowdOf(6), "down.corrupt", "30%", "down.corrupt_bits", "3", "down.checksum", "false")
	i := x.newest("tainted")
	rec := x.lives.of(t, i.Opened.Record.Seq)
	bits := units.Thousands(int64(rec.Wire-28) * 8)
	if got := Explain(&i.Opened, i.Reason, x.s.Config()); !strings.HasSuffix(got,
		fmt.Sprintf("decoded although 3 of its %s bits were flipped: the checksum is off", bits)) &&
		got != fmt.Sprintf("packet %d arrived undamaged, but depends on snapshot %d, which depends on a corrupted packet: the checksum is off", rec.Seq,
			rec.Seq-uint64(rec.Baseline)) {
		t.Errorf("it says\n%s", got)
	}
	if rec.Outcome != packetlog.Tainted {
		t.Errorf("it ended as %v", rec.Outcome)
	}
	i = x.newest("damaged")
	rec = x.lives.of(t, i.Opened.Record.Seq)
	x.says(i, "packet %d was rejected by the decoder: 3 of its %s bits were flipped, and there is no checksum: %s", rec.Seq,
		units.Thousands(int64(rec.Wire-28)*8), explained{In: &i.Opened.Inside}.Problem())
	if err := i.Opened.Inside.Err; !errors.Is(err, encoders.ErrCorrupt) && !errors.Is(err, encoders.ErrTruncated) &&
		!errors.Is(err, endpoint.ErrMalformed) {
		t.Errorf("the decoder said %v", err)
	}
}

// moody is the plainest codec, but for a decoder that will not have every tenth
// frame and an encoder that will not have every fiftieth.
type moody struct {
	encoders.Encoder
	encoders.Decoder
}

var errMood = errors.New("not today")

func (m moody) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo, b *encoders.Budget) ([]byte,
	encoders.Memo, error) {
	if cur.Tick%50 == 49 {
		return dst, nil, errMood
	}
	return m.Encoder.Encode(dst, cur, refs, spare, b)
}

func (m moody) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
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
			return moody{enc, dec}, moody{enc, dec}, err
		}})
	c.Encoder = config.Encoder{Name: "moody"}
	x := provokeWith(t, 5*time.Second, crowdOf(7), c)
	i := x.newest("codec error")
	rec := x.lives.of(t, i.Opened.Record.Seq)
	x.says(i, "packet %d, which was not damaged, was rejected by the decoder of moody: not today", rec.Seq)
	if rec.Outcome != packetlog.Corrupt || rec.Seq%10 != 3 {
		t.Errorf("packet %d ended as %v", rec.Seq, rec.Outcome)
	}
	i = x.newest("frame refused")
	x.says(i, "encoder moody rejected frame 299, so no packet was sent: encoder moody: not today")
	if i.N != 6 {
		t.Errorf("%d frames of 300 were refused", i.N)
	}
}

// Loss alone cannot make an epoch unknown: its packets carry the parameters until
// one is acked. Damage without a checksum can.
func TestExplainUnknownEpoch(t *testing.T) {
	x := provoke(t, 60*time.Second, crowdOf(8), "down.corrupt", "50%", "down.corrupt_bits", "8", "down.checksum", "false")
	i := x.newest("unknown codec")
	rec := x.lives.of(t, i.Opened.Record.Seq)
	x.says(i, "packet %d has an encoding that the receiver cannot decode: %s", rec.Seq, explained{In: &i.Opened.Inside}.Problem())
	if rec.Outcome != packetlog.UnknownCodec {
		t.Errorf("it ended as %v", rec.Outcome)
	}
}

// A damaged sequence number is doubted; so is the first packet after an outage, which
// nothing damaged. A receiver that doubts nothing takes packets for others.
func TestExplainDoubtedNumbers(t *testing.T) {
	settings := []string{"encoder.name", "quantized", "down.checksum", "false", "link.latency", "10ms"}
	x := provoke(t, 60*time.Second, labtest.NewCrowd(5, 1, -1, 5), append(settings, "down.corrupt", "60%")...) // small packets
	i := x.newest("doubted")
	seq, as := i.Opened.Record.Seq, i.Opened.Inside.TakenFor
	if flip := (seq ^ as) & 0xffff; flip == 0 || flip&(flip-1) != 0 || flip < 256 {
		t.Errorf("packet %d came as %d by one flipped bit", seq, as)
	}
	x.says(i, "packet %d arrived with sequence number %d, far from the newest, and no second packet confirmed it: 1 of its %s bits was flipped", seq, as,
		units.Thousands(int64(i.Opened.Record.Wire-28)*8))

	x = provoke(t, 5*time.Second, labtest.NewCrowd(5, 1, -1, 5), settings...)
	x.change(config.NewChange("down.loss", "100%"))
	x.run(15 * time.Second)
	first := x.seq()
	x.change(config.NewChange("down.loss", "0%"))
	x.run(16 * time.Second)
	i = x.newest("doubted")
	x.says(i, "packet %d arrived with sequence number %d, far from the newest, and no second packet confirmed it: packets are missing before it", first, first)
	if i.N != 1 {
		t.Errorf("%d packets were doubted after the outage", i.N)
	}
}

func TestExplainWrongSequence(t *testing.T) {
	c := config.Default()
	c.Encoder.Name, c.Trusting = "quantized", true
	for _, set := range [][2]string{{"down.checksum", "false"}, {"down.corrupt", "60%"}} {
		if err := c.Set(set[0], set[1]); err != nil {
			t.Fatal(err)
		}
	}
	x := provokeWith(t, 20*time.Second, labtest.NewCrowd(5, 1, -1, 5), c)
	x.change(config.NewChange("down.corrupt", "0%"))
	x.run(21 * time.Second)
	i := x.newest("tainted")
	seq := i.Opened.Record.Seq
	turns := (i.Opened.Inside.TakenFor - seq) >> 16
	if turns == 0 {
		t.Fatal("the receiver was not moved: the test tests nothing")
	}
	x.says(i, "packet %d was decoded as packet %d: damaged packets had changed the receiver's newest sequence number, and the checksum is off", seq, seq+turns<<16)
}
