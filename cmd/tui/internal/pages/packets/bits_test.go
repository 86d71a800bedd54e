package packets

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
)

// movedCubes are the cubes that the traced packet of newTraced changes.
var movedCubes = []int{3, 17, 417, 899}

// newTraced returns a packet of the given encoder, in which movedCubes changed since the initial state.
func newTraced(t testing.TB, encoder string) (*engine.Traced, *frame.Schema) {
	t.Helper()
	s := frame.Cubes(frame.WalkoffCubes)
	codec, err := table.ByName(encoder)
	if err != nil {
		t.Fatal(err)
	}
	encoding, err := endpoint.NewEncoding(s, codec, codec.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	initial := s.NewFrame()
	snd := endpoint.NewSender(s, initial, encoding, endpoint.Options{History: 16, KeepSent: true})
	f := s.NewFrame()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, i := range movedCubes {
		f.Table[i*frame.CubeFields+frame.CubeX] = rng.Int32N(60) + 1
		f.Table[i*frame.CubeFields+frame.CubeZ] = rng.Int32N(60) + 1
	}
	if _, err := snd.Send(0, f, nil); err != nil {
		t.Fatal(err)
	}
	ack := []byte{0, 0, 0, 0, 0, 0, 0}
	return &engine.Traced{Seq: 0, Packet: snd.Trace(0), Ack: ack, AckOf: endpoint.DescribeAck(ack)}, s
}

// newBitsStage returns page 3 with the view of bits of a traced packet.
func newBitsStage(t testing.TB, encoder string, w, h int) (*packets, *labtest.Stage, *engine.Traced) {
	t.Helper()
	traced, s := newTraced(t, encoder)
	lab := labtest.NewPackets()
	snap := *lab.Snap
	snap.Schema, snap.Traced = s, traced
	lab.Snap = &snap
	page := New()
	m := labtest.NewStage(page, lab, w, h)
	p := labtest.Pane[*packets](page)
	p.selectPacket(packetlog.ID{Seq: traced.Seq})
	m.Press("#")
	return p, m, traced
}

// The view shows exactly the bytes that were sent, and the bits of each byte beside its digits.
func TestBitsAreThoseOfTheDatagram(t *testing.T) {
	for _, encoder := range []string{"relative-orientation", "kinetic", "zstd", "quantized"} {
		for _, size := range [][2]int{{160, 48}, {120, 36}, {80, 24}, {60, 18}, {220, 60}} {
			t.Run(encoder+"/"+strconv.Itoa(size[0]), func(t *testing.T) {
				p, _, traced := newBitsStage(t, encoder, size[0], size[1])
				c := look.NewCanvas(size[0], 12_000) // all bytes
				p.bits.Draw(c, labtest.Theme(false), look.Unfocused)
				want := append(slices.Clone(traced.Packet.Datagram), traced.Ack...)
				packet := traced.Packet
				got := readBytes(t, c.Lines(labtest.Theme(false)), packet.Payload.Arithmetic, packet.HeaderBytes(), len(packet.Datagram))
				if !bytes.Equal(got, want) {
					t.Errorf("the view shows %d bytes, %x..., the packet has %d, %x...", len(got), got[:min(len(got), 16)], len(want), want[:16])
				}
			})
		}
	}
}

// readBytes reads the bytes from drawn lines, and checks the bits beside them. The bytes from from to below to have
// their highest bit first if arithmetic is set.
func readBytes(t *testing.T, lines []string, arithmetic bool, from, to int) (out []byte) {
	t.Helper()
	for _, line := range lines {
		words := strings.Fields(strings.Trim(line, "│ "))
		if len(words) < 3 || len(words)%2 == 0 {
			continue
		}
		n := (len(words) - 1) / 2
		if _, err := strconv.Atoi(words[0]); err != nil || len(words[1+n]) != 8 || strings.Trim(words[1+n], "01") != "" {
			continue
		}
		for i, digits := range words[1 : 1+n] {
			b, err := hex.DecodeString(digits)
			if err != nil {
				t.Fatalf("%q in %q", digits, line)
			}
			bits := []byte(words[1+n+i])
			if highFirst := arithmetic && len(out) >= from && len(out) < to; !highFirst {
				slices.Reverse(bits)
			}
			if v, err := strconv.ParseUint(string(bits), 2, 8); err != nil || byte(v) != b[0] {
				t.Fatalf("byte %d is %x, its bits are %q", len(out), b[0], words[1+n+i])
			}
			out = append(out, b...)
		}
	}
	return out
}

// The cursor moves by field, by row that changed and by byte; a row can be searched, and values and baselines of its
// fields are those of the frames.
func TestBitsCursor(t *testing.T) {
	p, m, traced := newBitsStage(t, "relative-position", 160, 48)
	b := p.bits
	row := func() int { return b.data.items[b.cursor].row }
	if row() != movedCubes[0] {
		t.Fatalf("the cursor begins at cube %d", row())
	}
	for _, want := range movedCubes[1:] {
		m.Press("down")
		if row() != want {
			t.Errorf("down moves to cube %d, want %d", row(), want)
		}
	}
	before := b.cursor
	if m.Press("right"); b.cursor != before+1 {
		t.Errorf("right moves from item %d to %d", before, b.cursor)
	}
	first, _ := b.data.items[b.cursor].bitRange()
	m.Press("[")
	if begin, end := b.data.items[b.cursor].bitRange(); begin > 8*(first/8-1) || end <= 8*(first/8-1) {
		t.Errorf("[ moves from bit %d to bits %d to %d", first, begin, end)
	}
	if _, err := p.FindRow(417); err != nil || row() != 417 {
		t.Errorf("/find 417 moves to cube %d, error %v", row(), err)
	}
	m.Tick(true)
	if x := strconv.Itoa(int(traced.Packet.Frame.Table[417*frame.CubeFields+frame.CubeX])); !strings.Contains(m.View(), x+" (") || !strings.Contains(m.View(), "cube 417") {
		t.Errorf("cube 417 with x %s is not shown in\n%s", x, m.View())
	}
	for _, missing := range []int{5, 901, -1} {
		if _, err := p.FindRow(missing); err == nil {
			t.Errorf("row %d was found", missing)
		}
	}
	if m.Press("esc"); b.on || !p.hasSelection {
		t.Error("esc did not return to the list")
	}
}

// Flipped bits are named by their place in the order of the packet, and the first one is selected first.
func TestFlippedBitsAreNamed(t *testing.T) {
	traced, s := newTraced(t, "kinetic") // an arithmetic coder, which writes the highest bit of a byte first
	d := newBitData(traced, s)
	d.addFlips([]int{8*traced.Packet.HeaderBytes() + 1, 2})
	if got := d.flips(); !strings.HasPrefix(got, "2 bits flipped on the way: header bit 2 (sequence), payload bit 6 (") || d.firstItem() != 0 {
		t.Errorf("%s; item %d is first", got, d.firstItem())
	}
}

// The length of the list of rows is the number of rows that changed, and a blank is between the labels of a flag and of
// the length.
func TestLengthOfTheList(t *testing.T) {
	p, m, _ := newBitsStage(t, "relative-index", 160, 48)
	d := p.bits.data
	length := &d.items[d.sections[sectionPayload].first+1]
	changed := map[int]bool{}
	for i := range d.items {
		if item := &d.items[i]; item.row != encoders.NoRow && !d.isUnchanged(item) {
			changed[item.row] = true
		}
	}
	if value, _, _ := d.values(length); value != fmt.Sprint(len(changed), " cubes") || !strings.Contains(m.View(), " f index ") {
		t.Errorf("the length is %q, %d cubes changed:\n%s", value, len(changed), m.View())
	}
}

// A packet without bits is explained, and the command names the selected packet.
func TestBitsOfMissingPacket(t *testing.T) {
	lab := labtest.NewPackets()
	p, m := labtest.NewPaneStage[*packets](New(), lab, 160, 48)
	m.Press("up", "#")
	got := lab.Got[len(lab.Got)-1]
	if got.Trace == nil || *got.Trace != p.selected.Seq || got.Open == nil {
		t.Fatalf("# sends %+v", got)
	}
	snap := *lab.Snap
	snap.Traced = &engine.Traced{Seq: p.selected.Seq}
	lab.Snap = &snap
	if m.Tick(true); !strings.Contains(m.View(), "This packet was not sent.") {
		t.Error(m.View())
	}
}

// The line of the cursor is visible wherever it is, with the lines around it, and no rows are empty while lines above are
// hidden.
func TestBitsScroll(t *testing.T) {
	for _, encoder := range []string{"quantized", "relative-position"} { // many lines, few lines
		p, m, _ := newBitsStage(t, encoder, 120, 36)
		b := p.bits
		for _, rows := range []int{room.ListEnd, -1, -1, -room.ListEnd, 1, 3, room.ListEnd} {
			m.Move(0, rows)
			lines := strings.Split(m.View(), "\n")
			top := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "Bits of packet") })
			h := slices.IndexFunc(lines[top:], func(line string) bool { return strings.HasPrefix(line, "╰") }) - 2 // frame and shares
			first, _ := b.data.items[b.cursor].bitRange()
			end := b.endOfVisible(b.top, h)
			cursor := slices.IndexFunc(b.lines, func(l bitLine) bool {
				return l.section == b.data.items[b.cursor].section && l.n > 0 && first/8 >= l.first && first/8 < l.first+l.n
			})
			if cursor < b.top || cursor >= end || cursor > 0 && cursor == b.top || end < len(b.lines) && cursor == end-1 {
				t.Errorf("%s, %d rows down: the cursor is on line %d, lines %d to %d of %d are visible", encoder, rows, cursor, b.top, end-1, len(b.lines))
			}
			if b.top > 0 && b.endOfVisible(b.top-1, h) == len(b.lines) {
				t.Errorf("%s, %d rows down: line %d is hidden, but there is room", encoder, rows, b.top-1)
			}
		}
	}
}

// An enum has its word, and a word that the schema does not name has its number.
func TestCellsHaveWords(t *testing.T) {
	f := &frame.Field{Kind: frame.Enum, Max: 2, Values: []string{"idle", "driving"}}
	for v, want := range []string{"idle", "driving", "2"} {
		if got := formatCell(f, int32(v)); got != want {
			t.Errorf("value %d is %q, want %q", v, got, want)
		}
	}
}

// BenchmarkBits draws the view of bits of a packet with 2,000 symbols.
func BenchmarkBits(b *testing.B) {
	traced, s := newTraced(b, "kinetic")
	pane := &bitPane{data: newBitData(traced, s), schema: s}
	row, th := &rowPane{bits: pane}, labtest.Theme(false)
	b.ReportAllocs()
	for b.Loop() {
		for _, p := range []room.Pane{pane, row} {
			c := look.NewCanvas(107, 32)
			p.Draw(c, th, look.Focused)
			_ = c.Lines(th)
		}
	}
}
