package packets

import (
	"encoding/binary"
	"net/netip"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// decoder finds the datagrams in packets. What it cannot make sense of it leaves out,
// and counts: networks carry all sorts of things.
type decoder struct {
	ether layers.Ethernet
	tag   layers.Dot1Q
	sll   layers.LinuxSLL
	sll2  layers.LinuxSLL2
	loop  layers.Loopback
	ip4   layers.IPv4

	fragments fragments
	short     int             // datagrams of which not all was captured
	truncated bool            // this packet claims more than it has
	unknown   int             // packets of a kind of link that is not known
	link      layers.LinkType // of the first of those
}

// SetTruncated implements gopacket.DecodeFeedback.
func (d *decoder) SetTruncated() { d.truncated = true }

var _ gopacket.DecodeFeedback = (*decoder)(nil)

// Kinds of link that the library has no names for.
const (
	rawOnOthers  layers.LinkType = 12
	rawOnOpenBSD layers.LinkType = 14
)

// network returns the IP packet in a packet; nil if there is none.
func (d *decoder) network(link layers.LinkType, data []byte) []byte {
	var kind layers.EthernetType
	switch link {
	case layers.LinkTypeEthernet:
		if d.ether.DecodeFromBytes(data, d) != nil {
			return nil
		}
		kind, data = d.ether.EthernetType, d.ether.Payload
	case layers.LinkTypeLinuxSLL:
		if d.sll.DecodeFromBytes(data, d) != nil {
			return nil
		}
		kind, data = d.sll.EthernetType, d.sll.Payload
	case layers.LinkTypeLinuxSLL2:
		if d.sll2.DecodeFromBytes(data, d) != nil {
			return nil
		}
		kind, data = d.sll2.ProtocolType, d.sll2.Payload
	case layers.LinkTypeNull, layers.LinkTypeLoop:
		if d.loop.DecodeFromBytes(data, d) != nil {
			return nil
		}
		return d.loop.Payload
	case layers.LinkTypeRaw, layers.LinkTypeIPv4, layers.LinkTypeIPv6, rawOnOthers, rawOnOpenBSD:
		return data
	default:
		if d.unknown == 0 {
			d.link = link
		}
		d.unknown++
		return nil
	}
	for kind == layers.EthernetTypeDot1Q || kind == layers.EthernetTypeQinQ {
		if d.tag.DecodeFromBytes(data, d) != nil {
			return nil
		}
		kind, data = d.tag.Type, d.tag.Payload
	}
	if kind != layers.EthernetTypeIPv4 && kind != layers.EthernetTypeIPv6 {
		return nil
	}
	return data
}

// segment is what IP carries, whole or a piece.
type segment struct {
	from, to netip.Addr
	protocol layers.IPProtocol
	data     []byte
}

// datagram returns the datagram that a packet completes.
func (d *decoder) datagram(p *packet) (datagram, bool) {
	d.truncated = p.cut
	ip := d.network(p.link, p.data)
	s, whole := segment{}, false
	switch {
	case len(ip) > 0 && ip[0]>>4 == 4:
		s, whole = d.v4(p.at, ip)
	case len(ip) >= 40 && ip[0]>>4 == 6:
		s, whole = d.v6(p.at, ip)
	}
	if !whole {
		return datagram{}, false
	}
	return d.udp(p.at, &s)
}

// v4 reads an IPv4 packet.
func (d *decoder) v4(at int64, data []byte) (segment, bool) {
	if d.ip4.DecodeFromBytes(data, d) != nil || d.ip4.Protocol != layers.IPProtocolUDP {
		return segment{}, false
	}
	h := &d.ip4
	s := segment{protocol: h.Protocol, data: h.Payload}
	s.from, _ = netip.AddrFromSlice(h.SrcIP)
	s.to, _ = netip.AddrFromSlice(h.DstIP)
	more := h.Flags&layers.IPv4MoreFragments != 0
	if !more && h.FragOffset == 0 {
		return s, true
	}
	if d.truncated {
		d.short++
		return s, false
	}
	return s, d.fragments.add(&s, at, uint32(h.Id), 8*int(h.FragOffset), more)
}

// v6 reads an IPv6 packet, at least its fixed header, and walks the headers behind it.
func (d *decoder) v6(at int64, data []byte) (segment, bool) {
	s := segment{from: netip.AddrFrom16([16]byte(data[8:24])), to: netip.AddrFrom16([16]byte(data[24:40])),
		protocol: layers.IPProtocol(data[6])}
	rest, n := data[40:], int(binary.BigEndian.Uint16(data[4:]))
	switch {
	case n > len(rest):
		d.truncated = true
	case n > 0: // 0 where the network card was to cut it in pieces
		rest = rest[:n]
	}
	for {
		if len(rest) < 8 {
			return s, false
		}
		switch next := layers.IPProtocol(rest[0]); s.protocol {
		case layers.IPProtocolUDP:
			s.data = rest
			return s, true
		case layers.IPProtocolIPv6HopByHop, layers.IPProtocolIPv6Routing, layers.IPProtocolIPv6Destination:
			n := 8 * (int(rest[1]) + 1)
			s.protocol, rest = next, rest[min(n, len(rest)):]
		case layers.IPProtocolIPv6Fragment:
			if d.truncated {
				d.short++
				return s, false
			}
			where := binary.BigEndian.Uint16(rest[2:])
			id := binary.BigEndian.Uint32(rest[4:])
			s.protocol, s.data = next, rest[8:]
			if where&^6 != 0 && !d.fragments.add(&s, at, id, int(where&^7), where&1 != 0) {
				return s, false
			}
			rest = s.data // with more headers, if it was fragmented behind them
		default:
			return s, false
		}
	}
}

// udp reads a whole datagram.
func (d *decoder) udp(at int64, s *segment) (datagram, bool) {
	if len(s.data) < 8 {
		d.short++
		return datagram{}, false
	}
	n := int(binary.BigEndian.Uint16(s.data[4:]))
	switch {
	case n == 0: // a jumbogram, or left to the network card
		n = len(s.data)
	case n < 8:
		return datagram{}, false
	}
	if n > len(s.data) || d.truncated && n == len(s.data) && binary.BigEndian.Uint16(s.data[4:]) == 0 {
		d.short++
		return datagram{}, false
	}
	return datagram{At: at, Payload: s.data[8:n],
		From: netip.AddrPortFrom(s.from.Unmap(), binary.BigEndian.Uint16(s.data)),
		To:   netip.AddrPortFrom(s.to.Unmap(), binary.BigEndian.Uint16(s.data[2:]))}, true
}
