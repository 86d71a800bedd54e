package quake3

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"wirelab/dataset/frame"
	"wirelab/dataset/quake3/netcode"
	"wirelab/dataset/source"
	"wirelab/internal/testkit"
)

// maker writes demos in the format of the game.
type maker struct {
	demo     []byte
	fields   []netcode.Field
	w        netcode.Writer
	spent    [256]int
	sequence int
	info     string // the server's description of itself
}

// begin starts a message; end completes it.
func (m *maker) begin() {
	m.w.Reset(nil)
	m.w.Bits(7, 32) // acknowledges
	m.sequence++
}

func (m *maker) end() {
	m.w.Bits(opEnd, 8)
	body := append(m.w.Bytes(), 0)
	m.demo = binary.LittleEndian.AppendUint32(m.demo, uint32(m.sequence))
	m.demo = binary.LittleEndian.AppendUint32(m.demo, uint32(len(body)))
	m.demo = append(m.demo, body...)
}

func (m *maker) close() []byte { return append(m.demo, bytes.Repeat([]byte{255}, 8)...) }

func (m *maker) text(s string) {
	for _, c := range []byte(s + "\x00") {
		m.w.Bits(uint32(c), 8)
	}
}

// row holds the fields of an entity by name.
type row map[string]int32

func (m *maker) values(r row) []int32 {
	out := make([]int32, len(m.fields))
	for i, f := range m.fields {
		out[i] = r[f.Name]
	}
	return out
}

func (m *maker) entity(number int, base, now row) {
	m.w.Bits(uint32(number), 10)
	m.w.Flag(now == nil)
	if now != nil {
		m.w.State(m.fields, m.values(base), m.values(now), m.spent[:])
	}
}

// state writes a game state with baselines.
func (m *maker) state(baselines map[int]row) {
	m.w.Bits(opGameState, 8)
	m.w.Bits(3, 32)
	if m.info != "" {
		m.w.Bits(opConfigString, 8)
		m.w.Bits(serverInfo, 16)
		m.text(m.info)
	}
	m.w.Bits(opConfigString, 8)
	m.w.Bits(1, 16)
	m.text(`\sv_maxclients\8`)
	for n := range 1023 { // in order
		if b, ok := baselines[n]; ok {
			m.w.Bits(opBaseline, 8)
			m.entity(n, nil, b)
		}
	}
	m.w.Bits(opEnd, 8)
	m.w.Bits(0, 32)
	m.w.Bits(1234, 32)
}

// snapshot writes the start of a snapshot. The caller writes entities and the number 1023 after it.
func (m *maker) snapshot(time, back int, base, player [netcode.PlayerValues]int32) {
	m.w.Bits(opSnapshot, 8)
	m.w.Bits(uint32(time), 32)
	m.w.Bits(uint32(back), 8)
	m.w.Bits(4, 8)
	m.w.Bits(2, 8)
	m.w.Bits(0xffff, 16)
	m.w.Player(base[:], player[:], m.spent[:])
}

const float1000 = 0x447a0000 // 1000 as a float

