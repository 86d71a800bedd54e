package packets

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"wirelab/internal/words"
)

// decoder extracts UDP datagrams from captured packets. It counts other packets by the protocol at which
// it stopped.
type decoder struct {
	ether layers.Ethernet
	tag   layers.Dot1Q
	sll   layers.LinuxSLL
	sll2  layers.LinuxSLL2
	loop  layers.Loopback
	ip4   layers.IPv4
	gre   layers.GRE

	fragments  reassembler
	incomplete int            // number of datagrams that were captured only in part
	truncated  bool           // the current packet is shorter than its headers claim
	ignored    map[string]int // number of packets by the protocol that is not read
}

// ignore counts a packet of a protocol that is not read. format describes the protocol by its number and its name.
func (d *decoder) ignore(format string, number int, name fmt.Stringer) {
	if d.ignored == nil {
		d.ignored = map[string]int{}
	}
	d.ignored[fmt.Sprintf(format+" (%v)", number, name)]++
}

// describeIgnored describes the packets that are not read, the most frequent protocols first. It returns "" if all
// packets are read.
func (d *decoder) describeIgnored() string {
	const maxListed = 4
	list := slices.SortedFunc(maps.Keys(d.ignored), func(a, b string) int {
		return cmp.Or(cmp.Compare(d.ignored[b], d.ignored[a]), strings.Compare(a, b))
	})
	total := 0
	var parts []string
	for i, p := range list {
		total += d.ignored[p]
		if i < maxListed {
			parts = append(parts, fmt.Sprintf("%d of %s", d.ignored[p], p))
		}
	}
	if total == 0 {
		return ""
	}
	return words.Count(total, "packet") + " without UDP left out: " + strings.Join(parts, ", ")
}

func (d *decoder) SetTruncated() { d.truncated = true }

var _ gopacket.DecodeFeedback = (*decoder)(nil)

// Link types that the library does not name: LINKTYPE_RAW has another number on some systems
// (https://www.tcpdump.org/linktypes.html).
const (
	rawOnOthers  layers.LinkType = 12
	rawOnOpenBSD layers.LinkType = 14
)

// ipPacket removes the link layer of a packet and returns the IP packet, or nil if it is not IP.
func (d *decoder) ipPacket(link layers.LinkType, data []byte) []byte {
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
		d.ignore("link type %d", int(link), link)
		return nil
	}
	return d.networkPacket(kind, data)
}

// pppoeBytes is the size of the headers of PPPoE and PPP: version and type, code (1 byte each), session, length, and
// protocol (2 bytes each).
const pppoeBytes = 8

// networkPacket removes VLAN tags, PPPoE and bridged Ethernet from a packet of the given type, and returns the IP packet,
// or nil if it is not IP.
func (d *decoder) networkPacket(kind layers.EthernetType, data []byte) []byte {
	for {
		switch kind {
		case layers.EthernetTypeIPv4, layers.EthernetTypeIPv6:
			return data
		case layers.EthernetTypeDot1Q, layers.EthernetTypeQinQ:
			if d.tag.DecodeFromBytes(data, d) != nil {
				return nil
			}
			kind, data = d.tag.Type, d.tag.Payload
		case layers.EthernetTypeTransparentEthernetBridging:
			if d.ether.DecodeFromBytes(data, d) != nil {
				return nil
			}
			kind, data = d.ether.EthernetType, d.ether.Payload
		case layers.EthernetTypePPPoESession:
			if len(data) < pppoeBytes {
				return nil
			}
			ppp := layers.PPPType(binary.BigEndian.Uint16(data[pppoeBytes-2:]))
			if ppp != layers.PPPTypeIPv4 && ppp != layers.PPPTypeIPv6 {
				d.ignore("PPP protocol %#x", int(ppp), ppp)
				return nil
			}
			return data[pppoeBytes:]
		default:
			d.ignore("Ethernet type %#x", int(kind), kind)
			return nil
		}
	}
}

// isRead reports whether payloads of an IP protocol are read: UDP, and tunnels with IP packets.
func isRead(p layers.IPProtocol) bool {
	return p == layers.IPProtocolUDP || p == layers.IPProtocolIPv4 || p == layers.IPProtocolIPv6 || p == layers.IPProtocolGRE
}

// innerPacket returns the IP packet in the payload of a tunnel; nil if the payload has none.
func (d *decoder) innerPacket(s *segment) []byte {
	if s.protocol != layers.IPProtocolGRE {
		return s.payload // IPv4 or IPv6
	}
	if d.gre.DecodeFromBytes(s.payload, d) != nil {
		return nil
	}
	return d.networkPacket(d.gre.Protocol, d.gre.Payload)
}

// segment is the payload of an IP packet, or a fragment of it.
type segment struct {
	from, to netip.Addr
	protocol layers.IPProtocol // protocol of payload
	payload  []byte
}

// maxTunnels is the number of tunnels within each other that are read.
const maxTunnels = 4

