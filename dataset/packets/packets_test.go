package packets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket/layers"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
)

func pattern(n, salt int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8 + salt)
	}
	return b
}

// Datagrams on every link type, over IPv4 and IPv6, in pcap and pcapng are read back with their times
// and addresses.
func TestEveryLink(t *testing.T) {
	links := []layers.LinkType{layers.LinkTypeEthernet, layers.LinkTypeLinuxSLL, layers.LinkTypeLinuxSLL2, layers.LinkTypeNull,
		layers.LinkTypeLoop, layers.LinkTypeRaw, rawOnOthers, rawOnOpenBSD}
	var all []raw
	var want []datagram
	for i, link := range links {
		var list []raw
		for j, ends := range [][2]netip.Addr{{client4, server4}, {server6, client6}} {
			from, to := netip.AddrPortFrom(ends[0], uint16(1000+j)), netip.AddrPortFrom(ends[1], 2000)
			payload := pattern(30+i, j)
			list = append(list, raw{link: link, at: time.Duration(2*i+j) * time.Millisecond, data: wrap(link, ip(t, from, to, payload))})
			want = append(want, datagram{At: begin.Add(time.Duration(2*i+j) * time.Millisecond).UnixNano(), From: from, To: to, Payload: payload})
		}
		all = append(all, list...)
		for name, file := range map[string][]byte{"pcap": classic(t, list), "pcapng": ng(t, list)} {
			c, err := readBytes(file)
			if err != nil {
				t.Fatalf("%v in %s: %v", link, name, err)
			}
			same(t, fmt.Sprintf("%v in %s", link, name), c.Datagrams, want[2*i:])
		}
	}
	c, err := readBytes(ng(t, all))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "all links in one pcapng", c.Datagrams, want)
}

func same(t *testing.T, what string, got, want []datagram) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b datagram) bool {
		return a.At == b.At && a.From == b.From && a.To == b.To && bytes.Equal(a.Payload, b.Payload)
	}) {
		t.Errorf("%s: %d datagrams, want %d: %v", what, len(got), len(want), got)
	}
}

