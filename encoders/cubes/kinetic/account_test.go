package kinetic

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/internal/recording"
)

// situations are what a cube that moved was about, for the account.
var situations = [...]string{"player", "nearly still", "in the air", "on the floor", "near the player", "in a heap", "not moved"}

// situationOf says what cube i of a coded frame was about.
func situationOf(s *scene, i int, c *contextClasses) int {
	q, base := cube.At(s.cur, i), cube.At(s.base, i)
	if cube.SamePose(q, base) {
		return 6
	}
	low := lowest(position(q), halfCube, up(orientation(q)))
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

var update = flag.Bool("update", false, "write the account of charlie, which the picture of package cubes shows")

// accountPath is kinetic's account of charlie: for each situation the cubes in a
// packet, and their bits of position and of orientation.
const accountPath = "testdata/account.csv"

// The account by field and by situation, which adds up to the packets. Set
// ACCOUNT to a recording's name for all of it, and see it with -v.
func TestAccount(t *testing.T) {
	name, frames := os.Getenv("ACCOUNT"), 0
	switch {
	case *update:
		name = "charlie"
	case name == "":
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
		a := newAccount(t, enc.(*coder), list)
		t.Logf("%s on %s, %.1f bytes a packet\n%s", codec.Name, name, float64(a.bytes)/a.packets, a.table())
		if rest := float64(a.bytes*8) - a.bits(); rest < 0 || rest > 16*a.packets {
			t.Errorf("%s: %.0f bits are accounted for, of %d", codec.Name, a.bits(), a.bytes*8)
		}
		if *update && codec.Name == "kinetic" {
			if err := os.WriteFile(accountPath, []byte(a.csv()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// ledger is what packets were spent on.
type ledger struct {
	spent   [len(situations)][encoders.SlotPadding]float64 // bits
	count   [len(situations)]float64                       // cubes
	bytes   int
	packets float64
}

// newAccount sends frames by the rules and keeps account of every cube.
func newAccount(t *testing.T, e *coder, list []*frame.Frame) *ledger {
	a := &ledger{packets: float64(len(list) - recording.BaselineAge)}
	memos := make([]encoders.Memo, len(list))
	for n := recording.BaselineAge; n < len(list); n++ {
		base := list[n-recording.BaselineAge]
		var b encoders.Budget
		e.Begin(nil, &b)
		if err := e.compare(list[n], base, nil); err != nil {
			t.Fatal(err)
		}
		e.begin(list[n], base, []encoders.Ref{{Frame: base, Memo: memos[n-recording.BaselineAge]}}, nil)
		for _, i := range e.scene.order {
			var before [encoders.SlotPadding]int64
			for slot := range before {
				before[slot] = e.Charged(encoders.Slot(slot))
			}
			c := e.scene.classify(int(i))
			if err := e.codeCube(int(i)); err != nil {
				t.Fatal(err)
			}
			k := situationOf(&e.scene, int(i), &c)
			a.count[k]++
			for slot := range a.spent[k] {
				a.spent[k][slot] += float64(e.Charged(encoders.Slot(slot))-before[slot]) / encoders.BitUnit
			}
		}
		memos[n] = e.end()
		a.bytes += len(e.End(nil, &b))
	}
	return a
}

// accounted are the fields of the account.
var accounted = [...]encoders.Slot{encoders.SlotFlags, encoders.SlotPosition, encoders.SlotOrientation, encoders.SlotInteracting}

func (a *ledger) bits() (sum float64) {
	for k := range situations {
		for _, f := range accounted {
			sum += a.spent[k][f]
		}
	}
	return sum
}

// table shows bytes a packet, and bits a cube.
func (a *ledger) table() string {
	var s strings.Builder
	fmt.Fprintf(&s,
		"| situation | cubes | flags | position | orientation | interacting | bits of position | bits of orientation |\n"+
			"|:--|--:|--:|--:|--:|--:|--:|--:|\n")
	for k, name := range situations {
		fmt.Fprintf(&s, "| %s | %.2f |", name, a.count[k]/a.packets)
		for _, f := range accounted {
			fmt.Fprintf(&s, " %.2f |", a.spent[k][f]/8/a.packets)
		}
		fmt.Fprintf(&s, " %.2f | %.2f |\n", a.spent[k][encoders.SlotPosition]/max(a.count[k], 1),
			a.spent[k][encoders.SlotOrientation]/max(a.count[k], 1))
	}
	return s.String()
}

func (a *ledger) csv() string {
	var s strings.Builder
	s.WriteString("situation,cubes,position bits,orientation bits\n")
	for k, name := range situations[:len(situations)-1] { // without those that did not move
		n := max(a.count[k], 1)
		fmt.Fprintf(&s, "%s,%.2f,%.2f,%.2f\n", name, a.count[k]/a.packets, a.spent[k][encoders.SlotPosition]/n,
			a.spent[k][encoders.SlotOrientation]/n)
	}
	return s.String()
}
