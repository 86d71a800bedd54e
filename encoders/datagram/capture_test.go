package datagram

import (
	"encoding/binary"
	"io"
	"os"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// readCapture returns the UDP payloads of one direction of a capture in shared/data/games, which is in the
// classic pcap format with Ethernet and IPv4. port is the server's. It skips the test if the file is
// missing.
func readCapture(t testing.TB, name string, port uint16, down bool) (out [][]byte) {
	t.Helper()
	f, err := os.Open("../../../shared/data/games/" + name + ".pcap.zst")
	if err != nil {
		t.Skipf("no captures of games: %v", err)
	}
	defer f.Close()
	r, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	for b = b[24:]; len(b) >= 16; {
		n := int(binary.LittleEndian.Uint32(b[8:]))
		p := b[16 : 16+n]
		b = b[16+n:]
		udp := p[14+int(p[14]&15)*4:]
		from := binary.BigEndian.Uint16(udp)
		if payload := udp[8:binary.BigEndian.Uint16(udp[4:])]; (from == port) == down {
			out = append(out, payload)
		}
	}
	return out
}
