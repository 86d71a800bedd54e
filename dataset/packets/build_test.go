package packets

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// The tests build captures with the writers of the library, and by hand what those cannot write.

var (
	client4, server4 = netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("192.0.2.1")
	client6, server6 = netip.MustParseAddr("2001:db8::7"), netip.MustParseAddr("2001:db8::1")
	begin            = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// raw is a packet to be written to a capture.
type raw struct {
	link layers.LinkType
	at   time.Duration // since begin
	data []byte
	more int // bytes that were not captured
}

// ip returns an IPv4 or IPv6 packet with a UDP datagram. from and to are of one address family.
func ip(t testing.TB, from, to netip.AddrPort, payload []byte) []byte {
	t.Helper()
	udp := &layers.UDP{SrcPort: layers.UDPPort(from.Port()), DstPort: layers.UDPPort(to.Port())}
	var head interface {
		gopacket.NetworkLayer
		gopacket.SerializableLayer
	} = &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: from.Addr().AsSlice(), DstIP: to.Addr().AsSlice()}
	if from.Addr().Is6() {
		head = &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: layers.IPProtocolUDP, SrcIP: from.Addr().AsSlice(), DstIP: to.Addr().AsSlice()}
	}
	if err := udp.SetNetworkLayerForChecksum(head); err != nil {
		t.Fatal(err)
	}
	b := gopacket.NewSerializeBuffer()
	err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, head, udp, gopacket.Payload(payload))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(b.Bytes())
}

// etherType returns the EtherType of an IP packet.
func etherType(packet []byte) []byte {
	if packet[0]>>4 == 6 {
		return []byte{0x86, 0xdd}
	}
	return []byte{0x08, 0x00}
}

// wrap prepends a link-layer header to an IP packet.
func wrap(link layers.LinkType, packet []byte) []byte {
	var head []byte
	switch link {
	case layers.LinkTypeEthernet:
		head = append(make([]byte, 12), etherType(packet)...)
	case layers.LinkTypeLinuxSLL:
		head = append(make([]byte, 14), etherType(packet)...)
		binary.BigEndian.PutUint16(head[4:], 6)
	case layers.LinkTypeLinuxSLL2:
		head = append(append([]byte{}, etherType(packet)...), make([]byte, 18)...)
		head[11] = 6
	case layers.LinkTypeNull:
		head = []byte{2, 0, 0, 0}
		if packet[0]>>4 == 6 {
			head[0] = 30
		}
	case layers.LinkTypeLoop:
		head = []byte{0, 0, 0, 2}
		if packet[0]>>4 == 6 {
			head[3] = 24
		}
	}
	return append(head, packet...)
}

// tagged inserts VLAN tags into an Ethernet frame.
func tagged(frame []byte, tags ...uint16) []byte {
	out := bytes.Clone(frame[:12])
	for i, kind := range tags {
		out = binary.BigEndian.AppendUint16(out, kind)
		out = binary.BigEndian.AppendUint16(out, uint16(100+i))
	}
	return append(out, frame[12:]...)
}

// pppoe wraps an IP packet in Ethernet with PPPoE.
func pppoe(packet []byte) []byte {
	head := append(make([]byte, 12), 0x88, 0x64, 0x11, 0, 0, 1)
	head = binary.BigEndian.AppendUint16(head, uint16(len(packet)+2))
	protocol := byte(0x21)
	if packet[0]>>4 == 6 {
		protocol = 0x57
	}
	return append(append(head, 0, protocol), packet...)
}

// tunnel returns an IPv4 packet with another packet as the payload of the given protocol.
func tunnel(t testing.TB, protocol byte, inner []byte) []byte {
	head := bytes.Clone(ip(t, netip.AddrPortFrom(client4, 1), netip.AddrPortFrom(server4, 2), nil)[:20])
	head[9] = protocol
	binary.BigEndian.PutUint16(head[2:], uint16(20+len(inner)))
	return append(head, inner...)
}

// pieces4 splits an IPv4 packet into fragments with payloads of at most size bytes.
func pieces4(packet []byte, size int, id uint16) (list [][]byte) {
	head, body := packet[:20], packet[20:]
	for at := 0; at < len(body); at += size {
		end := min(at+size, len(body))
		h := bytes.Clone(head)
		binary.BigEndian.PutUint16(h[2:], uint16(20+end-at))
		binary.BigEndian.PutUint16(h[4:], id)
		flags := uint16(at / 8)
		if end < len(body) {
			flags |= 0x2000
		}
		binary.BigEndian.PutUint16(h[6:], flags)
		list = append(list, append(h, body[at:end]...))
	}
	return list
}

// extended inserts extension headers of the given types into an IPv6 packet.
func extended(packet []byte, kinds ...byte) []byte {
	head, body := bytes.Clone(packet[:40]), packet[40:]
	for i := len(kinds) - 1; i >= 0; i-- {
		body = append([]byte{head[6], byte(i), 1, 4, 0, 0, 0, 0}, append(make([]byte, 8*i), body...)...)
		head[6] = kinds[i]
	}
	binary.BigEndian.PutUint16(head[4:], uint16(len(body)))
	return append(head, body...)
}

// pieces6 splits an IPv6 packet into fragments with payloads of at most size bytes.
func pieces6(packet []byte, size int, id uint32) (list [][]byte) {
	head, body := packet[:40], packet[40:]
	for at := 0; at < len(body); at += size {
		end := min(at+size, len(body))
		h := bytes.Clone(head)
		h[6] = 44
		binary.BigEndian.PutUint16(h[4:], uint16(8+end-at))
		f := make([]byte, 8)
		f[0] = head[6]
		where := uint16(at)
		if end < len(body) {
			where |= 1
		}
		binary.BigEndian.PutUint16(f[2:], where)
		binary.BigEndian.PutUint32(f[4:], id)
		list = append(list, append(append(h, f...), body[at:end]...))
	}
	return list
}

func info(p *raw) gopacket.CaptureInfo {
	return gopacket.CaptureInfo{Timestamp: begin.Add(p.at), CaptureLength: len(p.data), Length: len(p.data) + p.more}
}

// classic returns a pcap. The link type is that of the first packet.
func classic(t testing.TB, list []raw) []byte {
	t.Helper()
	var b bytes.Buffer
	w := pcapgo.NewWriterNanos(&b)
	if err := w.WriteFileHeader(1<<17, list[0].link); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		if err := w.WritePacket(info(&list[i]), list[i].data); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// ng returns a pcapng with one interface for each link type.
func ng(t testing.TB, list []raw) []byte {
	t.Helper()
	var b bytes.Buffer
	ids := map[layers.LinkType]int{list[0].link: 0}
	face := func(l layers.LinkType) pcapgo.NgInterface {
		return pcapgo.NgInterface{LinkType: l, TimestampResolution: 9}
	}
	w, err := pcapgo.NewNgWriterInterface(&b, face(list[0].link), pcapgo.NgWriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		p := &list[i]
		if _, known := ids[p.link]; !known {
			if ids[p.link], err = w.AddInterface(face(p.link)); err != nil {
				t.Fatal(err)
			}
		}
		ci := info(p)
		ci.InterfaceIndex = ids[p.link]
		if err := w.WritePacket(ci, p.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readBytes(data []byte) (*Capture, error) {
	return read(bytes.NewReader(data), "a.pcap", maxMemory)
}
