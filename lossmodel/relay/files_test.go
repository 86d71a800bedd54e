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

// What is captured and recorded agrees with the books, as others read it.
func TestCaptureAndRecordAgreeWithTheBooks(t *testing.T) {
	server := echo(t)
	link := spec(t, "loss", "20%", "latency", "2ms±1ms", "duplicate", "20%", "corrupt", "20%")
	r, err := Open(Options{Listen: loopback(), Server: local(server), Seed: 9, Conditions: both(link, link)})
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
	stop := run(t, r)
	client := socket(t)
	for i := range 200 {
		send(t, client, r.Addr(), bytes.Repeat([]byte{byte(i)}, i))
	}
	until(t, r, "200 datagrams", func(now *Totals) bool {
		return now.Flows[Up].In == 200 && now.Flows[Up].Queued == 0 && now.Flows[Down].Out > 0 && now.Flows[Down].Lost() > 0
	})
	if _, err := r.Reshape(both(link, spec(t, "latency", "10s"))); err != nil {
		t.Fatal(err)
	}
	send(t, client, r.Addr(), []byte("x")) // perhaps answered, and then never delivered
	until(t, r, "the last", func(now *Totals) bool { return now.Flows[Up].In == 201 && now.Flows[Up].Queued == 0 })
	totals := stop()
	if skipped, errs := j.Close(); skipped != 0 || errors.Join(errs...) != nil {
		t.Fatal(skipped, errs)
	}
	for way, text := range map[Way]*bytes.Buffer{Up: &up, Down: &down} {
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
			t.Errorf("%v: recorded %d lost, %d arrived, %d under way; counted %d, %d, %d", way, lost, arrived, c.Unfinished,
				f.Lost(), f.Out, f.Queued)
		}
	}
	checkPcapng(t, &pcap, &totals)
}