// small returns a demo of four snapshots in which entities appear, change, stay and are removed. wants
// are the entities of each snapshot by number.
func small(protocol int) (demo []byte, wants []map[int]row, rest *maker) {
	m := &maker{fields: netcode.EntityFields(protocol)}
	item := row{"eType": 2, "origin[0]": float1000, "modelindex": 9}
	gone := row{"eType": 4}
	m.begin()
	m.state(map[int]row{64: item, 70: gone})
	m.end()

	var none, p, q [netcode.PlayerValues]int32
	p[0], p[1], p[netcode.PlayerValues-1] = 1000, float1000, 1<<30
	m.begin()
	m.w.Bits(opServerCommand, 8)
	m.w.Bits(1, 32)
	m.text("print hello")
	m.snapshot(1000, 0, none, p)
	walker := row{"eType": 1, "pos.trBase[0]": 0x3dcccccd, "pos.trTime": 990, "pos_gravity": -800}
	m.entity(3, nil, walker)
	m.entity(64, item, item)
	m.w.Bits(1023, 10)
	m.end()
	wants = append(wants, map[int]row{3: walker, 64: item})

	q = p
	q[0], q[8], q[60] = 1050, -7, -1
	m.begin()
	m.snapshot(1050, 1, p, q)
	ran := row{"eType": 1, "pos.trBase[0]": float1000, "pos.trTime": 990, "pos_gravity": -800, "time2": -5, "eFlags": 1<<19 - 1}
	m.entity(3, walker, ran)
	m.entity(5, nil, row{"eType": 3})
	m.w.Bits(1023, 10)
	m.end()
	wants = append(wants, map[int]row{3: ran, 5: {"eType": 3}, 64: item})

	m.begin() // two back: 5 is not there
	m.snapshot(1100, 2, p, q)
	m.entity(3, walker, nil)
	m.w.Bits(1023, 10)
	m.w.Bits(opVoice, 8)
	m.w.Bits(0, 8)
	m.end()
	wants = append(wants, map[int]row{64: item})

	m.begin()
	m.snapshot(1150, 1, q, q)
	m.entity(64, item, nil)
	m.entity(70, gone, gone)
	m.w.Bits(1023, 10)
	m.end()
	wants = append(wants, map[int]row{70: gone})
	return slices.Clone(m.close()), wants, m
}

