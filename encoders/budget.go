package encoders

import "wirelab/dataset/frame"

// Slot names what a bit was spent on.
type Slot uint8

// The slots. Cube codecs use the first group; codecs driven by a schema charge
// FieldSlot(i) for field i.
const (
	SlotFlags       Slot = iota // changed bits, mode bits, "is it relative" bits
	SlotIndex                   // which items changed
	SlotPosition                //
	SlotOrientation             //
	SlotVelocity                //
	SlotInteracting             //
	SlotTable                   // a whole table, when a codec cannot tell fields apart
	SlotBody                    // the bytes of the body
	SlotModel                   // model labels and other side information
	SlotPadding                 // flush, padding and rounding
	fixedSlots
)

// MaxSlots bounds the slots of a budget: enough for the 165 fields of Quake III. Fields beyond the
// last share its slot.
const MaxSlots = 178

// BitUnit is the unit of a budget: 65,536 of them are one bit, so that the
// fractional bits of a range coder add up exactly.
const BitUnit = 1 << 16

// FieldSlot returns the slot of field i of a schema.
func FieldSlot(i int) Slot { return Slot(min(int(fixedSlots)+i, MaxSlots-1)) }

// Name returns what the slot is called under schema s, which may be nil. The last
// slot is "other" if several fields share it.
func (k Slot) Name(s *frame.Schema) string {
	names := [fixedSlots]string{"flags", "index", "position", "orientation", "velocity", "interacting", "table", "body", "model", "padding"}
	if k < fixedSlots {
		return names[k]
	}
	i := int(k - fixedSlots)
	shared := s != nil && k == MaxSlots-1 && len(s.Fields) > i+1
	if s != nil && i < len(s.Fields) && !shared {
		return s.Fields[i].Name
	}
	return "other"
}

// Fields returns how many fields of schema s charge the slot: 1, unless it is the last one and
// several share it.
func (k Slot) Fields(s *frame.Schema) int {
	if s == nil || k != MaxSlots-1 {
		return 1
	}
	return max(len(s.Fields)-int(k-fixedSlots), 1)
}

// Budget sums what a packet's bits were spent on, in units of 1/65,536 bit.
// Law: the slots of one packet sum to 8*65,536 units a byte of payload. A nil
// budget takes charges and forgets them.
type Budget struct {
	Units [MaxSlots]int64
}

// Bits charges n whole bits to slot k.
func (b *Budget) Bits(k Slot, n int) {
	if b != nil {
		b.Units[k] += int64(n) * BitUnit
	}
}

// Charge charges units of 1/65,536 bit to slot k.
func (b *Budget) Charge(k Slot, units int64) {
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

// Close charges to SlotPadding whatever a payload of n bytes holds beyond what
// was charged since the budget stood at before (its Total then): call it last,
// so that the law holds.
func (b *Budget) Close(before int64, n int) {
	if b != nil {
		b.Units[SlotPadding] += int64(n)*8*BitUnit - (b.Total() - before)
	}
}

// Add sums other into b.
func (b *Budget) Add(other *Budget) {
	for i, u := range other.Units {
		b.Units[i] += u
	}
}

// Reset forgets everything.
func (b *Budget) Reset() { *b = Budget{} }
