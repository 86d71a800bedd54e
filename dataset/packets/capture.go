package packets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"wirelab/dataset/source"
	"wirelab/internal/unpack"
	"wirelab/internal/words"
)

// maxMemory bounds what is kept of a capture, which is held in memory. What comes after
// that is left out, and a remark reports it.
const maxMemory = 256 << 20

// overhead is the memory of a datagram without its bytes.
const overhead = 128

// datagram is one datagram of a capture.
type datagram struct {
	At       int64 // nanoseconds since 1970, by the clock of the machine that captured it
	From, To netip.AddrPort
	Payload  []byte
}

// Capture is what a file holds.
type Capture struct {
	source.Notes
	File        string
	Datagrams   []datagram // in the order of the file
	Packets     int        // of any kind
	First, Last int64      // when the first and the last packet of any kind was captured
	Port        uint16     // of the server: as it was chosen, or guessed
	Down        bool       // which way was chosen
	chosen      []datagram
}

// expected describes the files that are read.
const expected = "a capture, pcap or pcapng"

// readFile reads the datagrams of a file: pcap or pcapng, which may be compressed with zstd
// or gzip. The end of ctx ends the wait for the writer of a pipe.
func readFile(ctx context.Context, path string) (*Capture, error) {
	file, err := source.OpenFile(ctx, path, expected, ErrFormat)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return read(file, path, maxMemory)
}

// read reads a capture from in.
func read(in io.Reader, path string, memory int) (*Capture, error) {
	c := &Capture{File: path}
	unpacked, err := unpack.New(in, path, unpack.Errors{Format: ErrFormat, Truncated: errCut})
	if err == nil {
		defer unpacked.Close()
		err = c.readAll(unpacked, memory)
	}
	_, located := errors.AsType[*source.Error](err)
	switch {
	case located:
		return nil, err
	case errors.Is(err, errCut): // within the first bytes
		c.Remark("the file breaks off after %d packets", c.Packets)
	case err != nil:
		return nil, &source.Error{File: path, Problem: err.Error(), Expected: expected + ", plain, .zst or .gz", Kind: err}
	}
	if len(c.Datagrams) == 0 {
		problem := "holds no whole UDP datagram among its " + words.Count(c.Packets, "packet")
		for _, r := range c.Remarks() {
			problem += "; " + r
		}
		return nil, &source.Error{File: path, Problem: problem, Expected: "at least one", Kind: ErrNothing}
	}
	return c, nil
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
		p, err = packets.next()
		if err != nil {
			break
		}
		if c.Packets == 0 {
			c.First, c.Last = p.at, p.at
		}
		c.Packets++
		c.First, c.Last = min(c.First, p.at), max(c.Last, p.at)
		if got, ok := d.datagram(&p); ok && !keep.add(c, &got) || c.Packets == mostPackets {
			c.Remark("it is read up to packet %d: it holds more than %d MB, or than %d packets", c.Packets, memory>>20, mostPackets)
			err = io.EOF
		}
	}
	if left := d.fragments.dropped + len(d.fragments.waiting); left > 0 {
		c.Remark("%s left out: pieces are missing", words.Count(left, "datagram"))
	}
	if d.short > 0 {
		c.Remark("%s left out: only a part was captured", words.Count(d.short, "datagram"))
	}
	if d.unknown > 0 {
		c.Remark("%s left out: of link type %d; expected Ethernet, loopback, raw IP or Linux cooked", words.Count(d.unknown, "packet"), int(d.link))
	}
	switch {
	case err == io.EOF:
		return nil
	case errors.Is(err, errCut):
		c.Remark("the file breaks off after packet %d", c.Packets)
		return nil
	}
	return &source.Error{File: c.File, Place: fmt.Sprintf("packet %d", c.Packets+1), Problem: err.Error(),
		Expected: "a packet, or the end of the file", Kind: err}
}

// store keeps datagrams, up to a number of bytes.
type store struct {
	left  int // bytes
	block []byte
}

// blockBytes is how much memory is taken at a time.
const blockBytes = 1 << 18

// add keeps a copy of a datagram; false if there is no room for it.
func (s *store) add(c *Capture, d *datagram) bool {
	s.left -= len(d.Payload) + overhead
	if s.left < 0 {
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