func open(t testing.TB, data []byte, protocol int, loop bool) *matchSource {
	t.Helper()
	s, err := newSource(data, protocol, 0, loop)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A demo built by hand yields the snapshots that it was built from.
func TestHandmadeDemo(t *testing.T) {
	for _, protocol := range []int{66, 71, netcode.QuakeLive} {
		data, wants, m := small(protocol)
		s := open(t, data, protocol, true)
		if s.Frames() != len(wants) || s.Schema().Rows != 72 || s.Schema().TickHz != 20 {
			t.Fatalf("%d frames of %d rows at %d Hz", s.Frames(), s.Schema().Rows, s.Schema().TickHz)
		}
		l := s.layout
		f := s.Schema().NewFrame()
		s.Initial(f)
		item := f.Table[64*l.Columns:]
		if item[netcode.PresentColumn] != 0 || !slices.Equal(item[netcode.FirstFieldColumn:][:len(m.fields)], m.values(wants[0][64])) {
			t.Errorf("initially, 64 is %v", item[:l.Time])
		}
		for n := range 3 * len(wants) {
			if err := s.Next(f); err != nil {
				t.Fatal(err)
			}
			want := wants[n%len(wants)]
			for number := range l.Rows {
				row := f.Table[number*l.Columns:][:l.Columns]
				values := make([]int32, l.Columns)
				if e, ok := want[number]; ok {
					values[netcode.PresentColumn] = 1
					copy(values[netcode.FirstFieldColumn:], m.values(e))
				}
				if !slices.Equal(row, values) {
					t.Errorf("frame %d, entity %d is %v, expected %v", n, number, row[:l.Time], values[:l.Time])
				}
			}
			player := f.Table[l.Rows*l.Columns:]
			if time := int32(1000 + 50*(n%len(wants))); player[l.Time] != time || player[l.Player] != min(time, 1050) || f.Tick != uint32(n) {
				t.Errorf("frame %d: tick %d, time %d, command time %d", n, f.Tick, player[l.Time], player[l.Player])
			}
			if base := []int{0, 1, 2, 1}[n%4]; s.AtLoopPoint() != (n > 0 && n%4 == 0) || s.Price().Base != base || s.Price().Bits < 20 {
				t.Errorf("frame %d: loop point %v, price %+v", n, s.AtLoopPoint(), s.Price())
			}
		}
	}
}

// A demo truncated at any byte is read up to there. Without a complete snapshot it is an error.
func TestTruncatedDemo(t *testing.T) {
	data, wants, _ := small(71)
	for n := range data {
		s, err := newSource(data[:n], 71, 0, false)
		if err != nil {
			if own := (*source.Error)(nil); !errors.As(err, &own) || n > 150 {
				t.Fatalf("%d bytes: %v", n, err)
			}
			continue
		}
		if cut := strings.Contains(fmt.Sprint(s.Remarks()), "ends early, after message"); !cut && n < len(data)-8 {
			t.Errorf("%d bytes: %d frames, %q", n, s.Frames(), s.Remarks())
		}
		play(t, s, len(wants))
	}
}

// play reads all frames of a source and checks them.
func play(t testing.TB, s *matchSource, most int) {
	t.Helper()
	f, last := s.Schema().NewFrame(), s.Schema().NewFrame()
	s.Initial(last)
	rows := frame.NewRows(s.Schema().Rows)
	for n := range s.Frames() {
		if err := s.Next(f); err != nil {
			t.Fatalf("frame %d: %v", n, err)
		}
		if err := s.Schema().Check(f); err != nil {
			t.Fatalf("frame %d: %v", n, err)
		}
		if rows.SetDiffering(f.Table, last.Table, len(s.Schema().Fields)); !slices.Equal(rows, s.Changed()) {
			t.Fatalf("frame %d: other rows differ than those in Changed", n)
		}
		last.CopyFrom(f)
	}
	if err := s.Next(f); err != io.EOF || s.Frames() == 0 || most > 0 && s.Frames() > most {
		t.Fatalf("after %d frames: %v", s.Frames(), err)
	}
}

// Remarks locate the damage, and the snapshots before it are read.
func TestDamagedDemo(t *testing.T) {
	for _, c := range []struct {
		wantText string
		do       func(m *maker)
	}{
		{"message 6 at byte ", func(m *maker) { m.w.Bits(77, 8) }},
		{"unknown command 77", func(m *maker) { m.w.Bits(77, 8) }},
		{"entity 9 follows entity 9", func(m *maker) {
			m.snapshot(1200, 1, [netcode.PlayerValues]int32{}, [netcode.PlayerValues]int32{})
			m.entity(9, nil, row{})
			m.entity(9, nil, row{})
		}},
		{"a second snapshot", func(m *maker) {
			for range 2 {
				m.snapshot(1200, 1, [netcode.PlayerValues]int32{}, [netcode.PlayerValues]int32{})
				m.w.Bits(1023, 10)
			}
		}},
		{"more fields than an entity", func(m *maker) {
			m.snapshot(1200, 1, [netcode.PlayerValues]int32{}, [netcode.PlayerValues]int32{})
			m.w.Bits(9, 10)
			m.w.Bits(2, 2)
			m.w.Bits(52, 8)
		}},
		{"unknown item 9", func(m *maker) { m.w.Bits(opGameState, 8); m.w.Bits(0, 32); m.w.Bits(9, 8) }},
		{"an area mask of 33 bytes", func(m *maker) {
			m.w.Bits(opSnapshot, 8)
			m.w.Bits(0, 32)
			m.w.Bits(0, 16)
			m.w.Bits(33, 8)
		}},
		{"message number 6 follows number 6", func(m *maker) { m.end(); m.sequence--; m.begin() }},
		{"ends early", func(m *maker) { m.w.Bits(opServerCommand, 8) }},
		{"1 snapshots left out", func(m *maker) {
			m.snapshot(1200, 31, [netcode.PlayerValues]int32{}, [netcode.PlayerValues]int32{})
			m.w.Bits(1023, 10)
		}},
		{"2 game states", func(m *maker) { m.state(nil) }},
	} {
		_, wants, m := small(71)
		m.begin()
		c.do(m)
		m.end()
		s := open(t, m.close(), 71, false)
		if text := strings.Join(s.Remarks(), "; "); !strings.Contains(text, c.wantText) || s.Frames() != len(wants) {
			t.Errorf("%d frames, %q; expected %d and %q", s.Frames(), text, len(wants), c.wantText)
		}
		play(t, s, len(wants))
	}
	for _, data := range []string{"", "TWDEMO\x00\x04 and so on, as others have it", strings.Repeat("\xff", 8)} {
		if _, err := newSource([]byte(data), 71, 0, false); !errors.As(err, new(*source.Error)) {
			t.Errorf("%q: %v", data, err)
		}
	}
}

// Flipped bits cause no panic and no frames outside of the schema.
func TestFlippedBits(t *testing.T) {
	data, _, _ := small(71)
	step := 11
	if testkit.Thorough() {
		step = 1
	}
	for at := 0; at < 8*len(data); at += step {
		bad := bytes.Clone(data)
		bad[at/8] ^= 1 << (at & 7)
		if s, err := newSource(bad, 71, 0, false); err == nil {
			play(t, s, 4)
		} else if !errors.As(err, new(*source.Error)) {
			t.Fatal(err)
		}
	}
}

// The protocol follows from the name, and the file may be compressed.
func TestOpen(t *testing.T) {
	data, wants, _ := small(netcode.QuakeLive)
	var packed bytes.Buffer
	z, _ := zstd.NewWriter(&packed)
	_, _ = z.Write(data)
	_ = z.Close()
	dir, x := t.TempDir(), []byte("x")
	for name, content := range map[string][]byte{"a.dm_73": data, "b.dm_73.zst": packed.Bytes(), "c,d.dm_73": data, "g,h=i.dm_73": data,
		"a.dm_43": x, "a.dm_48": x, "a.dm_90": x, "a.dm_91": x, "a.dm_72": x, "a.demo": x, "e.dm_73": x, "f.dm_73.zst": data} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ arg, wantText string }{
		{"a.dm_73", ""}, {"b.dm_73.zst", ""}, {"c,d.dm_73", ""}, {"a.dm_73,rows=1023", ""}, {"a.dm_73,rows=71", ""},
		{"a.dm_73,rows=70", "contains entity 70; expected rows=71 or more"}, {"a.dm_73,rows=1024", "expected rows=N, with 1 to 1023 rows"},
		{"a.dm_43", "Quake III 1.11"}, {"a.dm_48", "Quake III 1.27"}, {"a.dm_90", "Quake Live since 2014"}, {"a.dm_91", "Quake Live since 2015"},
		{"a.dm_72", `protocol "72" is not supported; expected`}, {"a.demo", "no protocol in the name; expected a demo whose name ends in .dm_66"},
		{"none.dm_71", "no such file; expected a demo"}, {"none", "no such file; expected a demo"}, {"a.dm_73,row=5", "option \"row=5\" is not valid; expected rows=N"},
		{"a.dm_73,rows=1,rows=2", "no such file"}, {"g,h=i.dm_73", ""},
		{"e.dm_73", "contains no snapshot"}, {"f.dm_73.zst", "promises zstd"},
	} {
		src, err := Kind.Open(t.Context(), filepath.Join(dir, c.arg), source.Options{})
		if err != nil {
			if c.wantText == "" || !strings.Contains(err.Error(), c.wantText) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", c.arg, err)
			}
			continue
		}
		if c.wantText != "" {
			t.Errorf("%s: opened, expected %q", c.arg, c.wantText)
		}
		play(t, src.(*matchSource), len(wants))
	}
}

