package encoders

import (
	"slices"

	"wirelab/dataset/frame"
)

// Slot names what bits of a packet were spent on.
type Slot uint8

// The slots. Codecs of cubes use those from SlotFlags to SlotInteracting; codecs that follow the
// schema charge FieldSlot(i) for field i.
const (
	SlotFlags       Slot = iota // flags of changed rows and fields, and of packet modes
	SlotIndex                   // which rows changed
	SlotPosition                // positions of cubes
	SlotOrientation             // orientations of cubes
	SlotVelocity                // velocities of cubes
	SlotInteracting             // flags of cubes that touch the player's
	SlotTable                   // a whole table, if the codec cannot distinguish its fields
	SlotBody                    // the bytes of the body
	SlotModel                   // model labels and other side information
	SlotPadding                 // padding, rounding and the end of a range coder's packet
	fixedSlots
)

// MaxSlots is the number of slots: enough for the 165 fields of Quake III. Fields of larger schemas
// share the last slot.
const MaxSlots = 178

// BitUnit is the number of units of a budget per bit. Fractions of bits, as a range coder spends
// them, add up without rounding.
const BitUnit = 1 << 16

// FieldSlot returns the slot of field i of a schema.
func FieldSlot(i int) Slot { return Slot(min(int(fixedSlots)+i, MaxSlots-1)) }

// field returns the index of the field that the slot belongs to; NoField if it does not belong to one field.
func (slot Slot) field() int {
	if slot < fixedSlots || slot == MaxSlots-1 {
		return NoField
	}
	return int(slot - fixedSlots)
}

// fixedNames are the names of the slots that do not belong to a field.
var fixedNames = [fixedSlots]string{"flags", "index", "position", "orientation", "velocity", "interacting", "table", "body", "model", "padding"}

// Name returns the name of the slot for schema s, which may be nil. The last slot is "other" if
// several fields share it. A field with the name of another slot that its codecs charge is
// named "index (field)".
func (slot Slot) Name(s *frame.Schema) string {
	if slot < fixedSlots {
		return fixedNames[slot]
	}
	i := int(slot - fixedSlots) // index of the field
	shared := s != nil && slot == MaxSlots-1 && len(s.Fields) > i+1
	if s != nil && i < len(s.Fields) && !shared {
		name := s.Fields[i].Name
		// No codec charges both a field and one of the slots of cubes.
		isOfCubes := func(k Slot) bool { return k >= SlotPosition && k <= SlotInteracting }
		if k := Slot(slices.Index(fixedNames[:], name)); name == otherFields || k < fixedSlots && !isOfCubes(k) {
			name += " (field)"
		}
		return name
	}
	return otherFields
}

// otherFields is the name of the last slot if several fields share it.
const otherFields = "other"

// Fields returns the number of fields of schema s that charge the slot: 1, except for the last slot
// if several fields share it.
func (k Slot) Fields(s *frame.Schema) int {
	if s == nil || k != MaxSlots-1 {
		return 1
	}
	return max(len(s.Fields)-int(k-fixedSlots), 1) // all fields from the first of the last slot on
}

// Budget sums what the bits of packets were spent on, by Slot, in units of 1/65,536 bit. Invariant:
// the slots of a packet sum to 8*BitUnit units per byte of payload; Close ensures it. All methods
// of a nil Budget do nothing.
type Budget struct {
	Units [MaxSlots]int64
	Trace *Trace // gets the position of each charge too; nil if no trace is wanted
}

// Tracing returns the trace that the encoder must fill; nil if none is wanted.
func (b *Budget) Tracing() *Trace {
	if b == nil {
		return nil
	}
	return b.Trace
}

// SetRow sets the row of the table on which the charges that follow are spent, or NoRow. Only a trace uses it.
func (b *Budget) SetRow(row int) {
	if b != nil && b.Trace != nil {
		b.Trace.row = row
	}
}

// Bits charges n whole bits to slot k. In a trace they follow the bits that were charged before.
func (b *Budget) Bits(k Slot, n int) {
	if b != nil {
		b.Units[k] += int64(n) * BitUnit
		if b.Trace != nil {
			b.extendTraceBits(k, n)
		}
	}
}

// Charge charges units of 1/65,536 bit to slot k. In a trace they follow the bits that were charged before.
func (b *Budget) Charge(k Slot, units int64) {
	if b != nil {
		b.Units[k] += units
		if b.Trace != nil {
			b.extendTrace(k, units)
		}
	}
}

// extendTrace is Charge for the trace. It is not inlined so that the compiler inlines Charge.
//
//go:noinline
func (b *Budget) extendTrace(k Slot, units int64) { b.Trace.extend(k, units) }

// extendTraceBits is Bits for the trace, see extendTrace.
//
//go:noinline
func (b *Budget) extendTraceBits(k Slot, n int) { b.Trace.extend(k, int64(n)*BitUnit) }

// AddUnits charges units of 1/65,536 bit to slot k without adding them to the trace, for an encoder that
// charges its bits in another order than that of the payload and extends the trace itself.
func (b *Budget) AddUnits(k Slot, units int64) {
	if b != nil {
		b.Units[k] += units
	}
}

// Total returns the sum of all slots in units.
func (b *Budget) Total() int64 {
	if b == nil {
		return 0
	}
	var sum int64
	for _, u := range b.Units {
		sum += u
	}
	return sum
}

// Close charges the rest of a packet to SlotPadding, so that the invariant holds: n bytes of
// payload, minus what was charged since the budget's Total was before. Call it after all other
// charges of the packet.
func (b *Budget) Close(before int64, n int) {
	if b != nil {
		b.Units[SlotPadding] += int64(n)*8*BitUnit - (b.Total() - before)
		if b.Trace != nil {
			b.Trace.Close(n)
		}
	}
}

// Add adds the charges of other to b.
func (b *Budget) Add(other *Budget) {
	for i, u := range other.Units {
		b.Units[i] += u
	}
}

// Reset sets all slots to zero. The trace, if any, stays.
func (b *Budget) Reset() { *b = Budget{Trace: b.Trace} }
