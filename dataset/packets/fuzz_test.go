package packets

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/gopacket/gopacket/layers"

	"wirelab/internal/testkit"
)

// captureBuilder writes the packets of UDP datagrams, and captures of them, from the choices of a fuzzer.
// It writes the files itself, since the writers of the library cannot write all variants, and none
// that is damaged.
type captureBuilder struct {
	*testkit.Choices
	packets []raw
	want    []datagram // unless a part is damaged
	damaged bool
}

// addDatagram adds the packets of one datagram: with one of the link layers, tags, extension
// headers, and as fragments in either order. The bytes of some packets are damaged.
func (b *captureBuilder) addDatagram(t *testing.T, links []layers.LinkType) {
	n := len(b.want)
	from, to := netip.AddrPortFrom(client4, uint16(b.Uint64(1))), netip.AddrPortFrom(server4, 2000)
	if v6 := b.IntN(2) == 1; v6 {
		from, to = netip.AddrPortFrom(client6, from.Port()), netip.AddrPortFrom(server6, 2000)
	}
	payload := pattern(testkit.Pick(b.Choices, 9, 0, 1, 100, 1472, 3000), n)
	list := [][]byte{ip(t, from, to, payload)}
	size := 8 * testkit.Pick(b.Choices, 1000, 1, 60, 185)
	switch whole := list[0]; {
	case len(payload) <= size: // one packet
		if from.Addr().Is6() && b.IntN(3) == 2 {
			list = [][]byte{extended(whole, testkit.Pick(b.Choices, []byte{0}, []byte{60, 43}, []byte{0, 60, 43, 60})...)}
		}
	case len(payload)/size > 100:
	case from.Addr().Is6():
		list = pieces6(whole, size, uint32(n))
	default:
		list = pieces4(whole, size, uint16(n))
	}
	if b.IntN(4) == 3 {
		slices.Reverse(list)
	}
	if b.IntN(4) == 3 && len(list) > 1 {
		list = append([][]byte{list[0]}, list...) // a fragment that arrives twice
	}
	link := testkit.Pick(b.Choices, links...)
	for _, packet := range list {
		if b.Rare() {
			b.damaged = true
			b.damage(packet[:min(len(packet), 60)])
		}
		p := raw{link: link, at: time.Duration(len(b.packets)) * 250 * time.Microsecond, data: wrap(link, packet)}
		if link == layers.LinkTypeEthernet {
			p.data = tagged(p.data, testkit.Pick(b.Choices, nil, []uint16{0x8100}, []uint16{0x88a8, 0x8100})...)
			p.data = append(p.data, make([]byte, b.IntN(20))...)
		}
		if b.Rare() {
			b.damaged = true
			k := b.IntN(len(p.data) + 1)
			p.data, p.more = p.data[:k], len(p.data)-k
		}
		b.packets = append(b.packets, p)
	}
	last := b.packets[len(b.packets)-1]
	b.want = append(b.want, datagram{At: begin.Add(last.at).UnixNano(), From: from, To: to, Payload: payload})
}

// damage changes up to four bytes.
func (b *captureBuilder) damage(data []byte) {
	for range 1 + b.IntN(4) {
		if at := b.IntN(256); at < len(data) {
			data[at] = byte(b.Uint64(1))
		}
	}
}

// field returns a value of a file's header, rarely another one.
func (b *captureBuilder) field(v int) uint32 {
	if !b.Rare() {
		return uint32(v)
	}
	b.damaged = true
	return testkit.Pick(b.Choices, 0, 1, uint32(v)+1, uint32(v)-1, 1<<31-1, 1<<31, 1<<32-1, uint32(b.Uint64(4)))
}

// byteOrder is the order of the bytes in a file.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// order chooses a byte order.
func (b *captureBuilder) order() byteOrder {
	return testkit.Pick(b.Choices, byteOrder(binary.LittleEndian), byteOrder(binary.BigEndian))
}

// append32 appends fields of 32 bits.
func append32(order byteOrder, out []byte, fields ...uint32) []byte {
	for _, v := range fields {
		out = order.AppendUint32(out, v)
	}
	return out
}

// classic returns a pcap (draft-ietf-opsawg-pcap): a header of magic, version, time zone, accuracy, largest
// packet and link type, and before each packet its time, captured length and length.
func (b *captureBuilder) classic(link layers.LinkType) []byte {
	order, nanos := b.order(), b.IntN(2) == 1
	magic, unit := uint32(0xa1b2c3d4), time.Microsecond
	if nanos {
		magic, unit = 0xa1b23c4d, 1
	}
	out := append32(order, nil, magic)
	out = order.AppendUint16(order.AppendUint16(out, 2), 4)
	out = append32(order, out, 0, 0, b.field(1<<17), b.field(int(link)))
	for i := range b.packets {
		p := &b.packets[i]
		at := begin.Add(p.at)
		out = append32(order, out, b.field(int(at.Unix())), b.field(at.Nanosecond()/int(unit)), b.field(len(p.data)), b.field(len(p.data)+p.more))
		out = append(out, p.data...)
	}
	return out
}

