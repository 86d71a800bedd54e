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

// situations are the rows of the bit budget: what a cube was doing.
var situations = [...]string{"player", "nearly still", "in the air", "on the floor", "near the player", "in a heap", "not moved"}

// classifySituation returns the index into situations of coded cube i. c are its classes before it
// was coded.
func classifySituation(s *scene, i int, c *contextClasses) int {
	q, base := cube.At(s.cur, i), cube.At(s.base, i)
	if cube.SamePose(q, base) {
		return 6
	}
	low := lowestCorner(position(q), halfCube, axisHeights(orientation(q)))
	switch alone := c.near >= 3; {
	case i == 0:
		return 0
	case position(q).minus(position(base)).sumAbs() < 6:
		return 1
	case c.player < 10: // within reach of the player's force
		return 4
	case low > 30 && alone:
		return 2
	case low < 12 && alone:
		return 3
	}
	return 5
}

var update = flag.Bool("update", false, "write the bit budget of charlie, which the picture of package cubes shows")

// accountPath is kinetic's bit budget of the recording charlie: for each situation the number of
// cubes per packet, and the bits per cube for position and orientation.
const accountPath = "testdata/account.csv"

// TestBitBudget logs the bit budget by field and by situation and checks that it adds up to the size
// of the packets. It measures a part of bravo, or the whole recording that the environment variable
// ACCOUNT names. -v shows the table.
func TestBitBudget(t *testing.T) {
	name, frames := os.Getenv("ACCOUNT"), 0
	switch {
	case *update:
		name = "charlie"
	case name == "":
		name, frames = "bravo", 480
	}
	list := recording.Load(t, name, frames)
	if frames > 0 {
		list = list[360:] // cubes move in this part
	}
	for _, codec := range []encoders.Codec{Lite(), Kinetic()} {
		enc, _, err := codec.New(frame.Cubes(frame.WalkoffCubes), codec.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		a := newBitBudget(t, enc.(*coder), list)
		t.Logf("%s on %s, %.1f bytes a packet\n%s", codec.Name, name, float64(a.bytes)/a.packets, a.table())
		if rest := float64(a.bytes*8) - a.bits(); rest < 0 || rest > 16*a.packets {
			t.Errorf("%s: budget of %.0f bits for packets of %d bits", codec.Name, a.bits(), a.bytes*8)
		}
		if *update && codec.Name == "kinetic" {
			if err := os.WriteFile(accountPath, []byte(a.csv()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// bitBudget sums the bits of packets by situation and slot.
type bitBudget struct {
	spent   [len(situations)][encoders.SlotPadding]float64 // bits
	count   [len(situations)]float64                       // cubes
	bytes   int
	packets float64
}

// newBitBudget encodes frames by the rules of the walk-off and measures the bits of every cube.
func newBitBudget(t *testing.T, e *coder, list []*frame.Frame) *bitBudget {
	a := &bitBudget{packets: float64(len(list) - recording.BaselineAge)}
	memos := make([]encoders.Memo, len(list))
	for n := recording.BaselineAge; n < len(list); n++ {
		base := list[n-recording.BaselineAge]
		var b encoders.Budget
		e.BeginEncode(nil, &b)
		if err := e.findChanges(list[n], base, nil); err != nil {
			t.Fatal(err)
		}
		e.beginFrame(list[n], base, []encoders.Ref{{Frame: base, Memo: memos[n-recording.BaselineAge]}}, nil)
		for _, i := range e.scene.order {
			var before [encoders.SlotPadding]int64
			for slot := range before {
				before[slot] = e.Charged(encoders.Slot(slot))
			}
			c := e.scene.classify(int(i))
			if err := e.codeCube(int(i)); err != nil {
				t.Fatal(err)
			}
			k := classifySituation(&e.scene, int(i), &c)
			a.count[k]++
			for slot := range a.spent[k] {
				a.spent[k][slot] += float64(e.Charged(encoders.Slot(slot))-before[slot]) / encoders.BitUnit
			}
		}
		memos[n] = e.endFrame()
		a.bytes += len(e.FinishEncode(nil, &b))
	}
	return a
}

// budgetSlots are the columns of the bit budget.
var budgetSlots = [...]encoders.Slot{encoders.SlotFlags, encoders.SlotPosition, encoders.SlotOrientation,
	encoders.SlotInteracting}

// bits returns the sum of all measured bits.
func (a *bitBudget) bits() (sum float64) {
	for k := range situations {
		for _, f := range budgetSlots {
			sum += a.spent[k][f]
		}
	}
	return sum
}

// table formats the bit budget as Markdown: bytes per packet, and bits per cube.
func (a *bitBudget) table() string {
	var s strings.Builder
	fmt.Fprintf(&s,
		"| situation | cubes | flags | position | orientation | interacting | bits of position | bits of orientation |\n"+
			"|:--|--:|--:|--:|--:|--:|--:|--:|\n")
	for k, name := range situations {
		fmt.Fprintf(&s, "| %s | %.2f |", name, a.count[k]/a.packets)
		for _, f := range budgetSlots {
			fmt.Fprintf(&s, " %.2f |", a.spent[k][f]/8/a.packets)
		}
		fmt.Fprintf(&s, " %.2f | %.2f |\n", a.spent[k][encoders.SlotPosition]/max(a.count[k], 1),
			a.spent[k][encoders.SlotOrientation]/max(a.count[k], 1))
	}
	return s.String()
}

func (a *bitBudget) csv() string {
	var s strings.Builder
	s.WriteString("situation,cubes,position bits,orientation bits\n")
	for k, name := range situations[:len(situations)-1] { // without "not moved"
		n := max(a.count[k], 1)
		fmt.Fprintf(&s, "%s,%.2f,%.2f,%.2f\n", name, a.count[k]/a.packets, a.spent[k][encoders.SlotPosition]/n,
			a.spent[k][encoders.SlotOrientation]/n)
	}
	return s.String()
}
