package adaptive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"math"
	"testing"

	"wirelab/dataset/frame"
)

// A batch of ten is lost with one of its messages: 1-(1-p)^10 of them. The receiver,
// which sees only what came, says as much, and how many messages were lost.
func TestShareOfBatchesLost(t *testing.T) {
	const n = 12_000
	for _, loss := range []float64{0.01, 0.05, 0.1, 0.2, 0.5} {
		p := defaults()
		p.Order, p.Message, p.Trained = 0, 2, false
		k := newTalk(t, p, 11)
		k.down = loss
		for i := range n {
			k.send(i, []byte{'a', byte(i)})
		}
		said := map[string]float64{}
		for _, g := range k.rcv.Gauges() {
			said[g.Name] = g.Value / 100
		}
		near := func(name string, want, of float64) {
			if got := said[name]; math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/of) {
				t.Errorf("loss %g: %s %.4f, want %.4f", loss, name, got, want)
			}
		}
		near("loss seen", loss, n)
		near("batches lost", 1-math.Pow(1-loss, 10), n/10)
	}
}

// What was said before and comes again, however old, takes nothing back: no model, and
// no knowledge of what the receiver holds.
func TestReplayedReports(t *testing.T) {
	text := prose(t)
	k := newTalk(t, defaults(), 12)
	var said [][]byte
	for at := 0; at+100 < len(text); at += 100 {
		k.send(k.n, text[at:at+100])
		k.n++
		said = append(said, k.rcv.Report(nil))
	}
	encode := func() []byte {
		data := k.snd.write(nil, text[:100], min(k.snd.acked, k.snd.models.newest), nil)
		return data
	}
	newest, vouched, before := k.snd.models.newest, k.snd.acked, encode()
	for i := range said {
		_ = k.snd.Learn(said[len(said)-1-i])
		_ = k.snd.Learn(said[i])
	}
	if k.snd.models.newest != newest || k.snd.acked != vouched || !bytes.Equal(encode(), before) {
		t.Errorf("%d models of which it trusts %d, were %d and %d", k.snd.models.newest, k.snd.acked, newest, vouched)
	}
	if newest < 3 {
		t.Errorf("only %d models", newest)
	}
}

// Ticks run in a circle: a model may serve for more than a round of it, and after a
// silence of any length both ends go on.
func TestRoundTheCircle(t *testing.T) {
	p := defaults()
	p.Order, p.Message, p.Trained = 0, 4, false
	for _, silence := range []int{10, 5000, 20_000, 32_768, 40_000, 65_536} {
		k := newTalk(t, p, 13)
		say := func(n int) {
			for range n {
				k.send(k.n, []byte("abba"))
				k.n++
			}
		}
		say(300)
		models := k.snd.models.newest
		k.down = 1
		say(silence)
		k.down = 0
		say(300)
		if models == 0 || k.snd.models.newest <= models {
			t.Errorf("%d models before a silence of %d messages, %d after it", models, silence, k.snd.models.newest)
		}
	}
	k := newTalk(t, p, 14)
	for i := range 150_000 { // of every tenth message nothing comes once there are models: no batch is whole
		f := &frame.Frame{Tick: k.tick, Body: []byte("abba")}
		data, _, _ := k.snd.Encode(nil, f, nil, nil, nil)
		if i < 100 || i%10 != 3 {
			if _, err := k.rcv.Decode(f, data, nil, nil); err != nil || string(f.Body) != "abba" {
				t.Fatalf("message %d: %q, error %v", i, f.Body, err)
			}
			_ = k.snd.Learn(k.rcv.Report(nil))
		}
		k.tick++
	}
	if k.snd.models.newest == 0 || k.snd.models.newest > 10+2 { // the short batch at the end of a round may come whole
		t.Errorf("%d models, want those of the first hundred messages and hardly more", k.snd.models.newest)
	}
}

// A conversation is the same bytes for ever, packets and reports, at every order: whole
// numbers alone decide what is sent.
func TestConversationsAreTheSameForEver(t *testing.T) {
	text := prose(t)
	for order, want := range [orders]string{"a3bd795c7ace2432", "c3f3f68285edccb1", "a66424336baf7c5d", "eb898479507b053d"} {
		p := defaults()
		p.Order, p.TryAll = order, order == 2
		k := newTalk(t, p, 21)
		k.down, k.up, k.delay = 0.02, 0.2, 3
		sum := sha256.New()
		k.heard = func(data []byte) { sum.Write(data) }
		k.say(text, 90, 3)
		if got := hex.EncodeToString(sum.Sum(nil)[:8]); got != want || k.snd.models.newest < 10 {
			t.Errorf("order %d: %d models, bytes %s, want %s", order, k.snd.models.newest, got, want)
		}
	}
}

// FuzzLearn passes any bytes to a sender that waits for reports: it may complain, but
// makes no model that nobody asked for, and goes on.
func FuzzLearn(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{3})
	f.Add([]byte{1, 1, 0, 0, 1, 2, 3, 4})
	f.Add([]byte{2, 5, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 1, 2, 3, 4})
	text := prose(f)
	s := newSender(defaults())
	var frame frame.Frame
	f.Fuzz(func(t *testing.T, report []byte) {
		frame.Tick++
		frame.Body = append(frame.Body[:0], text[:20]...)
		if _, _, err := s.Encode(nil, &frame, nil, nil, nil); err != nil {
			t.Fatal(err)
		}
		_ = s.Learn(report)
		if s.models.newest != 0 || s.acked != 0 {
			t.Fatalf("%x made %d models, of which it trusts %d", report, s.models.newest, s.acked)
		}
	})
}

// Packets of a text, some of them lost, are the same on every machine, whatever the order.
func TestPacketsStay(t *testing.T) {
	text := prose(t)
	for order, want := range []uint32{0x1c30ccec, 0x7a694d63, 0x854f7776, 0x02ea1d99} {
		p := defaults()
		p.Order, p.TryAll, p.Trained = order, order == 2, order != 3
		k := newTalk(t, p, 31)
		k.down = 0.1
		sum := uint32(0)
		k.heard = func(packet []byte) { sum = crc32.Update(sum, crc32.IEEETable, packet) }
		k.say(text, 90, 2)
		if sum != want {
			t.Errorf("order %d: checksum of packets %#x, want %#x", order, sum, want)
		}
	}
}
