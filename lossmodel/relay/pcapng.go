package relay

import (
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"wirelab/lossmodel"
)

// pcapng is a Writer that writes datagrams on both sides of the relay as a capture, with the fate
// of each datagram in a comment. The capture has two interfaces, "clients" and "server". IP and
// UDP headers are generated from the addresses.
type pcapng struct {
	*captureWriter
	start          time.Time
	listen, server netip.AddrPort
}

// captureWriter writes UDP datagrams in pcapng format, each with a comment, on several interfaces. IP and UDP headers are
// generated from the addresses.
type captureWriter struct {
	out     *pcapgo.NgWriter
	packet  gopacket.SerializeBuffer
	comment [1]string
}

// NewCapture returns a captureWriter with at least one interface, and writes the header of the file. Interfaces are
// numbered from 0 in the order of their names.
func NewCapture(w io.Writer, interfaces ...string) (*captureWriter, error) {
	side := func(name string) pcapgo.NgInterface {
		return pcapgo.NgInterface{Name: name, LinkType: layers.LinkTypeRaw, TimestampResolution: 9} // timestamps have a resolution of 10^-9 s
	}
	section := pcapgo.NgSectionInfo{Application: "wirelab"}
	out, err := pcapgo.NewNgWriterInterface(w, side(interfaces[0]), pcapgo.NgWriterOptions{SectionInfo: section})
	if err != nil {
		return nil, err
	}
	for _, name := range interfaces[1:] {
		if _, err := out.AddInterface(side(name)); err != nil {
			return nil, err
		}
	}
	return &captureWriter{out: out, packet: gopacket.NewSerializeBuffer()}, nil
}

// Datagram is one entry of a captureWriter.
type Datagram struct {
	At        time.Time
	Interface int
	From, To  netip.AddrPort
	Payload   []byte
	// HeadersOnly leaves out the payload, of which only the length is known. Readers of the capture show the
	// datagram as cut off after the headers.
	HeadersOnly bool
	Comment     string
}

// Write adds a datagram.
func (c *captureWriter) Write(d *Datagram) error {
	if err := c.headers(d.From, d.To, d.Payload); err != nil {
		return err
	}
	data := c.packet.Bytes()
	length := len(data)
	if d.HeadersOnly {
		data = data[:length-len(d.Payload)]
	}
	info := gopacket.CaptureInfo{Timestamp: d.At, CaptureLength: len(data), Length: length, InterfaceIndex: d.Interface}
	c.comment[0] = d.Comment
	return c.out.WritePacketWithOptions(info, data, pcapgo.NgPacketOptions{Comments: c.comment[:]})
}

// Numbers of the two interfaces of a capture: the side of the clients and that of the server.
const (
	clientSide = iota
	serverSide
)

// NewPcapng returns a pcapng for the datagrams of r and writes its header.
func NewPcapng(w io.Writer, r *Relay) (*pcapng, error) {
	capture, err := NewCapture(w, "clients", "server")
	if err != nil {
		return nil, err
	}
	return &pcapng{captureWriter: capture, start: r.start, listen: r.Addr(), server: r.options.Server}, nil
}

// Write adds the datagram of an event, as the relay received it or as it sent it; the interface is
// the side on which that happened. Events about datagrams that were lost or not sent are ignored.
func (p *pcapng) Write(e *Event) error {
	var from, to netip.AddrPort
	side := clientSide
	switch isReceived := e.Kind == Entered || e.Kind == overLimit; {
	case !isReceived && e.Kind != Left:
		return nil // the datagram is not on the wire; the comment of its Entered event contains the outcome
	case isReceived == (e.Way == Up): // the datagram was received from a client, or sent to one
		from, to = e.Client.Addr, p.listen
	default: // the datagram was sent to the server, or received from it
		from, to, side = e.Client.ServerSideAddr, p.server, serverSide
	}
	if e.Way == Down { // the cases above set from and to for the direction up
		from, to = to, from
	}
	return p.captureWriter.Write(&Datagram{At: p.start.Add(e.At), Interface: side, From: from, To: to, Payload: e.Data, Comment: describeEvent(e)})
}