// shortDemo writes a state and a snapshot without entities.
func (m *maker) shortDemo() {
	m.begin()
	m.state(nil)
	m.end()
	m.begin()
	m.snapshot(1000, 0, [netcode.PlayerValues]int32{}, [netcode.PlayerValues]int32{})
	m.w.Bits(netcode.MaxEntities, 10)
	m.end()
}

// At most maxFrames snapshots are read, with a remark.
func TestMaxFrames(t *testing.T) {
	m := &maker{fields: netcode.EntityFields(71)}
	m.begin()
	m.state(nil)
	m.end()
	at := len(m.demo)
	m.begin()
	m.snapshot(1000, 0, [netcode.PlayerValues]int32{}, [netcode.PlayerValues]int32{})
	m.w.Bits(netcode.MaxEntities, 10)
	m.end()
	message := bytes.Clone(m.demo[at:])
	for range maxFrames {
		m.sequence++
		binary.LittleEndian.PutUint32(message, uint32(m.sequence))
		m.demo = append(m.demo, message...)
	}
	s := open(t, m.close(), 71, false)
	if text := strings.Join(s.Remarks(), "; "); s.Frames() != maxFrames || !strings.Contains(text, "only the first 1048576 snapshots were read") {
		t.Fatalf("%d frames, %q", s.Frames(), text)
	}
	if testkit.Thorough() {
		play(t, s, maxFrames)
	}
}

