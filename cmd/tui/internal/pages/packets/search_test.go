package packets

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/packetfilter"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine/packetlog"
)

// order executes an order for the list, and fails the test on an error.
func order(t *testing.T, p *packets, o room.PacketOrder) room.Request {
	t.Helper()
	r, err := p.ListPackets(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// filter parses a filter.
func filter(t *testing.T, text string) *packetfilter.Filter {
	t.Helper()
	f, err := packetfilter.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return &f
}

// TestMatches checks that n and N go exactly to the packets that /search selects, also if the selected packet is not
// listed.
func TestMatches(t *testing.T) {
	lab := labtest.NewPackets()
	p, m := labtest.NewPaneStage[*packets](New(), lab, 160, 46)
	var want []uint64 // newest first
	for _, r := range slices.Backward(lab.Records()) {
		if r.Payload > 900 && r.Outcome == packetlog.Decoded {
			want = append(want, r.Seq)
		}
	}
	order(t, p, room.PacketOrder{Find: filter(t, "bytes > 900 && ok")}) // selects the newest match
	for i, seq := range want {
		if p.selected.Seq != seq {
			t.Fatalf("match %d is packet %d, want %d", i, p.selected.Seq, seq)
		}
		m.Press("N")
	}
	if r := p.moveToMatch(-1); r.Notice == "" || p.selected.Seq != want[len(want)-1] {
		t.Errorf("after the last match: %+v, packet %d", r, p.selected.Seq)
	}
	order(t, p, room.PacketOrder{Filter: filter(t, "bytes > 900 && ok")})
	p.selectPacket(packetlog.ID{Seq: want[1] - 1}) // not listed
	m.Press("n")
	if p.selected.Seq != want[1] {
		t.Errorf("the match after %d is %d, want %d", want[1]-1, p.selected.Seq, want[1])
	}
}

// TestSort checks the order of the list by every field: descending, then ascending, packets without a value last.
func TestSort(t *testing.T) {
	lab := labtest.NewPackets()
	p, _ := labtest.NewPaneStage[*packets](New(), lab, 160, 46)
	for _, name := range packetfilter.SortNames() {
		for _, ascending := range []bool{false, true} {
			order(t, p, room.PacketOrder{Sort: &room.PacketSort{Field: name, Ascending: ascending}})
			if n := len(lab.Records()); p.length() != n {
				t.Fatalf("%s: %d of %d packets are listed", name, p.length(), n)
			}
			for row := range p.length() - 1 {
				a := packetfilter.Value(name, &p.env, p.record(row))
				b := packetfilter.Value(name, &p.env, p.record(row+1))
				hasA, hasB := !math.IsNaN(a), !math.IsNaN(b)
				if !hasA && hasB || ascending && a > b || !ascending && a < b {
					t.Errorf("by %s, ascending %v: %g is before %g", name, ascending, a, b)
				}
			}
		}
	}
}

// TestUnknownRows checks that a filter of rows requests which rows packets carry, explains why it matches nothing while
// that is not known, and uses it when it is.
func TestUnknownRows(t *testing.T) {
	lab := labtest.NewPackets()
	p, m := labtest.NewPaneStage[*packets](New(), lab, 160, 46)
	if c := order(t, p, room.PacketOrder{Filter: filter(t, "row == 417")}).Command; c == nil || c.Carried == nil || !*c.Carried {
		t.Errorf("the filter requests %+v, not the costs of rows", c)
	}
	if v := m.View(); !strings.Contains(v, "not known which rows the packets carry") {
		t.Errorf("no explanation:\n%s", v)
	}
	p.env.Carries = func(seq uint64, row int) (carries, known bool) { return int(seq%418) == row, true }
	p.listRows()
	want := 0
	for _, r := range lab.Records() {
		if r.Seq%418 == 417 {
			want++
		}
	}
	if got := p.length(); got != want {
		t.Errorf("row == 417 lists %d packets, want %d", got, want)
	}
}

// TestRowFilterEnds checks that whatever ends a filter of rows also ends the computation of which rows packets carry.
func TestRowFilterEnds(t *testing.T) {
	number := uint64(7)
	press := func(key string) func(p *packets) room.Request {
		return func(p *packets) room.Request {
			list := p.Bindings()
			return room.FindBinding(list, labtest.KeyMsg(key)).Press(labtest.KeyMsg(key))
		}
	}
	for name, end := range map[string]func(p *packets) room.Request{
		"esc":        (*packets).Release,
		"/goto":      func(p *packets) room.Request { return order(t, p, room.PacketOrder{Number: &number}) },
		"/filter":    func(p *packets) room.Request { return order(t, p, room.PacketOrder{Filter: filter(t, "lost")}) },
		"x, explain": func(p *packets) room.Request { return p.ShowPacket(packetlog.ID{Seq: number}) },
		"f":          press("f"),
	} {
		p, _ := labtest.NewPaneStage[*packets](New(), labtest.NewPackets(), 160, 46)
		order(t, p, room.PacketOrder{Filter: filter(t, "row == 417")})
		if c := end(p).Command; c == nil || c.Carried == nil || *c.Carried {
			t.Errorf("%s requests %+v", name, c)
		}
	}
}

// TestExport checks an exported selection against the packets of the lab, with readers that are not ours.
func TestExport(t *testing.T) {
	lab := labtest.NewPackets()
	p, _ := labtest.NewPaneStage[*packets](New(), lab, 160, 46)
	order(t, p, room.PacketOrder{Filter: filter(t, "trouble")})
	var want []packetlog.Record
	arrived := 0
	for _, r := range lab.Records() {
		if packetfilter.InTrouble(&r) {
			want = append(want, r)
			if r.Arrived > 0 {
				arrived++
			}
		}
	}
	dir := t.TempDir()
	write := func(name string) []byte {
		r := order(t, p, room.PacketOrder{Export: filepath.Join(dir, name)})
		if msg := r.Program().(room.NoticeMsg); msg.IsError || !strings.Contains(msg.Text, strconv.Itoa(len(want))+" packets") {
			t.Fatal(msg)
		}
		if msg := r.Program().(room.NoticeMsg); !msg.IsError || !strings.Contains(msg.Text, "exists already") {
			t.Errorf("the file was replaced: %v", msg)
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	rows, err := csv.NewReader(bytes.NewReader(write("a.csv"))).ReadAll()
	if err != nil || len(rows) != len(want)+1 {
		t.Fatal(len(rows), err)
	}
	for i, r := range want {
		if rows[i+1][0] != strconv.FormatUint(r.Seq, 10) || rows[i+1][4] != r.Outcome.String() || rows[i+1][9] != strconv.Itoa(r.Payload) {
			t.Errorf("row %v, packet %+v", rows[i+1], r)
		}
	}
	capture, err := pcapgo.NewNgReader(bytes.NewReader(write("a.PcapNG")), pcapgo.DefaultNgReaderOptions)
	if err != nil {
		t.Fatal(err)
	}
	seen := [2]int{}
	for {
		data, info, err := capture.ReadPacketData()
		if err != nil {
			break
		}
		seen[info.InterfaceIndex]++
		packet := gopacket.NewPacket(data, layers.LayerTypeIPv4, gopacket.Default)
		if udp, ok := packet.Layer(layers.LayerTypeUDP).(*layers.UDP); !ok || int(udp.Length)+20 != info.Length || info.CaptureLength != 28 {
			t.Fatalf("%+v is no UDP datagram cut off after its headers: %v", info, packet)
		}
	}
	if seen != [2]int{len(want), arrived} {
		t.Errorf("%d datagrams at the interfaces, want %d and %d", seen, len(want), arrived)
	}
}
