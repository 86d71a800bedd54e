package main

import (
	"bytes"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"wirelab/internal/testkit"
	"wirelab/lossmodel"
)

// seen is a datagram of a capture; its direction is down, from port 7000, unless up is set.
type seen struct {
	at   time.Duration
	up   bool
	data []byte
}

// writePcap writes a capture.
func writePcap(t testing.TB, path string, list []seen) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := pcapgo.NewWriterNanos(f)
	if err := w.WriteFileHeader(1<<16, layers.LinkTypeRaw); err != nil {
		t.Fatal(err)
	}
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	b := gopacket.NewSerializeBuffer()
	for _, d := range list {
		ip := &layers.IPv4{Version: 4, TTL: 9, Protocol: layers.IPProtocolUDP, SrcIP: net.IP{192, 0, 2, 1}, DstIP: net.IP{192, 0, 2, 9}}
		udp := &layers.UDP{SrcPort: 7000, DstPort: 50123}
		if d.up {
			ip.SrcIP, ip.DstIP, udp.SrcPort, udp.DstPort = ip.DstIP, ip.SrcIP, udp.DstPort, udp.SrcPort
		}
		if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true}, ip, udp, gopacket.Payload(d.data)); err != nil {
			t.Fatal(err)
		}
		info := gopacket.CaptureInfo{Timestamp: begin.Add(d.at), CaptureLength: len(b.Bytes()), Length: len(b.Bytes())}
		if err := w.WritePacket(info, b.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
}

// talk returns a typical datagram of a game: a header, a counter and a changing position.
func talk(n int) (list []seen) {
	for i := range n {
		at := time.Duration(i) * 33 * time.Millisecond
		list = append(list, seen{at: at, data: []byte{1, 0, 0x70, 0x73, byte(i), byte(i >> 8), byte(i * 3), byte(i*i>>5 + 7), 0, 0, 0, byte(i % 5)}})
		if i%3 == 0 {
			list = append(list, seen{at: at + time.Millisecond, up: true, data: []byte("ack")})
		}
	}
	return list
}

// TestStatsOfPackets checks that the sizes in tui datasets stats are those of a run, and that a
// guessed port is reported.
func TestStatsOfPackets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a game, part 1.pcap")
	writePcap(t, path, talk(300))
	o := tui("datasets stats", "packets:"+path, "--json")
	if o.code != exitDone || o.stderr != "" {
		t.Fatalf("exit %d, stderr %q", o.code, o.stderr)
	}
	var doc messageInfo
	document(t, o.stdout, &doc)
	if doc.Messages != 300 || doc.Bytes != 3600 || len(doc.Places) != 12 || len(doc.Remarks) != 1 || doc.Lag != 4 ||
		!strings.Contains(doc.Remarks[0], "port 7000 is assumed to be the server's: 400 of 400") {
		t.Errorf("%+v", doc)
	}
	if math.Abs(doc.PerSecond-1000./33) > 1e-6 || doc.Places[2].Bits != 0 || doc.Places[2].Common != 0x70 || doc.Places[11].Values != 5 {
		t.Errorf("%g a second, places %+v", doc.PerSecond, doc.Places)
	}
	known := map[string]bool{}
	for _, s := range doc.Encoders {
		known[s.Encoder] = true
		if s.Messages == 0 {
			continue // requires a parameter
		}
		if !s.Lossless || s.Raw != 3600 || s.Timing == nil {
			t.Errorf("%+v", s)
		}
		if s.Encoder != "deflate" && s.Encoder != "zstd" {
			continue // sizes of other encoders depend on the arrival of acks
		}
		r := tui("run --data", "packets:"+path+",port=7000,dir=down", "--encoder", s.Encoder, "--json")
		var run struct {
			DurationS float64 `json:"duration_s"`
			Items     int     `json:"items_per_frame"`
			Totals    struct {
				Sent, Decoded, Wrong int64
				Kbps                 float64 `json:"payload_kbps"`
			}
		}
		document(t, r.stdout, &run)
		if bytes := run.Totals.Kbps * run.DurationS * 125; math.Abs(bytes-float64(s.Bytes)) > 1 || run.Totals.Decoded != 300 || run.Items != 12 {
			t.Errorf("%s: a run sends %g bytes, the statistics say %d: %+v", s.Encoder, bytes, s.Bytes, run)
		}
		if r.stderr != "" {
			t.Errorf("with the port given: %q", r.stderr)
		}
	}
	for _, name := range []string{"receiver-adaptive", "xor-rle", "deflate", "zstd", "zstd-baseline"} {
		if !known[name] {
			t.Errorf("nothing is said of %s", name)
		}
	}
	o = tui("datasets stats", "packets:"+path+",dir=up", "--encoder", "deflate level=9")
	for _, words := range []string{"100 messages, 300 bytes", "deflate level=9", "acks 4 messages late", "repeated  99.0 %"} {
		if !strings.Contains(o.stdout, words) || o.code != exitDone {
			t.Errorf("exit %d, expected %q in\n%s", o.code, words, o.stdout)
		}
	}
	for _, args := range [][]string{{"--encoder", "deflate level"}, {"--encoder", "rotor"}, {"--against", "demo"}} {
		if o := tui("", append([]string{"datasets", "stats", "packets:" + path}, args...)...); o.code != exitUsage || !strings.Contains(o.stderr, "expected") && args[0] != "--against" {
			t.Errorf("%v: exit %d, %q", args, o.code, o.stderr)
		}
	}
}

