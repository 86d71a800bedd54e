package encoders_test

import (
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

func TestBudgetCloses(t *testing.T) {
	var b encoders.Budget
	for _, packet := range []struct{ bits, bytes int }{{0, 0}, {1, 1}, {13, 2}, {16, 2}} {
		before := b.Total()
		b.Bits(encoders.SlotFlags, packet.bits)
		b.Charge(encoders.SlotModel, encoders.BitUnit/3) // a fraction of a bit, as a range coder spends
		b.Close(before, packet.bytes)
		if got, want := b.Total()-before, int64(packet.bytes)*8*encoders.BitUnit; got != want {
			t.Errorf("%d bits in %d bytes: %d units, want %d", packet.bits, packet.bytes, got, want)
		}
	}
}

func TestNilBudget(t *testing.T) {
	var b *encoders.Budget
	b.Bits(encoders.SlotFlags, 3)
	b.Charge(encoders.SlotModel, 3)
	b.Close(b.Total(), 9)
	if b.Total() != 0 {
		t.Error("a nil budget has a total")
	}
}

func TestBudgetAddAndReset(t *testing.T) {
	var a, b encoders.Budget
	a.Bits(encoders.SlotIndex, 2)
	b.Bits(encoders.SlotIndex, 3)
	b.Bits(encoders.SlotBody, 1)
	a.Add(&b)
	if a.Units[encoders.SlotIndex] != 5*encoders.BitUnit || a.Units[encoders.SlotBody] != encoders.BitUnit || a.Total() != 6*encoders.BitUnit {
		t.Errorf("2 + 3 index bits and a body bit give %v", a.Units)
	}
	a.Reset()
	if a.Total() != 0 {
		t.Errorf("after Reset the total is %d", a.Total())
	}
}

// Every slot has a distinct name; fields beyond the last slot share its name.
func TestSlotNames(t *testing.T) {
	s := frame.Cubes(1)
	seen := map[string]encoders.Slot{}
	for k := range encoders.FieldSlot(0) {
		if other, ok := seen[k.Name(nil)]; ok || k.Name(nil) == "" {
			t.Errorf("slots %d and %d are both named %q", other, k, k.Name(nil))
		}
		seen[k.Name(nil)] = k
	}
	for i, f := range s.Fields {
		if got := encoders.FieldSlot(i).Name(s); got != f.Name {
			t.Errorf("the slot of field %s is named %q", f.Name, got)
		}
	}
	own := &frame.Schema{Fields: []frame.Field{{Name: "index"}, {Name: "position"}, {Name: "other"}, {Name: "hp"}}}
	for i, want := range []string{"index (field)", "position", "other (field)", "hp"} {
		if got := encoders.FieldSlot(i).Name(own); got != want {
			t.Errorf("the slot of field %s is named %q, want %q", own.Fields[i].Name, got, want)
		}
	}
	last := encoders.MaxSlots - 1 - int(encoders.FieldSlot(0)) // the last field with a slot
	for n, want := range map[int]string{last + 1: "z", last + 2: "other"} {
		many := &frame.Schema{Fields: make([]frame.Field, n)}
		many.Fields[last].Name = "z"
		if got := encoders.FieldSlot(last).Name(many); got != want {
			t.Errorf("the last slot of %d fields is named %q, want %q", n, got, want)
		}
	}
	if encoders.FieldSlot(1000) != encoders.MaxSlots-1 || encoders.FieldSlot(0).Name(nil) != "other" {
		t.Error("a field without its own slot must share the last")
	}
}
