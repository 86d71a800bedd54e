package relay

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"wirelab/internal/panics"
	"wirelab/lossmodel"
	"wirelab/lossmodel/capture"
)

// Captures and records, read by other code, agree with the totals.
func TestFilesAgreeWithTotals(t *testing.T) {
	server := newEchoServer(t)
	link := newSpec(t, "loss", "20%", "latency", "2ms±1ms", "duplicate", "20%", "corrupt", "20%")
	r, err := Open(Options{Listen: loopback(), Server: localAddr(server), Seed: 9, Conditions: constantConditions(link, link)})
	if err != nil {
		t.Fatal(err)
	}
	var pcap, up, down bytes.Buffer
	p, err := NewPcapng(&pcap, r)
	if err != nil {
		t.Fatal(err)
	}
	j := NewJournal(nil, p, NewRecord(&up, Up), NewRecord(&down, Down))
	r.Tap(j.Tap)
	stop := runRelay(t, r)
	client := newSocket(t)
	for i := range 200 {
		send(t, client, r.Addr(), bytes.Repeat([]byte{byte(i)}, i))
	}
	waitFor(t, r, "200 datagrams", func(now *Totals) bool {
		return now.Flows[Up].In == 200 && now.Flows[Up].Queued == 0 && now.Flows[Down].Out > 0 && now.Flows[Down].Lost() > 0
	})
	if _, err := r.Reshape(constantConditions(link, newSpec(t, "latency", "10s"))); err != nil {
		t.Fatal(err)
	}
	send(t, client, r.Addr(), []byte("x")) // its answer, if any, is not delivered before the end
	waitFor(t, r, "the last", func(now *Totals) bool { return now.Flows[Up].In == 201 && now.Flows[Up].Queued == 0 })
	totals := stop()
	if skipped, errs := j.Close(); skipped != 0 || errors.Join(errs...) != nil {
		t.Fatal(skipped, errs)
	}
	for way, text := range map[Direction]*bytes.Buffer{Up: &up, Down: &down} {
		c, err := capture.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		var lost, arrived int
		for _, row := range c.Packets {
			if row.Lost {
				lost++
			} else {
				arrived++
			}
		}
		f := &totals.Flows[way]
		if uint64(lost) != f.Lost() || uint64(arrived) != f.Out || c.Unfinished != f.Queued {
			t.Errorf("%v: recorded %d lost, %d arrived, %d in flight; counted %d, %d, %d", way, lost, arrived, c.Unfinished,
				f.Lost(), f.Out, f.Queued)
		}
	}
	checkPcapng(t, &pcap, &totals)
}

