package packets

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// Bounds on what a file can make its reader do between two packets. The library trusts
// lengths as far as bytes follow, and a few compressed bytes can unpack to gigabytes.
const (
	mostBetween    = 2 << 20 // bytes
	mostInterfaces = 1 << 12
	mostNames      = 1 << 16
	mostPackets    = 1 << 26
)

// Times that are taken for times of packets: 1970 to 2242, so that nanoseconds fit.
const latestSecond = 1 << 33

// container yields the packets of a file, whichever of the two formats it has.
type container struct {
	classic *pcapgo.Reader
	ng      *pcapgo.NgReader
	in      meter
	last    int64 // time of the last packet, in nanoseconds since 1970
}

// meter ends an input that yields too much between two packets.
type meter struct {
	io.Reader
	left int
	cut  bool // the compressed bytes break off
}

var errTooMuch = errors.New("too much between two packets")

func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, errTooMuch
	}
	n, err := m.Reader.Read(p[:min(len(p), m.left)])
	m.left -= n
	m.cut = m.cut || errors.Is(err, errCut)
	return n, err
}

// magics begin a pcap, in any byte order and resolution; ngMagic begins a section of a pcapng.
var (
	magics = [][]byte{
		{0xd4, 0xc3, 0xb2, 0xa1}, {0xa1, 0xb2, 0xc3, 0xd4}, {0x4d, 0x3c, 0xb2, 0xa1}, {0xa1, 0xb2, 0x3c, 0x4d},
	}
	ngMagic = []byte{0x0a, 0x0d, 0x0d, 0x0a}
)

// newContainer looks at the first bytes of in.
func newContainer(in io.Reader) (*container, error) {
	c := &container{}
	buffered := bufio.NewReaderSize(in, 1<<16)
	c.in = meter{Reader: buffered, left: mostBetween}
	head, err := buffered.Peek(4)
	switch {
	case bytes.Equal(head, ngMagic):
		c.ng, err = pcapgo.NewNgReader(&c.in, pcapgo.NgReaderOptions{WantMixedLinkType: true, SkipUnknownVersion: true})
	case slices.ContainsFunc(magics, func(m []byte) bool { return bytes.Equal(head, m) }):
		c.classic, err = pcapgo.NewReader(&c.in)
	case err == nil || err == io.EOF:
		return nil, fmt.Errorf("%w: it begins with % x", ErrFormat, head)
	}
	return c, c.explain(err)
}

// packet is one as it was captured.
type packet struct {
	link layers.LinkType
	at   int64  // nanoseconds since 1970
	data []byte // valid until the next
	cut  bool   // not all of it was captured
}

// next returns the next packet; io.EOF at the end, errCut where the file breaks off.
func (c *container) next() (packet, error) {
	c.in.left = mostBetween
	var p packet
	var info gopacket.CaptureInfo
	var err error
	if c.ng != nil {
		p.data, info, err = c.ng.ZeroCopyReadPacketData()
		if err == nil {
			p.link, _ = info.AncillaryData[0].(layers.LinkType)
			if c.ng.NInterfaces() > mostInterfaces || c.ng.NNames() > mostNames {
				err = errTooMuch
			}
		}
	} else {
		p.data, info, err = c.classic.ZeroCopyReadPacketData()
		p.link = c.classic.LinkType()
		if err == io.EOF && info.CaptureLength > 0 {
			err = io.ErrUnexpectedEOF // right behind the head of a packet
		}
	}
	if err != nil {
		return p, c.explain(err)
	}
	p.cut = info.CaptureLength < info.Length
	p.at = c.time(info.Timestamp)
	return p, nil
}

// time is t since 1970; of packets without a time, or with one that cannot be, that of
// the packet before.
func (c *container) time(t time.Time) int64 {
	if s := t.Unix(); s >= 0 && s < latestSecond {
		c.last = t.UnixNano()
	}
	return c.last
}

// explain tells the end of a file from a cut, and both from damage.
func (c *container) explain(err error) error {
	switch {
	case err == nil, err == io.EOF:
		return err
	case errors.Is(err, errTooMuch) || c.in.left <= 0:
		return fmt.Errorf("%w: there are %d MB or thousands of interfaces or names between two packets", ErrFormat, mostBetween>>20)
	case errors.Is(err, io.ErrUnexpectedEOF), c.in.cut: // the library does not always wrap errors
		return errCut
	case errors.Is(err, ErrFormat):
		return err
	}
	return fmt.Errorf("%w: %w", ErrFormat, err)
}
