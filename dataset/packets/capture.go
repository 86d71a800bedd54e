package packets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"wirelab/dataset/source"
	"wirelab/internal/unpack"
	"wirelab/internal/words"
)

// maxMemory is how many bytes of datagrams of a capture are stored. Datagrams beyond it are left
// out, and a remark reports that.
const maxMemory = 256 << 20

// overhead is the memory in bytes of a datagram without its payload.
const overhead = 128

// datagram is one datagram of a capture.
type datagram struct {
	At       int64 // time of capture in nanoseconds since 1970, by the clock of the machine that captured it
	From, To netip.AddrPort
	Payload  []byte
	Partial  bool // it was captured only in part, and has no payload
}

// Capture holds the UDP datagrams of a file, and those among them that a Choice selected.
type Capture struct {
	source.Notes
	File        string
	Datagrams   []datagram // all complete datagrams, in the order of the file
	Packets     int        // number of packets of any protocol
	First, Last int64      // earliest and latest time of all packets, in nanoseconds since 1970
	Port        uint16     // port of the server: as chosen, or guessed
	Down        bool       // the chosen direction is from the server
	chosen      []datagram
	partial     []datagram // datagrams that were captured only in part
}

// expectedFile describes the files that can be read, for error messages.
const expectedFile = "a capture, pcap or pcapng"

// readFile reads the datagrams of a capture, plain or compressed with zstd or gzip. If path is a
// pipe, the end of ctx ends the wait for its writer.
func readFile(ctx context.Context, path string) (*Capture, error) {
	file, err := source.OpenFile(ctx, path, expectedFile, ErrFormat)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return read(file, path, maxMemory)
}

// read reads a capture from in and stores up to memory bytes of it. path is for errors. A capture
// without UDP datagrams is an error.
func read(in io.Reader, path string, memory int) (*Capture, error) {
	c := &Capture{File: path}
	unpacked, err := unpack.New(in, path, unpack.Errors{Format: ErrFormat, Truncated: errTruncated})
	if err == nil {
		defer unpacked.Close()
		err = c.readAll(unpacked, memory)
	}
	_, located := errors.AsType[*source.Error](err)
	switch {
	case located:
		return nil, err
	case errors.Is(err, errTruncated): // the file ends within its headers
		c.Remark("the file ends early, after %d packets", c.Packets)
	case err != nil:
		return nil, &source.Error{File: path, Problem: err.Error(),
			Expected: "a capture, pcap or pcapng, plain, .zst or .gz", Kind: err}
	}
	if len(c.Datagrams) == 0 {
		problem := fmt.Sprintf("contains no complete UDP datagram in %s", words.Count(c.Packets, "packet"))
		return nil, &source.Error{File: path, Problem: c.withRemarks(problem), Kind: ErrNoDatagrams,
			Expected: "at least one, on Ethernet, PPPoE, GRE, IP in IP, loopback, raw IP or Linux cooked"}
	}
	return c, nil
}

// withRemarks adds the remarks to the text of an error, because datagrams may be missing due to what was left out.
func (c *Capture) withRemarks(problem string) string {
	return strings.Join(append([]string{problem}, c.Remarks()...), "; ")
}

// readAll reads the packets of in and adds their datagrams to c, with remarks on what was left out.
func (c *Capture) readAll(in io.Reader, memory int) error {
	packets, err := newContainer(in)
	if err != nil {
		return err
	}
	var d decoder
	stored := store{left: memory}
	for err == nil {
		var p packet
		p, err = packets.next()
		if err != nil {
			break
		}
		if c.Packets == 0 {
			c.First, c.Last = p.time, p.time
		}
		c.Packets++
		c.First, c.Last = min(c.First, p.time), max(c.Last, p.time)
		if dgram, ok := d.decode(&p); ok && !stored.add(c, &dgram) || c.Packets == maxPackets {
			c.Remark("read up to packet %d: the capture has more than %d MB of datagrams or more than %d packets", c.Packets, memory>>20, maxPackets)
			err = io.EOF
		}
	}
	if left := d.fragments.dropped + len(d.fragments.waiting); left > 0 {
		c.Remark("%s left out: fragments are missing", words.Count(left, "datagram"))
	}
	if d.incomplete > 0 {
		c.Remark("%s left out: captured only in part; %s", words.Count(d.incomplete, "datagram"), captureWhole)
	}
	if text := d.describeIgnored(); text != "" {
		c.Remark("%s", text)
	}
	switch {
	case err == io.EOF:
		return nil
	case errors.Is(err, errTruncated):
		c.Remark("the file ends early, after packet %d", c.Packets)
		return nil
	}
	return &source.Error{File: c.File, Place: fmt.Sprintf("packet %d", c.Packets+1), Problem: err.Error(),
		Expected: "a packet, or the end of the file", Kind: err}
}

// captureWhole is the advice for packets that were captured only in part.
const captureWhole = "tcpdump -s 0 captures whole packets"

// store copies payloads into large blocks of memory, up to a total number of bytes.
type store struct {
	left  int    // bytes that may still be stored
	block []byte // the block that is being filled
}

// blockBytes is the size of a block.
const blockBytes = 1 << 18

// add appends d to c.Datagrams with a copy of its payload, or to c.partial. It returns false if the limit is reached.
func (s *store) add(c *Capture, d *datagram) bool {
	s.left -= len(d.Payload) + overhead
	if s.left < 0 {
		return false
	}
	if d.Partial {
		c.partial = append(c.partial, *d)
		return true
	}
	if cap(s.block)-len(s.block) < len(d.Payload) {
		s.block = make([]byte, 0, max(blockBytes, len(d.Payload)))
	}
	start := len(s.block)
	s.block = append(s.block, d.Payload...)
	d.Payload = s.block[start:len(s.block):len(s.block)]
	c.Datagrams = append(c.Datagrams, *d)
	return true
}
