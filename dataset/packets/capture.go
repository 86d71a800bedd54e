package packets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"wirelab/dataset/source"
	"wirelab/internal/unpack"
	"wirelab/internal/words"
)

// MaxMemory bounds what is kept of a capture, which is held in memory. What comes after
// that is left out, and a remark says so.
const MaxMemory = 256 << 20

// overhead is what a datagram takes besides its bytes.
const overhead = 128

// Datagram is one of a capture.
type Datagram struct {
	At       int64 // nanoseconds since 1970, by the clock of the machine that captured it
	From, To netip.AddrPort
	Payload  []byte
}

// Time returns when it was captured.
func (d *Datagram) Time() time.Time { return time.Unix(0, d.At).UTC() }

// Capture is what a file holds.
type Capture struct {
	File        string
	Datagrams   []Datagram // in the order of the file
	Packets     int        // of any kind
	First, Last int64      // when the first and the last packet of any kind was captured
	Port        uint16     // of the server: as it was chosen, or guessed
	Down        bool       // which way was chosen

	remarks []string
	chosen  []Datagram
}

// Remarks says what a person should know of how the file was read.
func (c *Capture) Remarks() []string { return c.remarks }

func (c *Capture) remark(format string, args ...any) {
	c.remarks = append(c.remarks, fmt.Sprintf(format, args...))
}

// Read reads the datagrams of a file: pcap or pcapng, which may be compressed with zstd
// or gzip. ctx ends the wait for whoever writes into a pipe; nil: nothing does.
func Read(ctx context.Context, path string) (*Capture, error) {
	file, err := source.OpenFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, &Error{File: path, Problem: "is a folder", Expected: "a capture, pcap or pcapng", Kind: ErrFormat}
	}
	return read(file, path, MaxMemory)
}

// read reads a capture from in.
func read(in io.Reader, path string, memory int) (*Capture, error) {
	c := &Capture{File: path}
	unpacked, err := unpack.New(in, path, unpackErrors)
	if err == nil {
		defer unpacked.Close()
		err = c.readAll(unpacked, memory)
	}
	var own *Error
	switch {
	case err == nil, errors.As(err, &own):
	case errors.Is(err, errCut): // within the first bytes
		err = nil
		c.remark("the file breaks off after %d packets", c.Packets)
	default:
		err = &Error{File: path, Problem: err.Error(), Expected: "a capture, pcap or pcapng, plain, .zst or .gz", Kind: err}
	}
	if err != nil {
		return nil, err
	}
	if len(c.Datagrams) == 0 {
		return nil, &Error{File: path, Problem: fmt.Sprintf("holds no whole UDP datagram among its %s%s", words.Count(c.Packets, "packet"), c.why()),
			Expected: "at least one", Kind: ErrNothing}
	}
	return c, nil
}

// why repeats the remarks, for errors.
func (c *Capture) why() string {
	text := ""
	for _, r := range c.remarks {
		text += "; " + r
	}
	return text
}

func (c *Capture) readAll(in io.Reader, memory int) error {
	packets, err := newContainer(in)
	if err != nil {
		return err
	}
	var d decoder
	keep := store{left: memory}
	for err == nil {
		var p packet
		if p, err = packets.next(); err != nil {
			break
		}
		if c.Packets++; c.Packets == 1 {
			c.First, c.Last = p.at, p.at
		}
		c.First, c.Last = min(c.First, p.at), max(c.Last, p.at)
		if got, ok := d.datagram(&p); ok && !keep.add(c, &got) || c.Packets == mostPackets {
			c.remark("it is read up to packet %d: it holds more than %d MB, or than %d packets", c.Packets, memory>>20, mostPackets)
			err = io.EOF
		}
	}
	if left := d.fragments.dropped + len(d.fragments.waiting); left > 0 {
		c.remark("%s left out: pieces are missing", words.Count(left, "datagram"))
	}
	if d.short > 0 {
		c.remark("%s left out: only a part was captured", words.Count(d.short, "datagram"))
	}
	if d.unknown > 0 {
		c.remark("%s left out: of link type %d; expected Ethernet, loopback, raw IP or Linux cooked", words.Count(d.unknown, "packet"), int(d.link))
	}
	switch {
	case err == io.EOF:
		return nil
	case errors.Is(err, errCut):
		c.remark("the file breaks off after packet %d", c.Packets)
		return nil
	}
	return &Error{File: c.File, Packet: c.Packets + 1, Problem: err.Error(), Expected: "a packet, or the end of the file", Kind: err}
}

// store keeps datagrams, up to so many bytes.
type store struct {
	left  int
	block []byte
}

// blockBytes is how much memory is taken at a time.
const blockBytes = 1 << 18

// add keeps a copy of a datagram; false if there is no room for it.
func (s *store) add(c *Capture, d *Datagram) bool {
	if s.left -= len(d.Payload) + overhead; s.left < 0 {
		return false
	}
	if cap(s.block)-len(s.block) < len(d.Payload) {
		s.block = make([]byte, 0, max(blockBytes, len(d.Payload)))
	}
	at := len(s.block)
	s.block = append(s.block, d.Payload...)
	d.Payload = s.block[at:len(s.block):len(s.block)]
	c.Datagrams = append(c.Datagrams, *d)
	return true
}
