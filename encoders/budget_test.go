package encoders

import (
	"testing"

	"wirelab/dataset/frame"
)

func TestBudgetCloses(t *testing.T) {
	var b Budget
	for _, packet := range []struct{ bits, bytes int }{{0, 0}, {1, 1}, {13, 2}, {16, 2}} {
		before := b.Total()
		b.Bits(SlotFlags, packet.bits)
		b.Charge(SlotModel, BitUnit/3) // a fraction of a bit, as a range coder spends
		b.Close(before, packet.bytes)
		if got, want := b.Total()-before, int64(packet.bytes)*8*BitUnit; got != want {
			t.Errorf("%d bits in %d bytes: %d units, want %d", packet.bits, packet.bytes, got, want)
		}
	}
}

func TestNobodyAsksForTheBudget(t *testing.T) {
	var b *Budget
	b.Bits(SlotFlags, 3)
	b.Charge(SlotModel, 3)
	b.Close(b.Total(), 9)
	if b.Total() != 0 {
		t.Error("a nil budget holds something")
	}
}

func TestBudgetAddAndReset(t *testing.T) {
	var a, b Budget
	a.Bits(SlotIndex, 2)
	b.Bits(SlotIndex, 3)
	b.Bits(SlotBody, 1)
	a.Add(&b)
	if a.Units[SlotIndex] != 5*BitUnit || a.Units[SlotBody] != BitUnit || a.Total() != 6*BitUnit {
		t.Errorf("2 index bits plus 3 and a body bit make %v", a.Units)
	}
	a.Reset()
	if a.Total() != 0 {
		t.Errorf("after Reset %d units are left", a.Total())
	}
}

// Every slot has a name of its own; fields beyond the last share one.
func TestSlotNames(t *testing.T) {
	s := frame.Cubes(1)
	seen := map[string]Slot{}
	for k := range FieldSlot(0) {
		if other, ok := seen[k.Name(nil)]; ok || k.Name(nil) == "" {
			t.Errorf("slots %d and %d are both called %q", other, k, k.Name(nil))
		}
		seen[k.Name(nil)] = k
	}
	for i, f := range s.Fields {
		if got := FieldSlot(i).Name(s); got != f.Name {
			t.Errorf("the slot of field %s is called %q", f.Name, got)
		}
	}
	last := MaxSlots - 1 - int(FieldSlot(0)) // the last field with a slot
	for n, want := range map[int]string{last + 1: "z", last + 2: "other"} {
		many := &frame.Schema{Fields: make([]frame.Field, n)}
		many.Fields[last].Name = "z"
		if got := FieldSlot(last).Name(many); got != want {
			t.Errorf("of %d fields the last slot is called %q, want %q", n, got, want)
		}
	}
	if FieldSlot(1000) != MaxSlots-1 || FieldSlot(0).Name(nil) != "other" {
		t.Error("a field without a slot of its own must share the last")
	}
}
