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

// A batch of ten is lost with one of its messages: a share of 1-(1-p)^10. The receiver's gauges,
// which see only what arrives, agree, and so does the share of lost messages.
func TestLossGauges(t *testing.T) {
	const n = 12_000
	for _, loss := range []float64{0.01, 0.05, 0.1, 0.2, 0.5} {
		p := defaults()
		p.Order, p.UsualSize, p.Trained = 0, 2, false
		k := newConversation(t, p, 11)
		k.lossDown = loss
		for i := range n {
			k.send(i, []byte{'a', byte(i)})
		}
		gauges := map[string]float64{}
		for _, g := range k.receiver.Gauges() {
			gauges[g.Name] = g.Value / 100
		}
		checkShare := func(name string, want, n float64) {
			if got := gauges[name]; math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/n) {
				t.Errorf("loss %g: %s %.4f, want %.4f", loss, name, got, want)
			}
		}
		checkShare("loss seen", loss, n)
		checkShare("batches lost", 1-math.Pow(1-loss, 10), n/10)
	}
}

// Old reports, received again, change neither the models nor the acknowledged model.
func TestReplayedReports(t *testing.T) {
	text := readDeclaration(t)
	k := newConversation(t, defaults(), 12)
	var reports [][]byte
	for at := 0; at+100 < len(text); at += 100 {
		k.send(k.sent, text[at:at+100])
		k.sent++
		reports = append(reports, k.receiver.Report(nil))
	}
	encode := func() []byte {
		data := k.sender.appendPacket(nil, text[:100], min(k.sender.acked, k.sender.models.newest), nil)
		return data
	}
	newest, acked, before := k.sender.models.newest, k.sender.acked, encode()
	for i := range reports {
		_ = k.sender.Learn(reports[len(reports)-1-i])
		_ = k.sender.Learn(reports[i])
	}
	if k.sender.models.newest != newest || k.sender.acked != acked || !bytes.Equal(encode(), before) {
		t.Errorf("%d models acked %d; want %d and %d", k.sender.models.newest, k.sender.acked, newest, acked)
	}
	if newest < 3 {
		t.Errorf("only %d models", newest)
	}
}

// Models outlive the wrap-around of ticks, and after a silence of any length both endpoints
// continue.
func TestTicksWrapAround(t *testing.T) {
	p := defaults()
	p.Order, p.UsualSize, p.Trained = 0, 4, false
	for _, silence := range []int{10, 5000, 20_000, 32_768, 40_000, 65_536} {
		k := newConversation(t, p, 13)
		say := func(n int) {
			for range n {
				k.send(k.sent, []byte("abba"))
				k.sent++
			}
		}
		say(300)
		models := k.sender.models.newest
		k.lossDown = 1
		say(silence)
		k.lossDown = 0
		say(300)
		if models == 0 || k.sender.models.newest <= models {
			t.Errorf("%d models before a silence of %d messages, %d after it", models, silence, k.sender.models.newest)
		}
	}
	k := newConversation(t, p, 14)
	for i := range 150_000 { // once there are models, every tenth message is lost, so no batch is complete
		f := &frame.Frame{Tick: k.tick, Body: []byte("abba")}
		data, _, _ := k.sender.Encode(nil, f, nil, nil, nil)
		if i < 100 || i%10 != 3 {
			if _, err := k.receiver.Decode(f, data, nil, nil); err != nil || string(f.Body) != "abba" {
				t.Fatalf("message %d: %q, error %v", i, f.Body, err)
			}
			_ = k.sender.Learn(k.receiver.Report(nil))
		}
		k.tick++
	}
	if k.sender.models.newest == 0 || k.sender.models.newest > 10+2 { // the short batch at the end of a round may come whole
		t.Errorf("%d models, want those of the first hundred messages and hardly more", k.sender.models.newest)
	}
}

// The packets and reports of a conversation are fixed, at every order.
func TestGoldenConversations(t *testing.T) {
	text := readDeclaration(t)
	for order, want := range [numOrders]string{"a3bd795c7ace2432", "c3f3f68285edccb1", "a66424336baf7c5d", "eb898479507b053d"} {
		p := defaults()
		p.Order, p.TryAll = order, order == 2
		k := newConversation(t, p, 21)
		k.lossDown, k.lossUp, k.delay = 0.02, 0.2, 3
		sum := sha256.New()
		k.onData = func(data []byte) { sum.Write(data) }
		k.sendText(text, 90, 3)
		if got := hex.EncodeToString(sum.Sum(nil)[:8]); got != want || k.sender.models.newest < 10 {
			t.Errorf("order %d: %d models, bytes %s, want %s", order, k.sender.models.newest, got, want)
		}
	}
}

// FuzzLearn passes any bytes to a sender as a report: no model may be built, and the sender must
// keep working.
func FuzzLearn(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{3})
	f.Add([]byte{1, 1, 0, 0, 1, 2, 3, 4})
	f.Add([]byte{2, 5, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 1, 2, 3, 4})
	text := readDeclaration(f)
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
			t.Fatalf("%x made %d models, acked %d", report, s.models.newest, s.acked)
		}
	})
}

// The packets of a text with losses are fixed, at every order.
func TestGoldenPackets(t *testing.T) {
	text := readDeclaration(t)
	for order, want := range []uint32{0x1c30ccec, 0x7a694d63, 0x854f7776, 0x02ea1d99} {
		p := defaults()
		p.Order, p.TryAll, p.Trained = order, order == 2, order != 3
		k := newConversation(t, p, 31)
		k.lossDown = 0.1
		sum := uint32(0)
		k.onData = func(packet []byte) { sum = crc32.Update(sum, crc32.IEEETable, packet) }
		k.sendText(text, 90, 2)
		if sum != want {
			t.Errorf("order %d: checksum of packets %#x, want %#x", order, sum, want)
		}
	}
}