// A name with another protocol than the server's is an error if the protocols have different fields,
// otherwise a remark.
func TestProtocolMismatch(t *testing.T) {
	for _, c := range []struct {
		named          int
		info, wantText string
		refused        bool
	}{
		{71, `\sv_hostname\x\protocol\71`, "", false},
		{71, `\com_protocol\71\mapname\x`, "", false},
		{71, `\protocol`, "", false},
		{71, `\protocol\seventy`, "", false},
		{71, `\mapname\protocol\x\73`, "", false},
		{68, `\com_protocol\71`, "the name has protocol 68, the server used 71; the demo is read as protocol 68", false},
		{71, `\protocol\73`, "the server used 73, which has other fields; expected a name that ends in .dm_73", true},
		{73, `\protocol\68`, "the server used 68, which has other fields; expected a name that ends in .dm_68", true},
		{68, `\protocol\43`, "the server used 43, which has other fields", true},
	} {
		m := &maker{fields: netcode.EntityFields(71), info: c.info}
		m.shortDemo()
		s, err := newSource(m.close(), c.named, 64, false)
		text := fmt.Sprint(err)
		if err == nil {
			text = strings.Join(s.Remarks(), "; ")
		}
		if errors.Is(err, errProtocol) != c.refused || (err == nil) == c.refused || c.wantText == "" && text != "" || !strings.Contains(text, c.wantText) {
			t.Errorf("%d, %s: %q, expected %q", c.named, c.info, text, c.wantText)
		}
	}
}

// A demo is recognised by its first message. Without a protocol in its name it has that of the server.
func TestDemoWithoutName(t *testing.T) {
	for info, wantErr := range map[string]string{`\protocol\71`: "", `\protocol\91`: "Quake Live since 2015", `\mapname\x`: "no protocol in the name"} {
		m := &maker{fields: netcode.EntityFields(71), info: info}
		m.shortDemo()
		path := filepath.Join(t.TempDir(), "match")
		if err := os.WriteFile(path, m.close(), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := openFile(t.Context(), path, 0, false)
		if !IsDemo(path, m.demo) || (err == nil) != (wantErr == "") || err != nil && !strings.Contains(err.Error(), wantErr) {
			t.Errorf("%s: recognised %t, %v; want %q", info, IsDemo(path, m.demo), err, wantErr)
		}
	}
	for _, head := range []string{"", "text", strings.Repeat("\x00\x00\x00\x00\xff\x01\x00\x00", 20)} {
		if IsDemo("x", []byte(head)) {
			t.Errorf("%q is recognised as a demo", head)
		}
	}
	if !IsDemo("x.dm_91.gz", nil) {
		t.Error("a demo is not recognised by its name")
	}
}

// FuzzDemo plays arbitrary bytes as a demo and checks that all frames are within the schema.
func FuzzDemo(f *testing.F) {
	for _, protocol := range []int{71, netcode.QuakeLive} {
		data, _, _ := small(protocol)
		f.Add(data, protocol == 71)
	}
	f.Fuzz(func(t *testing.T, data []byte, old bool) {
		protocol := netcode.QuakeLive
		if old {
			protocol = 71
		}
		s, err := newSource(data, protocol, 0, false)
		if err == nil {
			play(t, s, 0)
		} else if !errors.As(err, new(*source.Error)) {
			t.Fatal(err)
		}
	})
}