// Tags, options, extension headers and padding are skipped; packets without a datagram are ignored.
func TestHeadersBeforeUDP(t *testing.T) {
	from4, to4 := netip.AddrPortFrom(client4, 1), netip.AddrPortFrom(server4, 2)
	from6, to6 := netip.AddrPortFrom(client6, 1), netip.AddrPortFrom(server6, 2)
	ether := func(p []byte) []byte { return wrap(layers.LinkTypeEthernet, p) }
	v4, v6 := ip(t, from4, to4, pattern(9, 1)), ip(t, from6, to6, pattern(9, 2))
	tcp := bytes.Clone(v4)
	tcp[9] = 6
	options := append(append(bytes.Clone(v4[:20]), 1, 1, 1, 0), v4[20:]...)
	options[0], options[3] = 0x46, options[3]+4
	unsummed := bytes.Clone(v4)
	unsummed[26], unsummed[27] = 0xab, 0xcd // a checksum that the network card was to fill in
	for name, c := range map[string]struct {
		data []byte
		want int
	}{
		"plain": {ether(v4), 1}, "vlan": {tagged(ether(v4), 0x8100), 1}, "two vlans": {tagged(ether(v6), 0x88a8, 0x8100), 1},
		"padding": {append(ether(v4), make([]byte, 20)...), 1}, "options": {ether(options), 1},
		"a checksum that is wrong": {ether(unsummed), 1},
		"hop-by-hop":               {ether(extended(v6, 0)), 1}, "all headers": {ether(extended(v6, 0, 60, 43, 60)), 1},
		"an atomic fragment": {ether(pieces6(v6, 1000, 5)[0]), 1},
		"tcp":                {ether(tcp), 0}, "arp": {append(make([]byte, 12), 8, 6, 0, 1, 8, 0), 0},
		"esp": {ether(extended(v6, 50)), 0}, "nothing": {nil, 0}, "cut in the ip head": {ether(v4[:18]), 0},
		"cut in the udp head": {ether(v4[:24]), 0}, "a length of 3": {ether(append(append(bytes.Clone(v4[:24]), 0, 3), v4[26:]...)), 0},
		"pppoe": {pppoe(v4), 1}, "pppoe with ipv6": {pppoe(v6), 1}, "pppoe in a vlan": {tagged(pppoe(v4), 0x8100), 1},
		"6in4": {ether(tunnel(t, 41, v6)), 1}, "ip in ip": {ether(tunnel(t, 4, v4)), 1}, "6in4 in pppoe": {pppoe(tunnel(t, 41, v6)), 1},
		"gre":                     {ether(tunnel(t, 47, append([]byte{0, 0, 8, 0}, v4...))), 1},
		"gre with a key":          {ether(tunnel(t, 47, append([]byte{0x20, 0, 0x86, 0xdd, 1, 2, 3, 4}, v6...))), 1},
		"gre with ethernet":       {ether(tunnel(t, 47, append([]byte{0, 0, 0x65, 0x58}, tagged(ether(v4), 0x8100)...))), 1},
		"a tunnel in fragments":   {nil, 1},
		"five tunnels":            {ether(tunnel(t, 4, tunnel(t, 4, tunnel(t, 4, tunnel(t, 4, tunnel(t, 4, v4)))))), 0},
		"gre cut in the head":     {ether(tunnel(t, 47, []byte{0x20, 0, 8})), 0},
		"pppoe without a payload": {pppoe(v4)[:20], 0},
	} {
		list := []raw{{link: layers.LinkTypeEthernet, data: c.data}}
		if name == "a tunnel in fragments" {
			list = nil
			for _, piece := range pieces4(tunnel(t, 41, v6), 16, 3) {
				list = append(list, raw{link: layers.LinkTypeEthernet, data: ether(piece)})
			}
		}
		got, err := readBytes(classic(t, list))
		switch {
		case c.want == 0 && !errors.Is(err, ErrNoDatagrams):
			t.Errorf("%s: %v, want ErrNoDatagrams", name, err)
		case c.want == 1 && (err != nil || !bytes.Equal(got.Datagrams[0].Payload[1:], pattern(9, int(got.Datagrams[0].Payload[0]))[1:])):
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// Fragments are reassembled in any order, duplicated, and mixed with others. Datagrams with missing or
// overlapping fragments are left out, with a remark.
func TestFragments(t *testing.T) {
	big := pattern(3000, 3)
	from4, to4 := netip.AddrPortFrom(client4, 1), netip.AddrPortFrom(server4, 2)
	from6, to6 := netip.AddrPortFrom(client6, 1), netip.AddrPortFrom(server6, 2)
	p4, p6 := ip(t, from4, to4, big), ip(t, from6, to6, big)
	a, b := pieces4(p4, 1480, 7), pieces6(p6, 800, 7)
	other := pieces4(ip(t, from4, to4, pattern(2000, 9)), 1480, 8)
	overlap := pieces4(p4, 1480, 9)
	odd := bytes.Clone(overlap[1])
	odd[7]-- // 8 bytes earlier
	for name, c := range map[string]struct {
		packets   [][]byte
		whole     int
		remaining bool
	}{
		"in order":     {slices.Concat(a, b), 2, false},
		"backwards":    {[][]byte{a[2], b[3], a[1], b[2], b[1], a[0], b[0]}, 2, false},
		"twice":        {[][]byte{a[0], a[0], a[1], a[1], a[2]}, 1, false},
		"mixed":        {[][]byte{a[0], other[1], a[1], other[0], a[2]}, 2, false},
		"one missing":  {[][]byte{a[0], a[2], b[0], b[1], b[2], b[3]}, 1, true},
		"overlapping":  {[][]byte{overlap[0], odd, overlap[2], b[0], b[1], b[2], b[3]}, 1, true},
		"after others": {append(lonely(t, from4, to4, 100), slices.Concat(a, b)...), 2, true},
	} {
		var list []raw
		for i, p := range c.packets {
			list = append(list, raw{link: layers.LinkTypeRaw, at: time.Duration(i) * time.Millisecond, data: p})
		}
		got, err := readBytes(classic(t, list))
		if err != nil || len(got.Datagrams) != c.whole || (len(got.Remarks()) > 0) != c.remaining {
			t.Errorf("%s: %v, error %v, remarks %v; want %d, with remarks %v", name, len(got.Datagrams), err, got.Remarks(), c.whole, c.remaining)
			continue
		}
		for _, d := range got.Datagrams {
			if want := pattern(len(d.Payload), int(d.Payload[0])); !bytes.Equal(d.Payload, want) {
				t.Errorf("%s: %d bytes reassembled wrongly", name, len(want))
			}
		}
	}
	late := []raw{{link: layers.LinkTypeRaw, data: a[0]}, {link: layers.LinkTypeRaw, at: 31 * time.Second, data: a[1]},
		{link: layers.LinkTypeRaw, at: 31 * time.Second, data: a[2]}}
	if _, err := readBytes(classic(t, late)); !errors.Is(err, ErrNoDatagrams) {
		t.Errorf("fragments half a minute apart: %v", err)
	}
}

// lonely returns the first fragment of each of n datagrams.
func lonely(t *testing.T, from, to netip.AddrPort, n int) (list [][]byte) {
	for i := range n {
		list = append(list, pieces4(ip(t, from, to, pattern(3000, i)), 1480, uint16(1000+i))[0])
	}
	return list
}

// match returns 12 packets: a conversation on port 7000, and one on port 53.
func match(t testing.TB) []raw {
	var list []raw
	for i := range 12 {
		a, b := netip.AddrPortFrom(client4, 40001), netip.AddrPortFrom(server4, 7000)
		switch i % 4 {
		case 1, 2:
			a, b = b, a
		case 3:
			a, b = netip.AddrPortFrom(client6, 40002), netip.AddrPortFrom(server6, 53)
		}
		list = append(list, raw{link: layers.LinkTypeEthernet, at: time.Duration(i*i) * time.Millisecond,
			data: wrap(layers.LinkTypeEthernet, ip(t, a, b, pattern(5+i, i)))})
	}
	return list
}

// A capture truncated at any byte is read up to there, with a remark.
func TestTruncatedAnywhere(t *testing.T) {
	packed := func(data []byte) []byte {
		z, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		return z.EncodeAll(data, nil)
	}
	zipped := func(data []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(data)
		w.Close()
		return b.Bytes()
	}
	list := match(t)
	for name, file := range map[string][]byte{"pcap": classic(t, list), "pcapng": ng(t, list),
		"pcap.zst": packed(classic(t, list)), "pcapng.gz": zipped(ng(t, list))} {
		whole, err := readBytes(file)
		if err != nil || len(whole.Datagrams) != len(list) || len(whole.Remarks()) > 0 {
			t.Fatalf("%s: %v, %v", name, whole, err)
		}
		silent, before := 0, 0
		for n := range len(file) {
			c, err := readBytes(file[:n])
			if err != nil {
				if !errors.Is(err, ErrNoDatagrams) && n >= 4 {
					t.Fatalf("%s, %d of %d bytes: %v", name, n, len(file), err)
				}
				continue
			}
			same(t, fmt.Sprintf("%s, %d of %d bytes", name, n, len(file)), c.Datagrams, whole.Datagrams[:len(c.Datagrams)])
			if len(c.Datagrams) < before {
				t.Errorf("%s, %d bytes: fewer datagrams than of fewer bytes", name, n)
			}
			before = len(c.Datagrams)
			if len(c.Remarks()) == 0 {
				silent++ // it ends right after a packet, which cannot be detected
			}
		}
		if silent > len(list) {
			t.Errorf("%s: no remark for %d truncations of a file of %d packets", name, silent, len(list))
		}
	}
}

// Errors are one line with the file, the packet and what was expected.
func TestBadInput(t *testing.T) {
	good := classic(t, match(t))
	bad := bytes.Clone(good)
	at := 24 // the second packet claims a size of 2 GB
	at += 16 + int(bad[at+8])
	copy(bad[at+8:], []byte{0xff, 0xff, 0xff, 0x7f})
	next := ng(t, match(t))
	second := bytes.LastIndex(next[:200], []byte{6, 0, 0, 0}) // of an interface that was never described
	next = bytes.Clone(next)
	next[second+8] = 9
	text := []byte("It was a dark and stormy night.")
	tcp := bytes.Clone(wrap(layers.LinkTypeEthernet, ip(t, netip.AddrPortFrom(client4, 1), netip.AddrPortFrom(server4, 2), nil)))
	tcp[14+9] = 6
	for name, c := range map[string]struct {
		file     []byte
		kind     error
		wantText []string
	}{
		"empty":          {nil, ErrFormat, []string{"a.pcap: ", "the file is empty", "expected a capture, pcap or pcapng"}},
		"text":           {text, ErrFormat, []string{"begins with the bytes 49 74 20 77", "expected a capture"}},
		"damaged":        {bad, ErrFormat, []string{"a.pcap: packet 2: ", "expected a packet"}},
		"damaged pcapng": {next, ErrFormat, []string{"a.pcap: packet 2: ", "expected a packet"}},
		"no datagrams": {classic(t, []raw{{link: layers.LinkTypeEthernet, data: tcp}}), ErrNoDatagrams,
			[]string{"contains no complete UDP datagram in 1 packet", "1 packet without UDP left out: 1 of IP protocol 6 (TCP)", "expected at least one"}},
		"other types": {classic(t, []raw{{link: layers.LinkTypeEthernet, data: append(make([]byte, 12), 0x88, 0x63, 0, 0)},
			{link: layers.LinkTypeEthernet, data: append(make([]byte, 12), 0x88, 0x63, 0, 0)}, {link: layers.LinkTypeEthernet, data: append(make([]byte, 12), 0x12, 0x34, 0, 0)}}),
			ErrNoDatagrams, []string{"3 packets without UDP left out: 2 of Ethernet type 0x8863 (PPPoEDiscovery), 1 of Ethernet type 0x1234 ("}},
		"an unknown link": {classic(t, []raw{{link: layers.LinkTypeIEEE802_11, data: tcp}}), ErrNoDatagrams, []string{"no complete UDP datagram"}},
		"parts of packets": {classic(t, []raw{{link: layers.LinkTypeRaw, data: ip(t, netip.AddrPortFrom(client4, 1),
			netip.AddrPortFrom(server4, 2), pattern(90, 1))[:60], more: 58}}), ErrNoDatagrams, []string{"1 datagram left out: captured only in part"}},
	} {
		_, err := readBytes(c.file)
		if !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %v", name, err, c.kind)
			continue
		}
		for _, words := range c.wantText {
			if !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %q, expected one line with %q", name, err, words)
			}
		}
	}
	if _, err := readFile(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder: %v", err)
	}
}

// A small file that unpacks to gigabytes is read in little memory.
func TestDecompressionBombs(t *testing.T) {
	bomb := func(head, again []byte, total int) []byte {
		var b bytes.Buffer
		z, err := zstd.NewWriter(&b, zstd.WithEncoderLevel(zstd.SpeedFastest))
		if err != nil {
			t.Fatal(err)
		}
		z.Write(head)
		block := bytes.Repeat(again, 1<<20/len(again))
		for n := 0; n < total; n += len(block) {
			z.Write(block)
		}
		z.Close()
		return b.Bytes()
	}
	section := ng(t, match(t))[:28]
	face := []byte{1, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0}
	huge := bytes.Clone(classic(t, match(t))[:40])
	copy(huge[16:], []byte{0xff, 0xff, 0xff, 0x7f})       // snaplen
	copy(huge[32:], []byte{0, 0, 0, 0x40, 0, 0, 0, 0x40}) // a packet of a gigabyte
	one := ip(t, netip.AddrPortFrom(client4, 1), netip.AddrPortFrom(server4, 2), pattern(1000, 1))
	flood := classic(t, []raw{{link: layers.LinkTypeRaw, data: one}})
	for name, c := range map[string]struct {
		file   []byte
		memory int
	}{
		"interfaces": {bomb(section, face, 20<<20), maxMemory}, "a packet": {bomb(huge, make([]byte, 64), 40<<20), maxMemory},
		"datagrams": {bomb(flood[:24], flood[24:], 20<<20), 4 << 20},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		got, err := read(bytes.NewReader(c.file), "a.pcap", c.memory)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 160<<20 {
			t.Errorf("%s: %d bytes of file took %d MB, error %v", name, len(c.file), took>>20, err)
		}
		if name == "datagrams" && (err != nil || len(got.Datagrams) < 3000 || !strings.Contains(fmt.Sprint(got.Remarks()), "read up to packet")) {
			t.Errorf("%s: error %v, remarks %v", name, err, got.Remarks())
		} else if name != "datagrams" && err == nil {
			t.Errorf("%s: read without an error", name)
		}
	}
}

// The error for a direction without complete datagrams names what is missing and why.
func TestChoiceWithoutDatagrams(t *testing.T) {
	server, client := netip.AddrPortFrom(server4, 2000), netip.AddrPortFrom(client4, 1000)
	down, up := ip(t, server, client, pattern(90, 1)), ip(t, client, server, pattern(20, 1))
	tcp := bytes.Clone(up)
	tcp[9] = 6
	for name, c := range map[string]struct {
		first  raw
		choice Choice
		want   string
	}{
		"cut": {raw{data: down[:60], more: len(down) - 60}, Choice{},
			"contains no complete datagrams from port 2000, but 1 that were captured only in part; expected whole packets; tcpdump -s 0"},
		"cut, up":          {raw{data: down[:60], more: len(down) - 60}, Choice{Port: 1000, Up: true}, "no complete datagrams to port 1000, but 1 that"},
		"one direction":    {raw{data: tcp}, Choice{Port: 2000}, "but 1 in the other direction; 1 packet without UDP left out: 1 of IP protocol 6 (TCP); expected dir=up"},
		"another port":     {raw{data: tcp}, Choice{Port: 5}, "no datagrams from or to port 5; 1 packet without UDP left out: 1 of IP protocol 6 (TCP); expected one of"},
		"cut in its ports": {raw{data: down[:24], more: 1}, Choice{}, "but 1 in the other direction; 1 datagram left out: captured only in part;"},
	} {
		c.first.link = layers.LinkTypeRaw
		got, err := readBytes(classic(t, []raw{c.first, {link: layers.LinkTypeRaw, data: up}}))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c.choice.Port == 0 {
			c.choice.Port = 2000
		}
		if err := got.selectDatagrams(c.choice); !errors.Is(err, ErrNoDatagrams) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", name, err, c.want)
		}
	}
}