// TestReplayOfPackets checks that the report of a run names the capture by its digest, and can be
// replayed after both were moved.
func TestReplayOfPackets(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "game.pcap")
	writePcap(t, path, talk(200))
	out := filepath.Join(dir, "report")
	checkErr(t, tui("run --data", "packets:"+path+",dir=up", "--set", "link.loss=5%", "--out", out), exitDone, "warning: data: port 7000 is assumed")
	there := t.TempDir()
	for _, f := range []struct{ from, to string }{{path, filepath.Join(there, "game.pcap")}, {filepath.Join(out, "report.json"), filepath.Join(there, "report.json")}} {
		if err := os.Rename(f.from, f.to); err != nil {
			t.Fatal(err)
		}
	}
	done(t, "replay", filepath.Join(there, "report.json"), "--json")
	writePcap(t, filepath.Join(there, "game.pcap"), talk(201))
	if o := tui("replay", filepath.Join(there, "report.json"), "--json"); o.code == exitDone || !strings.Contains(o.stderr, "SHA-256") {
		t.Errorf("with another capture: exit %d: %s", o.code, o.stderr)
	}
}

// TestLinksFitTwoCaptures checks that captures at the two ends of a modelled link give its
// settings and the outcome of each datagram.
func TestLinksFitTwoCaptures(t *testing.T) {
	spec := lossmodel.DefaultSpec()
	testkit.Set(t, &spec, "loss", "5%", "latency", "30ms", "jitter", "6ms", "duplicate", "2%")
	link, err := lossmodel.NewLink(spec, 11, "up")
	if err != nil {
		t.Fatal(err)
	}
	var sent, received []seen
	lost := 0
	for i := range 3000 {
		d := seen{at: time.Duration(i) * 20 * time.Millisecond, up: true, data: []byte{byte(i), byte(i >> 8), 7}}
		if i%10 == 0 {
			d.data = []byte("still here")
		}
		sent = append(sent, d)
		if v := link.Send(d.at, d.data, uint64(i)); v.Lost != lossmodel.None {
			lost++
		}
	}
	arrivals := 0
	for d, ok := link.Receive(time.Hour); ok; d, ok = link.Receive(time.Hour) {
		received = append(received, seen{at: d.Due, up: true, data: bytes.Clone(d.Data)})
		arrivals++
	}
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.pcap"), filepath.Join(dir, "b.pcap")
	writePcap(t, a, sent)
	writePcap(t, b, received)
	o := tui("links fit --sent", a+",port=7000,dir=up", "--received", b+",dir=up", "--json")
	checkErr(t, o, exitDone, "port 7000 is assumed")
	var doc fitInfo
	document(t, o.stdout, &doc)
	m := doc.Match
	if m.Sent != 3000 || m.Received != arrivals || m.Equal != 300 || m.Matched+m.Copies != arrivals || m.Unmatched != 0 ||
		m.Lost+m.Outside < lost-3 || m.Lost+m.Outside > lost+3 {
		t.Errorf("%+v; the link lost %d, %d arrived", m, lost, arrivals)
	}
	if !strings.Contains(doc.Table, "\n[up]\n") || !strings.Contains(strings.Join(doc.Notes, "\n"), "only as accurate as these clocks agree") {
		t.Errorf("%s\n%v", doc.Table, doc.Notes)
	}
	within := map[string]float64{"loss": 0.05, "duplicate": 0.02}
	for _, e := range doc.Estimates {
		if v, ok := within[e.Name]; ok {
			delete(within, e.Name)
			if v < e.Low || v > e.High {
				t.Errorf("%+v, set was %g", e, v)
			}
		}
	}
	if len(within) > 0 {
		t.Errorf("no estimates of %v in %+v", within, doc.Estimates)
	}
	for _, args := range [][]string{{"--sent", a}, {"--sent", a + ",dir=up", "--received", b}, {"--sent", a + ",dir=up", "--received", "none.pcap"}, {"x.csv", "--sent", a}} {
		if o := tui("links fit", args...); o.code != exitUsage || o.stderr == "" {
			t.Errorf("%v: exit %d, %q", args, o.code, o.stderr)
		}
	}
}

