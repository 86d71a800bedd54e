package packets

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket/layers"
	"github.com/klauspost/compress/zstd"

	"wirelab/internal/testkit"
)

// Captures of real matches contain the datagrams that the data's README lists.
func TestRealMatches(t *testing.T) {
	for _, c := range []struct {
		name        string
		port        uint16
		up          bool
		n           int
		mean        string
		median, p95 int
	}{
		{"oa-ctf.pcap.zst", 27960, false, 4822, "393", 438, 583}, {"oa-ctf.pcap.zst", 27960, true, 7052, "23.2", 23, 24},
		{"oa-dm4.pcap.zst", 27960, false, 4016, "139", 126, 293}, {"oa-dm4.pcap.zst", 27960, true, 5846, "23.5", 23, 24},
		{"bz-1.pcap.zst", 5154, false, 3659, "38.0", 31, 78}, {"bz-1.pcap.zst", 5154, true, 425, "31.8", 31, 47},
	} {
		got, err := Open(t.Context(), testkit.DataFile(t, "games/"+c.name), Choice{Up: c.up})
		if err != nil {
			t.Fatal(err)
		}
		var sizes []int
		total := 0
		for _, d := range got.Chosen() {
			sizes = append(sizes, len(d.Payload))
			total += len(d.Payload)
		}
		slices.Sort(sizes)
		digits := len(c.mean) - len(strings.TrimRight(c.mean, "0123456789"))
		if !strings.Contains(c.mean, ".") {
			digits = 0
		}
		mean := strconv.FormatFloat(float64(total)/float64(len(sizes)), 'f', digits, 64)
		if got.Port != c.port || len(sizes) != c.n || mean != c.mean || sizes[c.n/2] != c.median || sizes[c.n*95/100] != c.p95 {
			t.Errorf("%s %s: port %d, %d datagrams of %s bytes, median %d, p95 %d; want %+v", c.name, got.Direction(), got.Port,
				len(sizes), mean, sizes[c.n/2], sizes[c.n*95/100], c)
		}
	}
}

// tshark finds the same datagrams at the same times in real matches and in synthetic captures with
// fragments.
func TestAgainstTshark(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed: apt-get install tshark")
	}
	list, ethernet := synthetic(t)
	files := map[string][]byte{"all.pcapng": ng(t, list), "ethernet.pcap": classic(t, list[:ethernet])}
	if packed, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "games", "bz-1.pcap.zst")); err == nil {
		z, _ := zstd.NewReader(bytes.NewReader(packed))
		var plain bytes.Buffer
		if _, err := plain.ReadFrom(z); err != nil {
			t.Fatal(err)
		}
		z.Close()
		files["bz-1.pcap"] = plain.Bytes()
	}
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(tshark, "-r", path, "-o", "udp.check_checksum:FALSE", "-Y", "udp && !icmp", "-T", "fields",
			"-E", "occurrence=l", "-e", "frame.time_epoch", "-e", "udp.srcport", "-e", "udp.dstport", "-e", "udp.payload", "-e", "udp.length").Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var want []string
		for line := range strings.Lines(string(out)) {
			f := strings.Split(strings.TrimRight(line, "\n"), "\t")
			if n, err := strconv.Atoi(f[4]); err == nil && n >= 8 && len(f[3]) == 2*(n-8) { // whole
				want = append(want, strings.Join(f[:4], " "))
			}
		}
		c, err := readFile(t.Context(), path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for i := range c.Datagrams {
			got = append(got, line(&c.Datagrams[i]))
		}
		for i, w := range want {
			epoch, rest, _ := strings.Cut(w, " ")
			want[i] = sameTime(epoch) + " " + rest
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d datagrams, tshark finds %d\n%s\n%s", name, len(got), len(want), first(got, want), first(want, got))
		}
	}
}

// line formats a datagram as tshark prints it.
func line(d *datagram) string {
	return fmt.Sprintf("%d.%09d %d %d %x", d.At/1e9, d.At%1e9, d.From.Port(), d.To.Port(), d.Payload)
}

// sameTime formats seconds with nine digits after the point.
func sameTime(epoch string) string {
	whole, part, _ := strings.Cut(epoch, ".")
	return whole + "." + (part + "000000000")[:9]
}

// first returns the first line of a that is not in b.
func first(a, b []string) string {
	for i, l := range a {
		if i >= len(b) || b[i] != l {
			return fmt.Sprintf("%d: %.120s", i, l)
		}
	}
	return ""
}

// synthetic returns packets on every link type, with VLAN tags, extension headers and fragments. The
// first ethernet packets are on Ethernet.
func synthetic(t testing.TB) (all []raw, ethernet int) {
	from4, to4 := netip.AddrPortFrom(client4, 4001), netip.AddrPortFrom(server4, 4002)
	from6, to6 := netip.AddrPortFrom(client6, 4003), netip.AddrPortFrom(server6, 4004)
	for n, link := range []layers.LinkType{layers.LinkTypeEthernet, layers.LinkTypeLinuxSLL, layers.LinkTypeLinuxSLL2,
		layers.LinkTypeNull, layers.LinkTypeLoop, layers.LinkTypeRaw} {
		var ips [][]byte
		for i := range 4 {
			ips = append(ips, ip(t, from4, to4, pattern(10+i, i)), ip(t, to6, from6, pattern(20+i, i)))
		}
		ips = append(ips, extended(ip(t, from6, to6, pattern(44, 1)), 0, 60))
		a, b := pieces4(ip(t, from4, to4, pattern(2900, 3)), 1480, uint16(77+n)), pieces6(ip(t, from6, to6, pattern(2900, 4)), 1000, uint32(77+n))
		ips = append(ips, a[0], b[1], a[1], b[0], b[2])
		for i, p := range ips {
			data := wrap(link, p)
			if link == layers.LinkTypeEthernet && i%3 == 1 {
				data = tagged(data, 0x88a8, 0x8100)
			}
			all = append(all, raw{link: link, at: time.Duration(len(all))*time.Millisecond + 7, data: data})
		}
		if n == 0 {
			ethernet = len(all)
		}
	}
	return all, ethernet
}
