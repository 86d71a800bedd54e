package netcode

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"wirelab/internal/testkit"
)

// The Huffman code equals the reference from the engine's own code.
func TestCode(t *testing.T) {
	for s, row := range slices.Collect(testkit.CSVRows(t, "games/q3-huffman-codes.csv")) {
		size, text := int(codeWords[s]&15), ""
		for i := range size {
			text += strconv.Itoa(int(codeWords[s] >> (4 + i) & 1))
		}
		if got := []string{strconv.Itoa(s), strconv.Itoa(weights[s]), strconv.Itoa(size), text}; fmt.Sprint(got) != fmt.Sprint(row) {
			t.Errorf("word %v, expected %v", got, row)
		}
	}
}

// No code word is a prefix of another, and one word of 11 bits is unused (that of bytes that have not
// occurred).
func TestCodeIsAPrefixCode(t *testing.T) {
	missing := 0
	for _, s := range decodingTable() {
		if s == 0 {
			missing++
		}
	}
	if missing != 1 {
		t.Errorf("%d of %d beginnings are no word, expected 1", missing, 1<<maxWordBits)
	}
}

// The fields equal the reference from the engine's own code.
func TestFields(t *testing.T) {
	lists := map[string][]Field{"entity": EntityFields(71), "player": playerFields[:]}
	n := 0
	for row := range testkit.CSVRows(t, "games/q3-netfields.csv") {
		order, _ := strconv.Atoi(row[1])
		if f := lists[row[0]][order]; f.Name != row[2] || strconv.Itoa(f.Bits) != row[3] {
			t.Errorf("%s field %d is %v, expected %v", row[0], order, f, row)
		}
		n++
	}
	if n != len(entityFields)+len(playerFields) {
		t.Errorf("%d fields, the table has %d", len(entityFields)+len(playerFields), n)
	}
	live := EntityFields(QuakeLive)
	if len(live) != 53 || live[9].Name != "pos_gravity" || live[46].Name != "apos_gravity" || live[45].Name != "apos.trDelta[2]" {
		t.Errorf("Quake Live: %v", live)
	}
}

// anyState fills a row with random values in the ranges of their fields, many of them unchanged.
func anyState(rng *rand.Rand, fields []Field, row []int32) {
	for i, f := range fields {
		switch rng.IntN(6) {
		case 0:
			row[i] = 0
		case 1:
			var r Reader
			var w Writer
			w.Reset(nil)
			w.Bits(rng.Uint32(), max(f.Bits, -f.Bits))
			r.Reset(w.Bytes())
			row[i] = r.Signed(f.Bits)
			if f.Bits == 0 {
				row[i] = int32(math.Float32bits(float32(rng.IntN(20000) - 10000)))
			}
		case 2:
			if f.Bits == 0 {
				row[i] = int32(rng.Uint32()) // NaN, -0.0, whatever
			}
		}
	}
}

// Written deltas are read back, and the bits spent on fields add up to the total.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 18))
	player := append([]Field(nil), playerFields[:]...)
	for a := range arrayNames {
		for range arraySize {
			player = append(player, Field{"", arrayBits[a]})
		}
	}
	for _, protocol := range []int{71, QuakeLive} {
		fields := EntityFields(protocol)
		base, row := make([]int32, len(fields)), make([]int32, len(fields))
		pbase, prow := make([]int32, PlayerValues), make([]int32, PlayerValues)
		for range 2000 {
			copy(base, row)
			copy(pbase, prow)
			anyState(rng, fields, row)
			if rng.IntN(3) > 0 {
				anyState(rng, player, prow)
			}
			var w Writer
			w.Reset([]byte("x"))
			spent, pspent := make([]int, len(fields)), make([]int, PlayerValues)
			w.State(fields, base, row, spent)
			w.Player(pbase, prow, pspent)
			n := w.Len()
			var r Reader
			r.Reset(w.Bytes()[1:])
			r.State(fields, base)
			r.Player(pbase)
			if fmt.Sprint(base) != fmt.Sprint(row) || fmt.Sprint(pbase) != fmt.Sprint(prow) || r.Err() != nil || r.Pos() != n {
				t.Fatalf("read %v %v\nexpected %v %v\nat bit %d of %d, error %v", base, pbase, row, prow, r.Pos(), n, r.Err())
			}
			sum := 0
			for _, b := range append(spent, pspent...) {
				sum += b
			}
			if sum > n || n-sum > 1+11+11+1+4*(1+22) {
				t.Fatalf("fields took %d of %d bits", sum, n)
			}
		}
	}
}

// A Reader of arbitrary bytes ends, and keeps its first error.
func TestHostile(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 18))
	fields := EntityFields(71)
	for range 3000 {
		src := make([]byte, rng.IntN(40))
		for i := range src {
			src[i] = byte(rng.Uint32())
		}
		var r Reader
		r.Reset(src)
		r.SkipString()
		for r.Err() == nil {
			r.State(fields, make([]int32, len(fields)))
			r.Player(make([]int32, PlayerValues))
		}
		first := r.Err()
		if r.Bits(32) != 0 || r.Err() != first || r.Pos() > 8*len(src) {
			t.Fatalf("after %v: %v at bit %d of %d", first, r.Err(), r.Pos(), 8*len(src))
		}
	}
}

// LayoutFromSchema recognises the schema with any hints, and no other schema.
func TestLayout(t *testing.T) {
	for _, protocol := range []int{68, QuakeLive} {
		l := NewLayout(protocol, 7)
		s := l.Schema(20)
		for i := range s.Fields {
			s.Fields[i].Hint.Role = 0
		}
		got, ok := LayoutFromSchema(s)
		if !ok || fmt.Sprint(got) != fmt.Sprint(l) {
			t.Errorf("protocol %d: %v, %v; expected %v", protocol, got, ok, l)
		}
		s.Fields[4].Max++
		if _, ok := LayoutFromSchema(s); ok && s.Fields[4].Kind.Bounded() {
			t.Error("another range is taken for the game's")
		}
		s.Fields[4].Kind = 0
		if _, ok := LayoutFromSchema(s); ok {
			t.Error("another kind is taken for the game's")
		}
	}
}
func BenchmarkCode(b *testing.B) {
	for b.Loop() {
		var t tree
		t.grow()
	}
}