// block appends a block of a pcapng: its type, length, body padded to four bytes, and length.
func (b *captureBuilder) block(order byteOrder, out []byte, kind uint32, body []byte) []byte {
	body = append(body, make([]byte, -len(body)&3)...)
	out = append32(order, out, b.field(int(kind)), b.field(12+len(body)))
	return append32(order, append(out, body...), b.field(12+len(body)))
}

// option appends an option of a pcapng block.
func (b *captureBuilder) option(order byteOrder, out []byte, code int, value []byte) []byte {
	out = order.AppendUint16(order.AppendUint16(out, uint16(b.field(code))), uint16(b.field(len(value))))
	return append(append(out, value...), make([]byte, -len(value)&3)...)
}

// ng returns a pcapng (draft-ietf-opsawg-pcapng) of one or more sections, in which each link type is an
// interface with a time unit of its own, with comments and with blocks that have no packets.
func (b *captureBuilder) ng() []byte {
	var out []byte
	var order byteOrder
	var interfaces []layers.LinkType
	var units []time.Duration
	for i := range b.packets {
		p := &b.packets[i]
		if i == 0 || b.IntN(16) == 15 { // a section begins
			order, interfaces, units = b.order(), nil, nil
			out = b.block(order, out, 0x0a0d0d0a, append32(order, order.AppendUint16(order.AppendUint16(append32(order, nil, b.field(0x1a2b3c4d)), 1), 0),
				1<<32-1, 1<<32-1))
		}
		switch b.IntN(16) {
		case 14:
			out = b.block(order, out, 0xbad, b.Bytes(b.IntN(20))) // a custom block
		case 15: // names: a record for an address, and the end of records
			record := append(append(order.AppendUint16(order.AppendUint16(nil, 1), 6), 192, 0, 2, 7), "x\x00\x00\x00"...)
			out = b.block(order, out, 4, append32(order, record, 0))
		}
		k := slices.Index(interfaces, p.link)
		if k < 0 {
			k = len(interfaces)
			body := append32(order, order.AppendUint16(order.AppendUint16(nil, uint16(p.link)), 0), b.field(1<<17))
			unit := time.Microsecond
			if b.IntN(2) == 1 {
				body, unit = b.option(order, body, 9, []byte{9}), 1
				body = b.option(order, body, 0, nil)
			}
			out = b.block(order, out, 1, body)
			interfaces, units = append(interfaces, p.link), append(units, unit)
		}
		at := uint64(begin.Add(p.at).UnixNano()) / uint64(units[k])
		body := append32(order, nil, b.field(k), b.field(int(at>>32)), b.field(int(uint32(at))), b.field(len(p.data)), b.field(len(p.data)+p.more))
		body = append(append(body, p.data...), make([]byte, -len(p.data)&3)...)
		if b.IntN(8) == 7 {
			body = b.option(order, b.option(order, body, 1, []byte("a comment")), 0, nil)
		}
		out = b.block(order, out, 6, body)
	}
	return out
}

// FuzzCapture builds captures with datagrams on all link types and damages some of their fields. Without
// damage every datagram must be found, with its time; with damage the reader may not panic or exceed
// its memory limit.
func FuzzCapture(f *testing.F) {
	links := []layers.LinkType{layers.LinkTypeEthernet, layers.LinkTypeLinuxSLL, layers.LinkTypeLinuxSLL2, layers.LinkTypeNull,
		layers.LinkTypeLoop, layers.LinkTypeRaw, rawOnOthers, rawOnOpenBSD}
	for link := range byte(len(links)) {
		f.Add([]byte{link, 0, 3, 1, 0, 5, 1, 0, 0, link, 0, 0, 1, 0, 0, 2, 2, 5, 3, 3, link, 9, 1, 0, 4, 0, 2}, []byte{1, 1, 0, 0, 1, 14, 15, 15})
	}
	f.Add([]byte{0, 1, 1, 1, 5, 3, 0, 3, 0, 255, 0, 6, 44, 1, 1, 5, 3, 3, 0, 0, 255, 2, 7, 9}, bytes.Repeat([]byte{15, 255, 3, 255, 0}, 30))
	f.Fuzz(func(t *testing.T, datagrams, file []byte) {
		b := &captureBuilder{Choices: testkit.NewChoices(datagrams)}
		first := testkit.Pick(b.Choices, links...)
		classic := b.IntN(2) == 0
		allowed := links
		if classic { // one link type in the whole file
			allowed = []layers.LinkType{first}
		}
		for len(b.want) == 0 || !b.Empty() && len(b.packets) < 100 {
			b.addDatagram(t, allowed)
		}
		b.Choices = testkit.NewChoices(file)
		var data []byte
		if classic {
			data = b.classic(first)
		} else {
			data = b.ng()
		}
		if b.Rare() {
			b.damaged, data = true, data[:b.IntN(1<<16)%(len(data)+1)]
		}
		c, err := read(bytes.NewReader(data), "a.pcap", 1<<22)
		if !b.damaged {
			if err != nil {
				t.Fatal(err)
			}
			same(t, "undamaged", c.Datagrams, b.want)
		}
		if err == nil {
			check(t, c)
		} else if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrNoDatagrams) {
			t.Fatal(err)
		}
	})
}

// check checks that a capture is within the limits and that its datagrams are a source of frames.
func check(t *testing.T, c *Capture) {
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
