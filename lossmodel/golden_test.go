package lossmodel

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"wirelab/lossmodel/random"
)

// golden is the hash of the fates in TestGoldenFates. It must be the same on every platform and
// in every version; a change would break every saved report.
const golden = "dc21c371dcce9c965d3dae913a5e3f59"

// goldenScript lists the changes of the link by packet number.
var goldenScript = map[int][2]string{
	2000:  {"distribution", "uniform"},
	4000:  {"burst", "off"},
	6000:  {"keep_order", "on"},
	8000:  {"mtu", "576"},
	10000: {"rate", "3mbit"},
	12000: {"reorder", "0.0333%"},
	14000: {"corrupt_bits", "64"},
	16000: {"loss", "12.3456789%"},
}

// The fates of 18,000 packets, with changes of the link, have a fixed hash.
func TestGoldenFates(t *testing.T) {
	l := newLink(t, allStagesSpec(t), 20260201)
	sum := sha256.New()
	hash := func(values ...uint64) {
		for _, v := range values {
			_ = binary.Write(sum, binary.LittleEndian, v)
		}
	}
	var buf []byte
	for i := range 18_000 {
		if change, ok := goldenScript[i]; ok {
			spec := l.Spec()
			if err := spec.Set(change[0], change[1]); err != nil {
				t.Fatal(err)
			}
			if err := l.Reshape(spec); err != nil {
				t.Fatal(err)
			}
		}
		now := time.Duration(i) * 1_234_567
		buf = pseudoRandomData(buf, uint64(i), i%1700)
		v := l.Send(now, buf, uint64(i))
		if v.Waiting {
			v.Due = 0 // an estimate
		}
		hash(uint64(v.Lost), uint64(v.Due), uint64(v.Fragments), uint64(v.Wire), uint64(v.Copies))
		for _, cause := range v.CopyLost {
			hash(uint64(cause))
		}
		for d, ok := l.Receive(now); ok; d, ok = l.Receive(now) {
			hash(d.Tag, uint64(d.Sent), uint64(d.Due), uint64(d.Copy), uint64(d.Flipped))
			sum.Write(d.Data)
		}
	}
	if got := fmt.Sprintf("%x", sum.Sum(nil)[:16]); got != golden {
		t.Errorf("fates hash to %s, want %s", got, golden)
	}
}

// The first words of two streams. They distinguish a change of the generator from other failures
// of the hash.
func TestGoldenStreams(t *testing.T) {
	for name, want := range map[string][2]uint64{
		"down.loss": {0xa057b1d06bc23ff2, 0x7ba68d3780c283b8},
		"up.delay":  {0x50b27db50f32b958, 0xd808f1b11522c278},
	} {
		s := random.NewStream(7, name)
		if got := [2]uint64{s.Next(0), s.Next(1)}; got != want {
			t.Errorf("%s: %#x, want %#x", name, got, want)
		}
	}
}
