package kinetic

import (
	"os"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
)

// situations are what a cube that moved was about, for the account.
var situations = [...]string{"player", "nearly still", "in the air", "on the floor", "near the player", "in a heap", "not moved"}

// situationOf says what cube i of a coded frame was about.
func situationOf(s *scene, i int, c *situation) int {
	q, base := row(s.cur, i), row(s.base, i)
	if same(q, base) {
		return 6
	}
	low := lowest(position(q), halfCube, orientation(q).up())
	switch alone := c.near >= 3; {
	case i == 0:
		return 0
	case position(q).minus(position(base)).sum() < 6:
		return 1
	case c.player < 10: // where the blower reaches
		return 4
	case low > 30 && alone:
		return 2
	case low < 12 && alone:
		return 3
	}
	return 5
}

// The account by field and by situation, which adds up to the packets. Set
// ACCOUNT to a recording's name for all of it, and see it with -v.
func TestAccount(t *testing.T) {
	name, frames := os.Getenv("ACCOUNT"), 0
	if name == "" {
		name, frames = "bravo", 480
	}
	list := recording.Load(t, name, frames)
	if frames > 0 {
		list = list[360:] // where things happen
	}
	for _, codec := range []encoders.Codec{Lite(), Kinetic()} {
		enc, _, err := codec.New(frame.Cubes(frame.WalkoffCubes), codec.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		account(t, codec.Name, enc.(*end), list)
	}
}

func account(t *testing.T, name string, e *end, list []*frame.Frame) {
	var spent [len(situations)][encoders.SlotPadding]float64
	var count [len(situations)]float64
	memos := make([]encoders.Memo, len(list))
	bytes, moved := 0, 0.0
	for n := recording.Age; n < len(list); n++ {
		var b encoders.Budget
		base := *list[max(n-recording.Age, 0)]
		refs := []encoders.Ref{{Frame: &base, Memo: memos[n-recording.Age]}}
		e.rc.Write(nil)
		e.budget, e.spent = &b, 0
		e.open(list[n], &base, refs, nil)
		for _, i := range e.scene.order {
			before := b
			c := e.scene.judge(int(i))
			if err := e.cube(int(i)); err != nil {
				t.Fatal(err)
			}
			k := situationOf(&e.scene, int(i), &c)
			count[k]++
			for slot := range spent[k] {
				spent[k][slot] += float64(b.Units[slot]-before.Units[slot]) / encoders.BitUnit
			}
		}
		memos[n] = e.shut()
		bytes += len(e.rc.Finish())
	}
	packets := float64(len(list) - recording.Age)
	total := 0.0
	t.Logf("%s: %.1f bytes/packet over %.0f packets; bytes a packet, and bits a cube that moved", name, float64(bytes)/packets, packets)
	t.Logf("%-16s %8s  %6s %8s %11s %11s", "", "cubes", "flags", "position", "orientation", "interacting")
	for k, s := range situations {
		f, p, o, i := spent[k][encoders.SlotFlags], spent[k][encoders.SlotPosition], spent[k][encoders.SlotOrientation], spent[k][encoders.SlotInteracting]
		total += f + p + o + i
		t.Logf("%-16s %8.2f  %6.2f %8.2f %11.2f %11.2f   %6.2f %6.2f", s, count[k]/packets, f/8/packets, p/8/packets, o/8/packets, i/8/packets, p/max(count[k], 1), o/max(count[k], 1))
		if k < 6 {
			moved += count[k]
		}
	}
	if rest := float64(bytes*8) - total; rest < 0 || rest > 16*packets {
		t.Errorf("%s: %.0f bits are accounted for, of %d", name, total, bytes*8)
	}
	if moved == 0 {
		t.Errorf("%s: nothing moved", name)
	}
}
