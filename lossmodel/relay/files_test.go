package relay

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

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
	var journals []*Journal
	for _, w := range []Writer{p, NewRecord(&up, Up), NewRecord(&down, Down)} {
		j := NewJournal(w)
		r.Tap(j.Tap)
		journals = append(journals, j)
	}
	stop := run(t, r)
	client := socket(t)
	for i := range 200 {
		send(t, client, r.Addr(), bytes.Repeat([]byte{byte(i)}, i))
	}
	until(t, r, "200 datagrams", func(now *Totals) bool { return now.Flows[Up].In == 200 && now.Flows[Up].Queued == 0 })
	if _, err := r.Reshape(both(link, spec(t, "latency", "10s"))); err != nil {
		t.Fatal(err)
	}
	send(t, client, r.Addr(), []byte("x")) // perhaps answered, and then never delivered
	until(t, r, "the last", func(now *Totals) bool { return now.Flows[Up].In == 201 && now.Flows[Up].Queued == 0 })
	totals := stop()
	for _, j := range journals {
		if skipped, err := j.Close(); skipped != 0 || err != nil {
			t.Fatal(skipped, err)
		}
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

// failing is a disk that is full.
type failing struct{ err error }

func (f failing) Write(*Event) error { return f.err }
func (f failing) Flush() error       { return nil }

func TestJournalTellsOfItsDisk(t *testing.T) {
	full := errors.New("disk full")
	j := NewJournal(failing{full})
	j.Tap(&Event{Data: []byte("x")})
	if _, err := j.Close(); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

func TestJournalIsBounded(t *testing.T) {
	j := &Journal{out: failing{}}
	for range journalEntries + 5 {
		j.Tap(&Event{Data: make([]byte, 10)})
	}
	if j.skipped != 5 || len(j.filling.entries) != journalEntries {
		t.Errorf("%d skipped", j.skipped)
	}
}