// headers stores a payload with generated IP and UDP headers in c.packet.
func (c *captureWriter) headers(from, to netip.AddrPort, payload []byte) error {
	src, dst := sameFamily(from.Addr(), to.Addr())
	udp := &layers.UDP{SrcPort: layers.UDPPort(from.Port()), DstPort: layers.UDPPort(to.Port())}
	var ip interface {
		gopacket.NetworkLayer
		gopacket.SerializableLayer
	}
	if src.Is4() {
		ip = &layers.IPv4{Version: 4, TTL: defaultTTL, Protocol: layers.IPProtocolUDP, SrcIP: src.AsSlice(), DstIP: dst.AsSlice()}
	} else {
		ip = &layers.IPv6{Version: 6, HopLimit: defaultTTL, NextHeader: layers.IPProtocolUDP, SrcIP: src.AsSlice(), DstIP: dst.AsSlice()}
	}
	if err := udp.SetNetworkLayerForChecksum(ip); err != nil {
		return err
	}
	return gopacket.SerializeLayers(c.packet, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, ip, udp,
		gopacket.Payload(payload))
}

// defaultTTL is the time to live in generated headers, the usual default of systems.
const defaultTTL = 64

// sameFamily returns two addresses of the same family, as a packet needs them. If the families
// differ, one is an unspecified listening address and is replaced by 0.0.0.0.
func sameFamily(a, b netip.Addr) (netip.Addr, netip.Addr) {
	a, b = a.Unmap().WithZone(""), b.Unmap().WithZone("")
	if a.Is4() != b.Is4() {
		if a.Is4() {
			b = netip.IPv4Unspecified()
		} else {
			a = netip.IPv4Unspecified()
		}
	}
	return a, b
}

// Flush writes buffered data.
func (c *captureWriter) Flush() error { return c.out.Flush() }

// describeEvent returns the comment of a packet in the capture: which datagram it is and, for a
// received one, what each stage did; for a sent one, its delay and how late it was.
func describeEvent(e *Event) string {
	name := fmt.Sprintf("%s %d of client %d", e.Way, e.Seq, e.Client.Number)
	if e.Copy > 0 {
		name += fmt.Sprintf(", copy %d", e.Copy)
	}
	var words []string
	switch e.Kind {
	case Entered:
		if e.Trail != nil {
			for _, s := range e.Trail.All() {
				words = append(words, stepWords(&s)...)
			}
		}
		if e.Lost == lossmodel.None {
			words = append(words, "leaves after "+shortTime(e.Due-e.Sent))
		}
	case overLimit:
		words = []string{"lost by queue: memory limit reached"}
	case Left:
		words = []string{"received " + shortTime(e.At-e.Sent) + " ago", "late by " + shortTime(e.At-e.Due)}
		if e.Flipped > 0 {
			words = append(words, fmt.Sprintf("%d bits flipped", e.Flipped))
		}
	}
	return name + ": " + strings.Join(words, "; ")
}

// stepWords describes what a stage did as a list of phrases; nil if it had no effect.
func stepWords(s *lossmodel.Step) (words []string) {
	if s.QueueAhead.Packets > 0 {
		words = append(words, fmt.Sprintf("%d datagrams, %d bytes ahead in the queue", s.QueueAhead.Packets, s.QueueAhead.Bytes))
	}
	if s.Lost != lossmodel.None {
		words = append(words, "lost by "+s.Lost.String())
	}
	if s.Copies > 0 {
		words = append(words, fmt.Sprintf("copied %d times", s.Copies))
	}
	if s.Flipped > 0 {
		words = append(words, fmt.Sprintf("%d bits flipped", s.Flipped))
	}
	if s.Delay != 0 {
		words = append(words, fmt.Sprintf("%s adds %s", s.Stage, shortTime(s.Delay)))
	}
	return words
}

// shortTime formats a duration in milliseconds with three decimals.
func shortTime(d time.Duration) string { return fmt.Sprintf("%.3f ms", float64(d)/1e6) }
