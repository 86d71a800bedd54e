package teeworlds

import (
	"io"
	"iter"
	"slices"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/dataset/teeworlds/protocol"
	"wirelab/internal/testkit"
)

// Every frame holds exactly the items that the reference files (written by the game's own code) list,
// and Changed contains all rows that changed.
func TestFramesMatchReference(t *testing.T) {
	for _, name := range []string{"tw-ctf2", "tw-dm1"} {
		t.Run(name, func(t *testing.T) {
			s, err := open(t.Context(), testkit.DataFile(t, "games/"+name+".demo"), source.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if s.demo.err != nil || len(s.Remarks()) != 1 {
				t.Errorf("remarks: %q", s.Remarks())
			}
			if s.Schema().TickHz != 25 {
				t.Errorf("%d Hz, want 25", s.Schema().TickHz)
			}
			compare(t, s, name)
		})
	}
}

// compare compares the frames of s with the reference files.
func compare(t *testing.T, s *matchSource, name string) {
	frames := 300
	if testkit.Thorough() {
		frames = 1 << 30
	}
	f, want, before := &frame.Frame{}, s.Schema().NewFrame(), &frame.Frame{}
	s.Initial(before)
	n := len(s.Schema().Fields)
	pull, stop := iter.Pull(testkit.CSVRows(t, "games/"+name+".items.csv.zst"))
	defer stop()
	item, more := pull()
	kinds := []string{kindTick: "none", kindFull: "key", kindDelta: "delta"}
	count := 0
	for c := range testkit.CSVRows(t, "games/"+name+".snapshots.csv.zst") {
		if count == frames {
			return
		}
		tick := &s.demo.ticks[count]
		if kinds[tick.kind] != c[1] || len(tick.payload) != testkit.ParseInt(t, c[2]) {
			t.Fatalf("frame %d: a %s of %d bytes, want %s of %s", count, kinds[tick.kind], len(tick.payload), c[1], c[2])
		}
		if err := s.Next(f); err != nil {
			t.Fatal(err)
		}
		if c[1] != "none" {
			clear(want.Table)
		}
		for ; more && item[0] == c[0]; item, more = pull() {
			put(t, s.layout, want, item)
		}
		want.Table[s.layout.TickCell] = int32(testkit.ParseInt(t, c[0]))
		if !f.Equal(want) {
			t.Fatalf("frame %d, tick %s: differs in %d rows", count, c[0], f.ChangedRows(want, n))
		}
		if err := s.Schema().Check(f); err != nil {
			t.Fatal(err)
		}
		changed := frame.NewRows(s.Schema().Rows)
		changed.SetDiffering(f.Table, before.Table, n)
		for row := range changed.All() {
			if !s.Changed().Has(row) {
				t.Fatalf("frame %d: row %d changed but is not in Changed", count, row)
			}
		}
		if p := s.Price(); p.Bits != 8*testkit.ParseInt(t, c[2]) || p.Key != (c[1] == "key") || p.Base != min(count, 1) {
			t.Fatalf("frame %d: price %+v of a %s of %s bytes", count, p, c[1], c[2])
		}
		before.CopyFrom(f)
		count++
	}
	if err := s.Next(f); err != io.EOF || count != s.Frames() {
		t.Errorf("%d frames of %d, then %v", count, s.Frames(), err)
	}
}

// put writes an item of a reference file (tick, type, id, values) into a frame.
func put(t *testing.T, l *protocol.Layout, f *frame.Frame, c []string) {
	t.Helper()
	var values []int32
	for _, v := range strings.Fields(c[3]) {
		values = append(values, int32(testkit.ParseInt(t, v)))
	}
	part, row, ok := l.Find(protocol.NewKey(testkit.ParseInt(t, c[1]), testkit.ParseInt(t, c[2])), len(values))
	if !ok {
		t.Fatalf("no row for %v", c)
	}
	cells := l.Row(f.Table, row)
	for i, at := range part.Columns {
		cells[at] = values[i]
	}
	cells[part.Present] = 1
}

// The Huffman code equals that of the game.
func TestHuffman(t *testing.T) {
	lines := slices.Collect(testkit.CSVRows(t, "games/tw-huffman-codes.csv"))
	if len(lines) != protocol.EndSymbol+1 {
		t.Fatalf("%d code words", len(lines))
	}
	for _, c := range lines {
		w := protocol.Huffman().Words[testkit.ParseInt(t, c[0])]
		var got strings.Builder
		for i := range w.Len {
			got.WriteByte('0' + byte(w.Bits>>i&1))
		}
		if got.String() != c[2] {
			t.Errorf("symbol %s: %s, want %s", c[0], got.String(), c[2])
		}
	}
}

// The types of items have the sizes and value names of the game.
func TestItemTypes(t *testing.T) {
	for c := range testkit.CSVRows(t, "games/tw-items.csv") {
		size, fixed := protocol.FixedSize(testkit.ParseInt(t, c[0]))
		if fixed != (c[2] != "-") || fixed && size != testkit.ParseInt(t, c[2]) {
			t.Errorf("type %s: size %d, fixed: %v, want %s", c[0], size, fixed, c[2])
		}
		if !fixed {
			size = len(strings.Fields(c[3]))
		}
		var g protocol.Groups
		if err := g.Add(protocol.Item{Key: protocol.NewKey(testkit.ParseInt(t, c[0]), 0), Values: make([]int32, size)}); err != nil {
			t.Fatal(err)
		}
		l, err := protocol.NewLayout(g.Schema(25))
		if err != nil || len(l.Parts) != 1 {
			t.Fatalf("%s: %d parts, %v", c[1], len(l.Parts), err)
		}
		names := strings.Replace(c[3], "[6][6]", "[36]", 1)
		var want, got []string
		for _, name := range strings.Fields(names) {
			base, n, _ := strings.Cut(name, "[")
			times := 1
			if n != "" {
				times = testkit.ParseInt(t, strings.TrimSuffix(n, "]"))
			}
			want = append(want, slices.Repeat([]string{base}, times)...)
		}
		for _, at := range l.Parts[0].Columns {
			name, _, _ := strings.Cut(l.Schema.Fields[at].Name, "[")
			name = name[strings.LastIndexByte(name, '.')+1:]
			if name == "Which" {
				name = map[string]string{"Flag": "Team", "Death": "ClientID", "SoundWorld": "SoundID", "Damage": "ClientID"}[c[1]]
				if name == "" {
					name = "Type"
				}
			}
			got = append(got, name)
		}
		if !slices.Equal(got, want) || l.Schema.Parts[1].Name != c[1] {
			t.Errorf("%s of %v, want %s of %v", l.Schema.Parts[1].Name, got, c[1], want)
		}
	}
}