// The port with the most datagrams is the server's unless one is chosen; ports decide the direction.
func TestChoice(t *testing.T) {
	c, err := readBytes(classic(t, match(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		choice   Choice
		n        int
		remarks  int
		wantText string
	}{
		{Choice{}, 6, 1, "port 7000 is assumed to be the server's: 9 of 12 datagrams"},
		{Choice{Up: true}, 3, 1, "7000"},
		{Choice{Port: 7000}, 6, 0, ""}, {Choice{Port: 53, Up: true}, 3, 0, ""},
		{Choice{Port: 53}, -1, 0, "contains no datagrams from port 53, but 3 in the other direction; expected dir=up"},
		{Choice{Port: 9}, -1, 0, "no datagrams from or to port 9; expected one of its ports, the busiest first: 7000 (9), 40001 (9), 53 (3)"},
	} {
		c.Notes = source.Notes{}
		err := c.selectDatagrams(x.choice)
		switch {
		case x.n < 0 && (!errors.Is(err, ErrNoDatagrams) || !strings.Contains(err.Error(), x.wantText)):
			t.Errorf("%+v: %v, want %q", x.choice, err, x.wantText)
		case x.n > 0 && (err != nil || len(c.Chosen()) != x.n || len(c.Remarks()) != x.remarks || !strings.Contains(fmt.Sprint(c.Remarks()), x.wantText)):
			t.Errorf("%+v: %d datagrams, %v, remarks %v", x.choice, len(c.Chosen()), err, c.Remarks())
		}
	}
	// Both sides use one port: the first datagram went to the server.
	a, b := netip.AddrPortFrom(client4, 5), netip.AddrPortFrom(server4, 5)
	var list []raw
	for i, ends := range [][2]netip.AddrPort{{a, b}, {b, a}, {b, a}, {a, b}, {b, a}} {
		list = append(list, raw{link: layers.LinkTypeRaw, data: ip(t, ends[0], ends[1], pattern(4, i))})
	}
	c, _ = readBytes(classic(t, list))
	if err := c.selectDatagrams(Choice{Port: 5}); err != nil || len(c.Chosen()) != 3 {
		t.Errorf("both sides on one port: %d down, %v", len(c.Chosen()), err)
	}
}

func TestParseSpec(t *testing.T) {
	for text, want := range map[string]struct {
		path   string
		choice Choice
		fails  string
	}{
		"a.pcap": {path: "a.pcap"}, "a.pcap,port=27960": {"a.pcap", Choice{Port: 27960}, ""},
		"a,b.pcap,dir=up,port=1": {"a,b.pcap", Choice{1, true}, ""}, "a.pcap,dir=down": {path: "a.pcap"}, "a,x=1": {path: "a,x=1"},
		"a,port=0": {fails: "1 to 65535"}, "a,port=x": {fails: "1 to 65535"}, "a,dir=left": {fails: "expected down"},
		"a,port=1,port=2": {fails: "given twice"}, ",dir=up": {fails: "file name missing"},
	} {
		path, choice, err := ParseSpec(text)
		if want.fails == "" && (err != nil || path != want.path || choice != want.choice) ||
			want.fails != "" && (err == nil || !strings.Contains(err.Error(), want.fails)) {
			t.Errorf("%q: %q, %+v, %v; want %+v", text, path, choice, err, want)
		}
	}
}

// Frames are the datagrams at their times. Times that jump back or by more than source.MaxGap are corrected.
func TestSource(t *testing.T) {
	var list []raw
	from, to := netip.AddrPortFrom(server4, 7), netip.AddrPortFrom(client4, 900)
	for i, at := range []time.Duration{0, 10 * time.Millisecond, 10 * time.Millisecond, 5 * time.Millisecond, time.Hour, time.Hour + time.Second} {
		list = append(list, raw{link: layers.LinkTypeRaw, at: at, data: ip(t, from, to, pattern(i, i))})
	}
	path := filepath.Join(t.TempDir(), "odd,name.pcap")
	if err := os.WriteFile(path, classic(t, list), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, loop := range []bool{false, true} {
		src, err := Kind.Open(t.Context(), path+",port=7", source.Options{Loop: loop})
		if err != nil {
			t.Fatal(err)
		}
		s := src.(*datagramSource)
		if n := s.Frames(); n != 6 || s.Schema().Delivery != frame.Unreliable || !s.Schema().Timed || len(s.Remarks()) != 2 {
			t.Errorf("%d frames, %+v, remarks %v", n, s.Schema(), s.Remarks())
		}
		const ms = time.Millisecond
		want := []time.Duration{0, 10 * ms, 10*ms + 1, 10*ms + 2, 10*ms + 2 + time.Minute, 10*ms + 2 + time.Minute + time.Second}
		period := want[5] + want[5]/5
		for n := range uint64(20) {
			at := want[n%6] + time.Duration(n/6)*period
			if got := s.TickTime(n); got != at || s.TickAt(at) != n || s.TickAt(s.TickTime(n+1)-1) != n {
				t.Errorf("frame %d at %v, want %v; then it is frame %d", n, got, at, s.TickAt(at))
			}
		}
		f := s.Schema().NewFrame()
		for n := range 6 {
			if err := s.Next(f); err != nil || f.Tick != uint32(n) || !bytes.Equal(f.Body, pattern(n, n)) {
				t.Errorf("frame %d: %v, %v", n, f, err)
			}
		}
		if err := s.Next(f); loop && (err != nil || f.Tick != 6 || len(f.Body) != 0) || !loop && err != io.EOF {
			t.Errorf("after the last: %v, %v", f, err)
		}
	}
}

// The error for an unknown link type names it and the types that can be read.
func TestUnknownLink(t *testing.T) {
	list := match(t)
	for i := range list {
		list[i].link = 147
	}
	_, err := readBytes(classic(t, list))
	if err == nil || !strings.Contains(err.Error(), "of link type 147 (UnknownLinkType); expected at least one, on Ethernet") {
		t.Errorf("%v", err)
	}
}