// TestLinksFitOfProxy checks that fitting the capture of a proxy gives the losses that the proxy
// reported.
func TestLinksFitOfProxy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "p.pcapng")
	c := startControlled(t, "", "--seed", "3", "--capture", file, "--set", "up.loss=20%", "--set", "up.latency=3ms", "--set", "up.jitter=2ms")
	c.play(func(d *proxyDocument) bool { return d.Up.In >= 300 })
	_, done := c.end()
	_, at, _ := net.SplitHostPort(done.Listen)
	_, to, _ := net.SplitHostPort(done.To)
	o := tui("links fit --sent", file+",dir=up,port="+at, "--received", file+",dir=up,port="+to, "--json")
	if o.code != exitDone || o.stderr != "" {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	var doc fitInfo
	document(t, o.stdout, &doc)
	m := doc.Match
	if uint64(m.Sent) != done.Up.In || uint64(m.Received) != done.Up.Out || uint64(m.Matched) != done.Up.Out || uint64(m.Lost+m.Outside) != done.Up.In-done.Up.Out {
		t.Errorf("%+v; the proxy reports %+v", m, done.Up)
	}
	for _, e := range doc.Estimates {
		if lost := float64(m.Lost) / float64(m.Lost+m.Matched); e.Name == "loss" && (e.Low > lost || e.High < lost) {
			t.Errorf("%+v, the link lost %g", e, lost)
		}
	}
}

// TestDictionaryOfAGame trains a dictionary, uses it in a run, and checks that the report
// contains its digest and that a replay finds it next to the report.
func TestDictionaryOfAGame(t *testing.T) {
	dir := t.TempDir()
	path, dictionary, out := filepath.Join(dir, "game.pcap"), filepath.Join(dir, "game.zdict"), filepath.Join(dir, "report")
	var list []seen
	for i := range 500 {
		text := fmt.Sprintf("player %d moves to place %d of the map, looking to the %s", i%7, i*i%100, []string{"north", "south", "east"}[i*i%3])
		list = append(list, seen{at: time.Duration(i) * 30 * time.Millisecond, data: []byte(text)})
	}
	writePcap(t, path, list)
	spec := "packets:" + path + ",port=7000,dir=down"
	done(t, "train --encoder zstd-dict --data", spec, "--out", dictionary, "--size", "8KB", "--quiet")
	var doc messageInfo
	document(t, tui("datasets stats", spec, "--encoder", "zstd-dict dictionary="+dictionary, "--encoder", "zstd-dict", "--json").stdout, &doc)
	if len(doc.Encoders) != 2 || doc.Encoders[0].Encoder != `zstd-dict dictionary="`+dictionary+`"` || 2*doc.Encoders[0].Bytes > doc.Encoders[1].Bytes ||
		!strings.Contains(doc.Encoders[1].Problem, "parameter dictionary is missing") {
		t.Errorf("%+v", doc.Encoders)
	}
	done(t, "run --data", spec, "--encoder", "zstd-dict", "--set", "encoder.params.dictionary="+dictionary, "--out", out, "--quiet")
	there := t.TempDir()
	for _, name := range []string{path, dictionary, filepath.Join(out, "report.json")} {
		if err := os.Rename(name, filepath.Join(there, filepath.Base(name))); err != nil {
			t.Fatal(err)
		}
	}
	done(t, "replay", filepath.Join(there, "report.json"), "--json")
	write(t, filepath.Join(there, "game.zdict"), "another")
	if o := tui("replay", filepath.Join(there, "report.json"), "--json"); o.code == exitDone || !strings.Contains(o.stderr, "game.zdict") {
		t.Errorf("with another dictionary: exit %d: %s", o.code, o.stderr)
	}
	if o := tui("run --data", spec, "--encoder", "zstd-dict"); o.code != exitUsage && !strings.Contains(o.stderr, "game.pcap") {
		t.Errorf("without the capture: exit %d: %s", o.code, o.stderr)
	}
}
