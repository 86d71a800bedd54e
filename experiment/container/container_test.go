package container_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/container"
	"wirelab/internal/policy"
)

func mustParse(t testing.TB, text string) policy.Policy {
	t.Helper()
	p, err := container.Redundancies.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// newSender returns a sender with a policy.
func newSender(t testing.TB, text string) *container.Sender {
	s := container.NewSender()
	s.SetRedundancy(mustParse(t, text))
	return s
}

const interval = time.Second / 60

// The bytes of containers are those of the format in the package's documentation.
func TestFormat(t *testing.T) {
	for _, c := range []struct {
		policy string
		want   []string // the containers of "ab", "c" and "def", in hexadecimal, and their parities
	}{
		{"repeat n=2", []string{
			"0000 10 00 6162",
			"0100 14 00 01 01 0200 6162 63",
			"0200 14 00 02 01 0100 63 02 0200 6162 646566"}},
		{"xor data=3", []string{
			"0000 11 00 0000 00 6162",
			"0100 11 00 0000 01 63",
			"0200 11 00 0000 02 646566",
			"0300 02 00 0000 03 03 00 0300 0000 660766"}}, // numbers 0^1^2, lengths 2^1^3, a^c^d, b^e, f
	} {
		s := newSender(t, c.policy)
		var got []string
		for i, packet := range []string{"ab", "c", "def"} {
			now := time.Duration(i) * interval
			got = append(got, fmt.Sprintf("%x", s.Seal(now, interval, []byte(packet), nil).Datagram))
			for _, ok := s.NextParity(); ok; _, ok = s.NextParity() {
				got = append(got, fmt.Sprintf("%x", s.SealParity().Datagram))
			}
		}
		for i, want := range c.want {
			if i >= len(got) || got[i] != strings.ReplaceAll(want, " ", "") {
				t.Errorf("%s: container %d is %v, want %s", c.policy, i, got[i:], want)
			}
		}
	}
}

// channel sends random packets over a channel that loses, copies and reorders datagrams.
type channel struct {
	rng     *rand.Rand
	sent    [][]byte // packets by number of their container; nil for parities
	flight  [][]byte
	arrived map[uint64]bool // containers
	opened  int
}

func (c *channel) send(s container.Sealed, packet []byte) {
	for uint64(len(c.sent)) <= s.Number {
		c.sent = append(c.sent, nil)
	}
	c.sent[s.Number] = packet
	if c.rng.Float64() < 0.2 { // lost
		return
	}
	c.arrived[s.Number] = true
	for range 1 + c.rng.IntN(10)/9 {
		c.flight = append(c.flight, bytes.Clone(s.Datagram))
	}
}

// A packet arrives exactly if its own container does, one that repeats it, or as many datagrams of its
// group as the group has packets. What arrives equals what was sent, and a repair is reported once.
func TestRepairsWhatArrives(t *testing.T) {
	for _, text := range []string{"none", "repeat n=1", "repeat n=3", "xor data=2", "xor data=5", "rs data=2 parity=1", "rs data=4 parity=2",
		"rs data=8 parity=4", "rs data=16 parity=8"} {
		s := newSender(t, text)
		var r container.Receiver
		c := &channel{rng: rand.New(rand.NewPCG(3, uint64(len(text)))), arrived: map[uint64]bool{}}
		groups := map[uint64][]uint64{}   // containers by group
		groupOf := map[uint64]uint64{}    // of a container with a packet
		repeated := map[uint64][]uint64{} // containers that have the packet of a container
		var packets []uint64              // containers with a packet
		dataOf := 0
		got := map[uint64]int{}
		deliver := func() {
			for len(c.flight) > 4 {
				i := c.rng.IntN(4)
				if c.opened++; c.opened%4 == 0 {
					i = 0 // none is overtaken by more than a dozen
				}
				d := c.flight[i]
				c.flight = append(c.flight[:i], c.flight[i+1:]...)
				opened, err := r.Open(d)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				number := uint64(len(c.sent)) - 1 - uint64(uint16(len(c.sent)-1)-opened.Number)
				for _, p := range opened.Packets {
					n := number - uint64(p.Distance)
					if !bytes.Equal(p.Bytes, c.sent[n]) {
						t.Fatalf("%s: packet %d is %x, want %x", text, n, p.Bytes, c.sent[n])
					}
					if p.Repair != container.NotRepaired && got[n] > 0 {
						t.Fatalf("%s: packet %d was repaired although it was there", text, n)
					}
					got[n]++
				}
			}
		}
		for i := range 5000 {
			packet := make([]byte, 1+c.rng.IntN(60))
			for k := range packet {
				packet[k] = byte(c.rng.Uint32())
			}
			now := time.Duration(i) * interval
			sealed := s.Seal(now, interval, packet, nil)
			for k := range sealed.Repeats {
				before := packets[len(packets)-1-k]
				repeated[before] = append(repeated[before], sealed.Number)
			}
			packets = append(packets, sealed.Number)
			if sealed.InGroup {
				groups[sealed.Group], groupOf[sealed.Number], dataOf = append(groups[sealed.Group], sealed.Number), sealed.Group, sealed.Data
			}
			c.send(sealed, packet)
			for at, ok := s.NextParity(); ok && at < now+interval; at, ok = s.NextParity() {
				sealed := s.SealParity()
				groups[sealed.Group] = append(groups[sealed.Group], sealed.Number)
				c.send(sealed, nil)
			}
			deliver()
		}
		c.flight = append(c.flight, nil, nil, nil, nil)
		for len(c.flight) > 4 && c.flight[0] != nil { // in order, since nothing follows
			d := c.flight[0]
			c.flight = c.flight[1:]
			opened, err := r.Open(d)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range opened.Packets {
				got[uint64(len(c.sent))-1-uint64(uint16(len(c.sent)-1)-opened.Number)-uint64(p.Distance)]++
			}
		}
		repaired := 0
		for _, n := range packets[:len(packets)-20] {
			want := c.arrived[n]
			for _, m := range repeated[n] {
				want = want || c.arrived[m]
			}
			if g, ok := groupOf[n]; ok {
				have := 0
				for _, m := range groups[g] {
					if c.arrived[m] {
						have++
					}
				}
				want = want || have >= dataOf
			}
			if want != (got[n] > 0) {
				t.Fatalf("%s: packet %d arrived: %v, want %v", text, n, got[n] > 0, want)
			}
			if want && !c.arrived[n] {
				repaired++
			}
		}
		if (repaired > 0) != (text != "none") {
			t.Errorf("%s: %d packets were repaired", text, repaired)
		}
	}
}

// Parities are sent at even distances between the last packet of their group and the next packet.
func TestParityTimes(t *testing.T) {
	s := newSender(t, "rs data=2 parity=3")
	s.Seal(0, 40*time.Millisecond, []byte("a"), nil)
	if _, ok := s.NextParity(); ok {
		t.Error("a parity of an incomplete group is due")
	}
	s.Seal(40*time.Millisecond, 40*time.Millisecond, []byte("b"), nil)
	for i := range 3 {
		want := 40*time.Millisecond + time.Duration(i+1)*10*time.Millisecond
		if at, ok := s.NextParity(); !ok || at != want {
			t.Errorf("parity %d is due at %v, want %v", i, at, want)
		}
		s.SealParity()
	}
}

// A sender that follows another one sends at the same times under the same numbers, and the receiver of
// its containers repairs its packets.
func TestFollow(t *testing.T) {
	first := newSender(t, "rs data=4 parity=2")
	for i := range 6 { // one group, two packets of the next; two parities pending
		first.Seal(time.Duration(i)*interval, interval, []byte("first"), nil)
	}
	second := container.NewSender()
	second.Follow(first)
	var r container.Receiver
	for range 2 {
		a, b := first.SealParity(), second.SealParity()
		if a.Number != b.Number || len(a.Datagram) != len(b.Datagram) || a.Blank || !b.Blank {
			t.Fatalf("parity %+v, the follower's %+v", a, b)
		}
	}
	var got []string
	for i := range 2 {
		now := time.Duration(6+i) * interval
		a, b := first.Seal(now, interval, []byte("first"), nil), second.Seal(now, interval, []byte{'p', byte('0' + i)}, nil)
		if a.Number != b.Number || a.Group != b.Group || a.Index != b.Index {
			t.Fatalf("container %+v, the follower's %+v", a, b)
		}
	}
	for range 2 {
		a, _ := first.NextParity()
		b, ok := second.NextParity()
		if a != b || !ok {
			t.Fatalf("a parity at %v, the follower's at %v", a, b)
		}
		first.SealParity()
		sealed := second.SealParity()
		opened, err := r.Open(sealed.Datagram)
		if err != nil || sealed.Blank {
			t.Fatal(err)
		}
		for _, p := range opened.Packets {
			got = append(got, string(p.Bytes))
		}
	}
	if len(got) != 0 { // two of four shards are not enough
		t.Errorf("rebuilt %q", got)
	}
}

// One forged group costs at most the repairs of the groups in its place, up to 32 groups on, wherever it
// is. Many forged groups cost one more.
func TestForgedGroup(t *testing.T) {
	run := func(forged ...uint16) (repaired int) {
		s := newSender(t, "xor data=2")
		var r container.Receiver
		for i := range 400 {
			now := time.Duration(i) * interval
			d := s.Seal(now, interval, []byte("packet"), nil).Datagram
			if i == 200 {
				for _, id := range forged {
					_, _ = r.Open([]byte{0, 0, 0x11, 0, byte(id), byte(id >> 8), 0, 'x'})
				}
			}
			if i%2 == 0 {
				continue // lost
			}
			_, _ = r.Open(d)
			opened, err := r.Open(s.SealParity().Datagram)
			if err != nil {
				t.Fatal(err)
			}
			repaired += len(opened.Packets)
		}
		return repaired
	}
	for distance := range uint16(0xffff) {
		least := 200
		if distance <= 32 {
			least = 196
		} else if distance > 1000 && distance%97 > 0 {
			continue
		}
		if n := run(100 + distance); n < least {
			t.Errorf("%d of 200 packets were repaired after group %d ahead", n, distance)
		}
	}
	var all []uint16 // places of groups
	for id := range uint16(16) {
		all = append(all, 23_040+id)
	}
	if n := run(all...); n < 199 {
		t.Errorf("%d of 200 packets were repaired after 16 groups", n)
	}
}

// In steady state neither end allocates.
func TestAllocatesNothing(t *testing.T) {
	for _, text := range []string{"repeat n=2", "xor data=4"} {
		s := newSender(t, text)
		var r container.Receiver
		packet := make([]byte, 400)
		now := time.Duration(0)
		step := func() {
			now += interval
			d := s.Seal(now, interval, packet, nil).Datagram
			if now/interval%7 > 0 {
				_, _ = r.Open(d)
			}
			for _, ok := s.NextParity(); ok; _, ok = s.NextParity() {
				_, _ = r.Open(s.SealParity().Datagram)
			}
		}
		for range 1000 {
			step()
		}
		if n := testing.AllocsPerRun(500, step); n > 0 {
			t.Errorf("%s: %g allocations a packet", text, n)
		}
	}
}

// Any bytes give an error that wraps ErrMalformed, or packets that are in the datagram or as large as
// one of its group.
func FuzzOpen(f *testing.F) {
	for _, text := range []string{"repeat n=2", "xor data=2", "rs data=2 parity=2"} {
		s := newSender(f, text)
		var all []byte
		for i := range 4 {
			d := s.Seal(0, interval, bytes.Repeat([]byte{byte(i)}, 3+i), nil).Datagram
			all = append(append(binary.LittleEndian.AppendUint16(all, uint16(len(d))), d...), 0)
			for _, ok := s.NextParity(); ok; _, ok = s.NextParity() {
				d := s.SealParity().Datagram
				all = append(binary.LittleEndian.AppendUint16(all, uint16(len(d))), d...)
			}
		}
		f.Add(all)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		var r container.Receiver
		for len(src) >= 2 { // datagrams with their lengths
			n := min(int(binary.LittleEndian.Uint16(src)), len(src)-2)
			opened, err := r.Open(src[2 : 2+n])
			if err != nil && !errors.Is(err, container.ErrMalformed) {
				t.Fatalf("the error is %v", err)
			}
			for _, p := range opened.Packets {
				if p.Repair != container.ByParity && len(p.Bytes) > n {
					t.Fatalf("a packet of %d bytes in a datagram of %d", len(p.Bytes), n)
				}
			}
			src = src[2+n:]
		}
	})
}
