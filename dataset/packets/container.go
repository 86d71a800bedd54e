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

	"wirelab/internal/filetype"
)

// Limits on the work that a file can cause. The library reads blocks of any length that the file
// claims, and a few compressed bytes can unpack to gigabytes.
const (
	maxBytesBetween = 2 << 20 // bytes that may be read from one packet to the next
	maxInterfaces   = 1 << 12
	maxNames        = 1 << 16 // names in the name resolution blocks of a pcapng
	maxPackets      = 1 << 26
)

// maxUnixSecond bounds plausible times of packets, in seconds since 1970: the year 2242. Nanoseconds
// up to there fit an int64.
const maxUnixSecond = 1 << 33

// container reads the packets of a capture file, which is a pcap or a pcapng.
type container struct {
	classic  *pcapgo.Reader   // nil if the file is a pcapng
	ng       *pcapgo.NgReader // nil if the file is a pcap
	in       readLimiter
	lastTime int64 // time of the last packet, in nanoseconds since 1970
}

// readLimiter limits how many bytes the library reads from one packet to the next.
type readLimiter struct {
	io.Reader
	left      int  // bytes that may be read; reset before each packet
	truncated bool // the compressed file is truncated
}

var errTooMuch = errors.New("too much data between two packets")

// Read implements io.Reader. It fails with errTooMuch at the limit, and records in m.truncated whether the
// file is truncated.
func (m *readLimiter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, errTooMuch
	}
	n, err := m.Reader.Read(p[:min(len(p), m.left)])
	m.left -= n
	m.truncated = m.truncated || errors.Is(err, errTruncated)
	return n, err
}

// magics are the first four bytes of a pcap, for both byte orders and for micro- and nanoseconds;
// ngMagic is the type of a pcapng section header block.
var (
	magics = [][]byte{
		{0xd4, 0xc3, 0xb2, 0xa1}, {0xa1, 0xb2, 0xc3, 0xd4}, {0x4d, 0x3c, 0xb2, 0xa1}, {0xa1, 0xb2, 0x3c, 0x4d},
	}
	ngMagic = []byte{0x0a, 0x0d, 0x0d, 0x0a}
)

// IsCapture reports whether head, the first bytes of a file, begins a capture.
func IsCapture(head []byte) bool {
	isMagic := func(m []byte) bool { return bytes.HasPrefix(head, m) }
	return isMagic(ngMagic) || slices.ContainsFunc(magics, isMagic)
}

// newContainer returns a reader for the format that the first bytes of in indicate.
func newContainer(in io.Reader) (*container, error) {
	c := &container{}
	buffered := bufio.NewReaderSize(in, 1<<16)
	c.in = readLimiter{Reader: buffered, left: maxBytesBetween}
	head, err := buffered.Peek(8)
	switch {
	case bytes.HasPrefix(head, ngMagic):
		c.ng, err = pcapgo.NewNgReader(&c.in, pcapgo.NgReaderOptions{WantMixedLinkType: true, SkipUnknownVersion: true})
	case IsCapture(head):
		c.classic, err = pcapgo.NewReader(&c.in)
	case err == nil || err == io.EOF:
		return nil, fmt.Errorf("%w: %s", ErrFormat, filetype.Describe(head))
	}
	return c, c.mapError(err)
}

// packet is a captured packet.
type packet struct {
	link      layers.LinkType
	time      int64  // time of capture in nanoseconds since 1970
	data      []byte // bytes of the packet from the link layer on; valid until the next packet is read
	truncated bool   // the capture does not contain all bytes of the packet
}

// next returns the next packet. At the end of the file it returns io.EOF, or errTruncated if the
// file is truncated.
func (c *container) next() (packet, error) {
	c.in.left = maxBytesBetween
	var p packet
	var info gopacket.CaptureInfo
	var err error
	if c.ng != nil {
		p.data, info, err = c.ng.ZeroCopyReadPacketData()
		if err == nil {
			p.link, _ = info.AncillaryData[0].(layers.LinkType) // the link type of the interface that captured the packet
			if c.ng.NInterfaces() > maxInterfaces || c.ng.NNames() > maxNames {
				err = errTooMuch
			}
		}
	} else {
		p.data, info, err = c.classic.ZeroCopyReadPacketData()
		p.link = c.classic.LinkType()
		if err == io.EOF && info.CaptureLength > 0 {
			err = io.ErrUnexpectedEOF // the file ends right after the header of a packet
		}
	}
	if err != nil {
		return p, c.mapError(err)
	}
	p.truncated = info.CaptureLength < info.Length
	p.time = c.packetTime(info.Timestamp)
	return p, nil
}

// packetTime returns t in nanoseconds since 1970. If t is missing or implausible, it returns the
// time of the packet before.
func (c *container) packetTime(t time.Time) int64 {
	if s := t.Unix(); s >= 0 && s < maxUnixSecond {
		c.lastTime = t.UnixNano()
	}
	return c.lastTime
}

// mapError maps an error of the library to nil, io.EOF at the proper end of the file, errTruncated if
// the file is truncated, or an ErrFormat with the reason.
func (c *container) mapError(err error) error {
	switch {
	case err == nil, err == io.EOF:
		return err
	case errors.Is(err, errTooMuch) || c.in.left <= 0:
		return fmt.Errorf("%w: more than %d MB between two packets, %d interfaces or %d names", ErrFormat, maxBytesBetween>>20, maxInterfaces, maxNames)
	case errors.Is(err, io.ErrUnexpectedEOF), c.in.truncated: // the library does not always wrap errors
		return errTruncated
	case errors.Is(err, ErrFormat):
		return err
	}
	return fmt.Errorf("%w: %w", ErrFormat, err)
}