// A record is reproducible: links with the same seed, given the times and sizes of its rows, make
// the same decisions.
func TestRecordReproducible(t *testing.T) {
	link := newSpec(t, "loss", "10%", "burst", "2", "rate", "3mbit", "queue", "6KB", "latency", "3ms±2ms", "duplicate", "10%", "corrupt", "5%", "reorder", "5%")
	r, err := Open(Options{Listen: loopback(), Server: localAddr(newEchoServer(t)), Seed: 77, Conditions: constantConditions(link, link)})
	if err != nil {
		t.Fatal(err)
	}
	var texts [2]bytes.Buffer
	j := NewJournal(nil, NewRecord(&texts[Up], Up), NewRecord(&texts[Down], Down))
	r.Tap(j.Tap)
	stop := runRelay(t, r)
	clients := []*net.UDPConn{newSocket(t), newSocket(t)}
	for i := range 400 {
		send(t, clients[i%2], r.Addr(), make([]byte, 1+i*37%900))
		if i%5 == 0 {
			waitForRoom(t, r, i+1)
		}
	}
	waitFor(t, r, "an empty network", func(now *Totals) bool {
		up, down := &now.Flows[Up], &now.Flows[Down]
		return up.In == 400 && up.Queued+down.Queued == 0 && down.In == up.Out
	})
	totals := stop()
	if skipped, errs := j.Close(); skipped > 0 || errors.Join(errs...) != nil {
		t.Fatal(skipped, errs)
	}
	for way := range texts {
		rows, err := csv.NewReader(&texts[way]).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		number := func(cell string) uint64 {
			n, err := strconv.ParseUint(cell, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		outcomes := map[string]string{} // by "seq,copy": due time, or "lost"
		first := make([][]string, totals.Flows[way].In)
		for _, row := range rows[1:] {
			outcomes[row[0]+","+row[3]] = row[2]
			first[number(row[0])] = row
		}
		links := map[string]*lossmodel.Link{}
		for seq, row := range first {
			l := links[row[4]]
			if l == nil {
				if l, err = lossmodel.NewLink(link, 77, LinkName(Direction(way), int(number(row[4])))); err != nil {
					t.Fatal(err)
				}
				links[row[4]] = l
			}
			sent, err := strconv.ParseFloat(row[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			l.Send(time.Duration(math.Round(sent*1000)), make([]byte, number(row[5])), uint64(seq))
		}
		for _, l := range links {
			for d, ok := l.Receive(noDeadline); ok; d, ok = l.Receive(noDeadline) {
				name, due := fmt.Sprintf("%d,%d", d.Tag, d.Copy), string(capture.AppendMicros(nil, d.Due))
				if outcomes[name] != due {
					t.Errorf("%v %s recorded as due at %s, reproduced at %s", Direction(way), name, outcomes[name], due)
				}
				delete(outcomes, name)
			}
		}
		for name, when := range outcomes { // not delivered by the links
			if when != "lost" {
				t.Errorf("%v %s recorded as due at %s, reproduced as lost", Direction(way), name, when)
			}
		}
		if f := &totals.Flows[way]; f.Lost() == 0 || f.Copies == 0 {
			t.Errorf("%v: %d lost, %d copies, expected some of both", Direction(way), f.Lost(), f.Copies)
		}
	}
}

// checkPcapng compares a capture with the totals.
func checkPcapng(t *testing.T, file io.Reader, totals *Totals) {
	t.Helper()
	in, err := pcapgo.NewNgReader(file, pcapgo.NgReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var seen [2]uint64 // packets of each interface
	lossComments := 0
	for {
		data, info, opts, err := in.ReadPacketDataWithOptions()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		packet := gopacket.NewPacket(data, layers.LayerTypeIPv4, gopacket.Default)
		if fail := packet.ErrorLayer(); fail != nil || packet.TransportLayer() == nil {
			t.Fatalf("no UDP: %v", fail)
		}
		seen[info.InterfaceIndex]++
		if len(opts.Comments) == 1 && strings.Contains(opts.Comments[0], "lost by loss") {
			lossComments++
		}
	}
	up, down := &totals.Flows[Up], &totals.Flows[Down]
	if seen[clientSide] != up.In+down.Out || seen[serverSide] != up.Out+down.In {
		t.Errorf("captured %d and %d; counted %d and %d", seen[clientSide], seen[serverSide], up.In+down.Out, up.Out+down.In)
	}
	if lost := up.LostBy[lossmodel.Loss] + down.LostBy[lossmodel.Loss]; lossComments == 0 || uint64(lossComments) > lost {
		t.Errorf("%d comments about losses, expected 1 to %d", lossComments, lost)
	}
}

// fakeWriter stores what is written. It fails with err, and blocks while block is not nil and
// open.
type fakeWriter struct {
	err     error
	block   chan struct{}
	written []string
}

func (d *fakeWriter) Write(e *Event) error {
	if d.block != nil {
		<-d.block
	}
	d.written = append(d.written, string(e.Data))
	return d.err
}

func (d *fakeWriter) Flush() error { return nil }

// A Writer that fails is reported at once and does not affect the others.
func TestJournalReportsError(t *testing.T) {
	full, good := &fakeWriter{err: errors.New("disk full")}, &fakeWriter{}
	reported := make(chan int, 10)
	j := NewJournal(func(i int, err error) {
		if !errors.Is(err, full.err) {
			t.Error(err)
		}
		reported <- i
	}, full, good)
	j.Tap(&Event{Data: []byte("x")})
	if i := <-reported; i != 0 {
		t.Errorf("%d failed", i)
	}
	j.Tap(&Event{Data: []byte("y")})
	skipped, errs := j.Close()
	if skipped != 0 || !errors.Is(errs[0], full.err) || errs[1] != nil || len(full.written) != 1 || strings.Join(good.written, "") != "xy" {
		t.Errorf("%d skipped, %v; got %q and %q", skipped, errs, full.written, good.written)
	}
}

// panickingWriter panics in Write.
type panickingWriter struct{}

func (panickingWriter) Write(*Event) error { panic("boom") }
func (panickingWriter) Flush() error       { return nil }

// A panic of a Writer becomes its error and does not affect the others.
func TestJournalPanickingWriter(t *testing.T) {
	good := &fakeWriter{}
	j := NewJournal(nil, panickingWriter{}, good)
	j.Tap(&Event{Data: []byte("x")})
	_, errs := j.Close()
	if !errors.As(errs[0], new(*panics.Error)) || errs[1] != nil || strings.Join(good.written, "") != "x" {
		t.Errorf("%v; %q is written", errs, good.written)
	}
	broken := NewJournal(func(int, error) { panic("boom") }, panickingWriter{}, &fakeWriter{}) // in the journal's own goroutine
	broken.Tap(&Event{Data: []byte("x")})
	if _, errs := broken.Close(); !errors.As(errs[0], new(*panics.Error)) || !errors.As(errs[1], new(*panics.Error)) {
		t.Errorf("%v", errs)
	}
}

// The events waiting for a slow Writer are bounded, by number and by bytes, and are written in
// order.
func TestJournalBounded(t *testing.T) {
	for _, size := range []int{0, 10, lossmodel.MaxDatagram} {
		slow := &fakeWriter{block: make(chan struct{})}
		j := NewJournal(nil, slow)
		maxEvents := min(maxWaiting, maxWaitingBytes/max(size, 1)) + 1 // one of them is being written
		data := make([]byte, size)
		for i := range maxEvents + 5 {
			if size > 4 {
				binary.LittleEndian.PutUint32(data, uint32(i))
			}
			j.Tap(&Event{Data: data})
		}
		close(slow.block)
		skipped, errs := j.Close()
		n := len(slow.written)
		// The allocator rounds the size of a payload up by at most an eighth.
		if n > maxEvents || n < maxEvents/8*7-1 || n+int(skipped) != maxEvents+5 || errs[0] != nil || j.waitingBytes.Load() != 0 {
			t.Errorf("size %d: %d skipped of %d, %d written, %d bytes wait, %v", size, skipped, maxEvents+5, n, j.waitingBytes.Load(), errs)
		}
		for i, got := range slow.written {
			if len(got) != size || size > 4 && binary.LittleEndian.Uint32([]byte(got)) != uint32(i) {
				t.Fatalf("size %d: number %d is out of order", size, i)
			}
		}
	}
}