// decode returns the UDP datagram in a packet, also within tunnels. If the packet is a fragment, it is the datagram that
// this fragment completes. The result is false without a datagram; the payload is valid until the next call.
func (d *decoder) decode(p *packet) (datagram, bool) {
	d.truncated = p.truncated
	ip := d.ipPacket(p.link, p.data)
	for range maxTunnels {
		s, complete := segment{}, false
		switch {
		case len(ip) > 0 && ip[0]>>4 == 4:
			s, complete = d.decodeIPv4(p.time, ip)
		case len(ip) >= 40 && ip[0]>>4 == 6:
			s, complete = d.decodeIPv6(p.time, ip)
		}
		if !complete {
			break
		}
		if s.protocol == layers.IPProtocolUDP {
			return d.decodeUDP(p.time, &s)
		}
		// The payload may be in the memory of a reassembled datagram, which a fragment within the tunnel overwrites.
		ip = bytes.Clone(d.innerPacket(&s))
	}
	return datagram{}, false
}

// decodeIPv4 decodes an IPv4 packet captured at the given time. complete is true if the segment contains a whole
// UDP datagram or tunnelled packet: the packet is not a fragment, or it is the last missing fragment. complete is
// false for other fragments, other protocols and invalid packets.
func (d *decoder) decodeIPv4(at int64, data []byte) (_ segment, complete bool) {
	if d.ip4.DecodeFromBytes(data, d) != nil {
		return segment{}, false
	}
	if !isRead(d.ip4.Protocol) {
		d.ignore("IP protocol %d", int(d.ip4.Protocol), d.ip4.Protocol)
		return segment{}, false
	}
	h := &d.ip4
	s := segment{protocol: h.Protocol, payload: h.Payload}
	s.from, _ = netip.AddrFromSlice(h.SrcIP)
	s.to, _ = netip.AddrFromSlice(h.DstIP)
	more := h.Flags&layers.IPv4MoreFragments != 0
	if !more && h.FragOffset == 0 {
		return s, true
	}
	if d.truncated {
		d.incomplete++
		return s, false
	}
	return s, d.fragments.add(&s, at, uint32(h.Id), 8*int(h.FragOffset), more)
}

// decodeIPv6 is decodeIPv4 for an IPv6 packet; data has at least the fixed header of 40 bytes (RFC
// 8200: 4 payload length, 6 next header, 8 source, 24 destination). It follows the chain of
// extension headers to UDP or a tunnel. A hop-by-hop, routing or destination header begins with the type of the
// next header and its own length; a fragment header has the next type, a reserved byte, 13 bits of
// offset in units of 8 bytes, 2 reserved bits, the flag for more fragments, and 4 bytes of
// identification.
func (d *decoder) decodeIPv6(at int64, data []byte) (segment, bool) {
	s := segment{from: netip.AddrFrom16([16]byte(data[8:24])), to: netip.AddrFrom16([16]byte(data[24:40])),
		protocol: layers.IPProtocol(data[6])}
	rest, n := data[40:], int(binary.BigEndian.Uint16(data[4:]))
	switch {
	case n > len(rest):
		d.truncated = true
	case n > 0: // n is 0 if the network card segments the packet later
		rest = rest[:n]
	}
	for {
		if isRead(s.protocol) {
			s.payload = rest
			return s, true
		}
		if len(rest) < 8 {
			return s, false
		}
		switch next := layers.IPProtocol(rest[0]); s.protocol {
		case layers.IPProtocolIPv6HopByHop, layers.IPProtocolIPv6Routing, layers.IPProtocolIPv6Destination:
			size := 8 * (int(rest[1]) + 1)
			s.protocol, rest = next, rest[min(size, len(rest)):]
		case layers.IPProtocolIPv6Fragment:
			if d.truncated {
				d.incomplete++
				return s, false
			}
			offsetFlags := binary.BigEndian.Uint16(rest[2:])
			id := binary.BigEndian.Uint32(rest[4:])
			s.protocol, s.payload = next, rest[8:]
			// Without an offset and more fragments the packet is complete (an atomic fragment, RFC 6946).
			// The offset in units of 8 bytes is in the upper 13 bits, so that masking gives bytes.
			if offsetFlags&^6 != 0 && !d.fragments.add(&s, at, id, int(offsetFlags&^7), offsetFlags&1 != 0) {
				return s, false
			}
			rest = s.payload // the payload may begin with further extension headers
		default:
			d.ignore("IP protocol %d", int(s.protocol), s.protocol)
			return s, false
		}
	}
}

// decodeUDP decodes the UDP header (source port, destination port, length, checksum; 2 bytes each) of a
// complete segment. It returns false if the datagram is malformed. Of a datagram that was captured only in part it returns the
// addresses.
func (d *decoder) decodeUDP(at int64, s *segment) (datagram, bool) {
	if len(s.payload) < 8 {
		d.incomplete++
		return datagram{}, false
	}
	n := int(binary.BigEndian.Uint16(s.payload[4:]))
	switch {
	case n == 0: // n is 0 in a jumbogram (RFC 2675), or if the network card fills it in later
		n = len(s.payload)
	case n < 8:
		return datagram{}, false
	}
	dgram := datagram{At: at, From: netip.AddrPortFrom(s.from.Unmap(), binary.BigEndian.Uint16(s.payload)),
		To: netip.AddrPortFrom(s.to.Unmap(), binary.BigEndian.Uint16(s.payload[2:]))}
	// Without a length in the header a truncated packet cannot be told from a complete one.
	if n > len(s.payload) || d.truncated && n == len(s.payload) && binary.BigEndian.Uint16(s.payload[4:]) == 0 {
		d.incomplete++
		dgram.Partial = true
		return dgram, true
	}
	dgram.Payload = s.payload[8:n]
	return dgram, true
}
