package packets

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/gopacket/gopacket/layers"
)

// check reads arbitrary data: either an error, or datagrams within the limits.
func check(t *testing.T, data []byte) {
	c, err := read(bytes.NewReader(data), "a.pcap", 1<<22)
	if err != nil {
		return
	}
	total := 0
	for i := range c.Datagrams {
		d := &c.Datagrams[i]
		total += len(d.Payload)
		if d.At < c.First || d.At > c.Last || !d.From.IsValid() || !d.To.IsValid() || len(d.Payload) > 1<<18 {
			t.Fatalf("datagram %d: %v, in a capture from %d to %d", i, d, c.First, c.Last)
		}
	}
	if total > 1<<22 || len(c.Datagrams) > c.Packets {
		t.Fatalf("%d bytes in %d datagrams of %d packets", total, len(c.Datagrams), c.Packets)
	}
	if err := c.selectDatagrams(Choice{}); err != nil {
		if err = c.selectDatagrams(Choice{Up: true}); err != nil {
			t.Fatalf("neither direction: %v", err)
		}
	}
	s := newSource(c, true)
	for n := range uint64(len(s.data) + 1) {
		if at := s.TickTime(n); s.TickAt(at) != n || at >= s.TickTime(n+1) {
			t.Fatalf("frame %d at %v, the next at %v", n, at, s.TickTime(n+1))
		}
	}
}

// FuzzRead checks that no file makes the reader panic or exceed its memory limit.
func FuzzRead(f *testing.F) {
	list := match(f)
	f.Add(classic(f, list))
	f.Add(ng(f, list))
	f.Add(classic(f, list)[:77])
	f.Fuzz(check)
}

// FuzzPackets does the same with well-formed files whose packets are damaged. Most packets begin with
// valid headers and are then altered, truncated and mixed.
func FuzzPackets(f *testing.F) {
	f.Add(uint64(1), uint8(0), []byte{1, 2, 3})
	f.Add(uint64(2), uint8(3), []byte{0x45, 0, 0, 40})
	f.Add(uint64(3), uint8(5), bytes.Repeat([]byte{0x60}, 60))
	links := []layers.LinkType{layers.LinkTypeEthernet, layers.LinkTypeLinuxSLL, layers.LinkTypeLinuxSLL2, layers.LinkTypeNull,
		layers.LinkTypeLoop, layers.LinkTypeRaw, rawOnOthers}
	from4, to4 := netip.AddrPortFrom(client4, 1), netip.AddrPortFrom(server4, 2)
	from6, to6 := netip.AddrPortFrom(client6, 1), netip.AddrPortFrom(server6, 2)
	big := pattern(2500, 1)
	var seeds [][]byte
	seeds = append(seeds, pieces4(ip(f, from4, to4, big), 1000, 3)...)
	seeds = append(seeds, pieces6(ip(f, from6, to6, big), 1000, 3)...)
	seeds = append(seeds, extended(ip(f, from6, to6, big[:9]), 0, 60, 43), ip(f, from4, to4, nil))
	f.Fuzz(func(t *testing.T, seed uint64, kind uint8, odd []byte) {
		rng := rand.New(rand.NewPCG(seed, uint64(kind)))
		link := links[int(kind)%len(links)]
		list := []raw{{link: link, data: wrap(link, append([]byte{0x45}, odd...))}, {link: link, data: odd}}
		for range rng.IntN(12) {
			p := bytes.Clone(seeds[rng.IntN(len(seeds))])
			for range rng.IntN(3) {
				p[rng.IntN(min(len(p), 60))] = byte(rng.Uint32())
			}
			data := wrap(link, p)
			if link == layers.LinkTypeEthernet && rng.IntN(3) == 0 {
				data = tagged(data, 0x8100, 0x88a8)
			}
			more := 0
			if rng.IntN(4) == 0 {
				n := rng.IntN(len(data) + 1)
				data, more = data[:n], len(data)-n
			}
			list = append(list, raw{link: link, data: data, more: more})
		}
		check(t, classic(t, list))
		check(t, ng(t, list))
	})
}
