package quake3

import (
	"io"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/quake3"
	"wirelab/dataset/source"
	"wirelab/encoders"
	"wirelab/internal/testkit"
)

// readGameSizes returns the bits that the engine's own code takes for the player and the entities
// of each snapshot.
func readGameSizes(t testing.TB, name string) (player, entities []int) {
	t.Helper()
	for cells := range testkit.CSVRows(t, "games/"+name+".snapshots.csv.zst") {
		player = append(player, testkit.ParseInt(t, cells[16]))
		entities = append(entities, testkit.ParseInt(t, cells[17]))
	}
	return player, entities
}

// A frameState is a frame with its memos at the sender and the receiver.
type frameState struct {
	f         *frame.Frame
	sent, got encoders.Memo
}

// With the game's baselines, every snapshot takes exactly the bits that the game takes, and is
// decoded exactly.
func TestSizesEqualGame(t *testing.T) {
	for _, name := range []string{"oa-ctf", "oa-dm4"} {
		player, entities := readGameSizes(t, name)
		opened, err := quake3.Kind.Open(t.Context(), testkit.DataFile(t, "games/"+name+".dm_71"), source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		src := opened.(interface {
			source.Source
			source.Sized
			source.Priced
		})
		s := src.Schema()
		c := Codec()
		enc, dec, err := c.New(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		x := enc.(*codec)
		var ring [64]frameState
		initial := frameState{f: s.NewFrame()}
		src.Initial(initial.f)
		ring[0] = initial
		var payload []byte
		for n := 1; n <= src.Frames() && (n < 300 || testkit.Thorough()); n++ {
			k := &ring[n%len(ring)]
			if k.f == nil {
				k.f = s.NewFrame()
			}
			if err := src.Next(k.f); err != nil {
				t.Fatal(err)
			}
			// The game encoded frame n against an earlier one, or against none: then the initial state is used.
			base := &initial
			if back := src.Price().Base; back > 0 {
				base = &ring[(n-back)%len(ring)]
			}
			var budget encoders.Budget
			refs := []encoders.Ref{{Frame: base.f, Memo: base.sent}}
			payload, k.sent, err = enc.Encode(payload[:0], k.f, refs, nil, &budget)
			if err != nil {
				t.Fatal(err)
			}
			x.writer.Reset(nil)
			x.writer.Player(x.playerValues(base.f), x.playerValues(k.f), x.fieldBits[x.Player:])
			at := x.writer.Len()
			x.writeEntities(k.f, base.f, k.sent.(*memo))
			if x.writer.Len()-at != entities[n-1] || at != player[n-1] {
				t.Fatalf("%s, snapshot %d, %d back: entities take %d bits, player %d; the game's %d and %d", name, n, src.Price().Base,
					x.writer.Len()-at, at, entities[n-1], player[n-1])
			}
			bits := 1 + entities[n-1] + player[n-1]
			took := budget.Total() - budget.Units[encoders.SlotPadding]
			if time := took/encoders.BitUnit - int64(bits); time < 8 || time > 44 || len(payload)*8 < bits {
				t.Fatalf("%s, snapshot %d: %d bits were charged, %d of them for the time", name, n, took/encoders.BitUnit, time)
			}
			got := s.NewFrame()
			k.got, err = dec.Decode(got, payload, []encoders.Ref{{Frame: base.f, Memo: base.got}}, nil)
			if err != nil || !got.Equal(k.f) {
				t.Fatalf("%s, snapshot %d: decoded frame differs, error %v", name, n, err)
			}
		}
		if err := src.Next(s.NewFrame()); testkit.Thorough() && err != io.EOF {
			t.Errorf("%s: %v at the end", name, err)
		}
	}
}