// What the seed did is told again from a record alone, with no relay: the links, given the stamps
// and sizes of its rows, decide the same.
func TestRecordTellsEveryFateAgain(t *testing.T) {
	link := spec(t, "loss", "10%", "burst", "2", "rate", "3mbit", "queue", "6KB", "latency", "3ms±2ms", "duplicate", "10%", "corrupt", "5%", "reorder", "5%")
	r, err := Open(Options{Listen: loopback(), Server: local(echo(t)), Seed: 77, Conditions: both(link, link)})
	if err != nil {
		t.Fatal(err)
	}
	var texts [2]bytes.Buffer
	j := NewJournal(nil, NewRecord(&texts[Up], Up), NewRecord(&texts[Down], Down))
	r.Tap(j.Tap)
	stop := run(t, r)
	clients := []*net.UDPConn{socket(t), socket(t)}
	for i := range 400 {
		send(t, clients[i%2], r.Addr(), make([]byte, 1+i*37%900))
		if i%5 == 0 {
			paced(t, r, i+1)
		}
	}
	until(t, r, "an empty network", func(now *Totals) bool {
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
		became := map[string]string{} // by number and copy: when it left, or "lost"
		first := make([][]string, totals.Flows[way].In)
		for _, row := range rows[1:] {
			became[row[0]+","+row[3]] = row[2]
			first[number(row[0])] = row
		}
		links := map[string]*lossmodel.Link{}
		for seq, row := range first {
			l := links[row[4]]
			if l == nil {
				if l, err = lossmodel.NewLink(link, 77, LinkName(Way(way), int(number(row[4])))); err != nil {
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
			for d, ok := l.Receive(never); ok; d, ok = l.Receive(never) {
				name, due := fmt.Sprintf("%d,%d", d.Tag, d.Copy), string(capture.AppendMicros(nil, d.Due))
				if d.Damaged {
					due = "lost"
				}
				if became[name] != due {
					t.Errorf("%v %s was to leave at %s; told again: %s", Way(way), name, became[name], due)
				}
				delete(became, name)
			}
		}
		for name, when := range became { // what the links never deliver
			if when != "lost" {
				t.Errorf("%v %s left at %s; told again, it is lost", Way(way), name, when)
			}
		}
		if f := &totals.Flows[way]; f.Lost() == 0 || f.Copies == 0 {
			t.Errorf("%v: %d lost, %d copies: nothing is shown", Way(way), f.Lost(), f.Copies)
		}
	}
}

func checkPcapng(t *testing.T, file io.Reader, totals *Totals) {
	t.Helper()
	in, err := pcapgo.NewNgReader(file, pcapgo.NgReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var seen [2]uint64 // packets of each interface
	told := 0
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
			told++
		}
	}
	up, down := &totals.Flows[Up], &totals.Flows[Down]
	if seen[clientSide] != up.In+down.Out || seen[serverSide] != up.Out+down.In {
		t.Errorf("captured %d and %d; counted %d and %d", seen[clientSide], seen[serverSide], up.In+down.Out, up.Out+down.In)
	}
	if lost := up.LostBy[lossmodel.Loss] + down.LostBy[lossmodel.Loss]; told == 0 || uint64(told) > lost {
		t.Errorf("%d comments tell of a loss; %d were lost", told, lost)
	}
}

// disk is one that is full, or slow, or keeps what it gets.
type disk struct {
	err  error
	slow chan struct{}
	got  []string
}

func (d *disk) Write(e *Event) error {
	if d.slow != nil {
		<-d.slow
	}
	d.got = append(d.got, string(e.Data))
	return d.err
}

func (d *disk) Flush() error { return nil }

// A disk that is full is told of at once, and is no matter to the others.
func TestJournalTellsOfItsDisk(t *testing.T) {
	full, good := &disk{err: errors.New("disk full")}, &disk{}
	told := make(chan int, 10)
	j := NewJournal(func(i int, err error) {
		if !errors.Is(err, full.err) {
			t.Error(err)
		}
		told <- i
	}, full, good)
	j.Tap(&Event{Data: []byte("x")})
	if i := <-told; i != 0 {
		t.Errorf("%d failed", i)
	}
	j.Tap(&Event{Data: []byte("y")})
	skipped, errs := j.Close()
	if skipped != 0 || !errors.Is(errs[0], full.err) || errs[1] != nil || len(full.got) != 1 || strings.Join(good.got, "") != "xy" {
		t.Errorf("%d skipped, %v; got %q and %q", skipped, errs, full.got, good.got)
	}
}

// mine is a Writer that panics.
type mine struct{}

func (mine) Write(*Event) error { panic("boom") }
func (mine) Flush() error       { return nil }

// A panic of a Writer is its error, and is no matter to the others.
func TestJournalSurvivesAPanic(t *testing.T) {
	good := &disk{}
	j := NewJournal(nil, mine{}, good)
	j.Tap(&Event{Data: []byte("x")})
	_, errs := j.Close()
	if !errors.As(errs[0], new(*panics.Error)) || errs[1] != nil || strings.Join(good.got, "") != "x" {
		t.Errorf("%v; %q is written", errs, good.got)
	}
	broken := NewJournal(func(int, error) { panic("boom") }, mine{}, &disk{}) // in the journal's own goroutine
	broken.Tap(&Event{Data: []byte("x")})
	if _, errs := broken.Close(); !errors.As(errs[0], new(*panics.Error)) || !errors.As(errs[1], new(*panics.Error)) {
		t.Errorf("%v", errs)
	}
}

// What a slow disk has not written yet is bounded, by events and by bytes; nothing is out of order.
func TestJournalIsBounded(t *testing.T) {
	for _, size := range []int{0, 10, lossmodel.MaxDatagram} {
		slow := &disk{slow: make(chan struct{})}
		j := NewJournal(nil, slow)
		most := journalChunks * max(1, min(64, chunkBytes/max(size, 1)))
		data := make([]byte, size)
		for i := range most + 5 {
			if size > 4 {
				binary.LittleEndian.PutUint32(data, uint32(i))
			}
			j.Tap(&Event{Data: data})
		}
		close(slow.slow)
		skipped, errs := j.Close()
		if n := len(slow.got); n > most || n <= most-64 || n+int(skipped) != most+5 || errs[0] != nil || j.made > journalSpare {
			t.Errorf("size %d: %d skipped of %d, %d written, %d chunks kept, %v", size, skipped, most+5, n, j.made, errs)
		}
		for i, got := range slow.got {
			if len(got) != size || size > 4 && binary.LittleEndian.Uint32([]byte(got)) != uint32(i) {
				t.Fatalf("size %d: number %d is out of order", size, i)
			}
		}
	}
}
