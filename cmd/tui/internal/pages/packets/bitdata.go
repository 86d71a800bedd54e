package packets

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// The sections of a bitData, in the order in which they are shown.
const (
	sectionHeader = iota
	sectionPayload
	sectionAck
	numSections
)

// bitSection is a run of bytes with a description of each bit.
type bitSection struct {
	name        string
	bytes       []byte
	highFirst   bool  // the bits of a byte are in order from the highest
	flipped     []int // indices of the bits that the link flipped
	first, last int   // its items are items[first:last]
}

// bitItem is what a run of bits means: a field of a header or of an ack, or a span of the payload.
type bitItem struct {
	section     int
	begin, end  int64 // in the section, in units of 1/encoders.BitUnit bit
	row, field  int   // encoders.NoRow and encoders.NoField if none
	slot        encoders.Slot
	name, value string // of a header field; name is empty for a span of the payload
}

// bitData is a packet bit by bit.
type bitData struct {
	traced   *engine.Traced
	schema   *frame.Schema
	sections [numSections]bitSection
	items    []bitItem
	total    encoders.Budget // of the payload, by slot
}

// newBitData returns the description of a traced packet, whose Packet must not be nil.
func newBitData(t *engine.Traced, s *frame.Schema) *bitData {
	d, p := &bitData{traced: t, schema: s}, t.Packet
	header := p.HeaderBytes()
	d.addFields(sectionHeader, "header", p.Datagram[:header], p.Header)
	d.sections[sectionPayload] = bitSection{name: "payload", bytes: p.Datagram[header:], highFirst: p.Payload.Arithmetic, first: len(d.items)}
	for _, span := range p.Payload.Spans {
		d.items = append(d.items, bitItem{section: sectionPayload, begin: span.Begin, end: span.End(), row: span.Row, field: span.Field, slot: span.Slot})
		d.total.Units[span.Slot] += span.Units
	}
	d.sections[sectionPayload].last = len(d.items)
	d.addFields(sectionAck, "ack", t.Ack, t.AckOf)
	return d
}

// isUnchanged reports whether an item belongs to a row that equals the baseline, such as the flag of a cube at rest.
func (d *bitData) isUnchanged(item *bitItem) bool {
	if item.row == encoders.NoRow {
		return false
	}
	n := len(d.schema.Fields)
	from, to := item.row*n, (item.row+1)*n
	p := d.traced.Packet
	return to <= len(p.Frame.Table) && to <= len(p.Base.Table) && slices.Equal(p.Frame.Table[from:to], p.Base.Table[from:to])
}

// addFlips adds bits that the link flipped, by their positions in the datagram; bit 0 is the lowest of byte 0.
func (d *bitData) addFlips(positions []int) {
	header := 8 * len(d.sections[sectionHeader].bytes)
	for _, n := range positions {
		s := &d.sections[sectionHeader]
		if n >= header {
			s = &d.sections[sectionPayload]
			n -= header
		}
		if s.highFirst {
			n = n&^7 + 7 - n&7
		}
		s.flipped = append(s.flipped, n)
	}
}

// flips names the bits that the link flipped; "" if it flipped none.
func (d *bitData) flips() string {
	var list []string
	for k := range d.sections {
		for _, n := range d.sections[k].flipped {
			item := &d.items[d.itemAt(k, n)]
			name := d.label(item)
			if item.row != encoders.NoRow {
				name = panes.RowName(d.schema, item.row) + " " + name
			}
			list = append(list, fmt.Sprintf("%s bit %d (%s)", d.sections[k].name, n, name))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return words.Count(len(list), "bit") + " flipped on the way: " + strings.Join(list, ", ")
}

// firstItem returns the index of the item that is selected first: that of a flipped bit, or else the first of a row that
// changed; the first of the payload if there is none.
func (d *bitData) firstItem() int {
	for k := range d.sections {
		if flipped := d.sections[k].flipped; len(flipped) > 0 {
			return d.itemAt(k, flipped[0])
		}
	}
	for i := range d.items {
		if d.items[i].row != encoders.NoRow && !d.isUnchanged(&d.items[i]) {
			return i
		}
	}
	return min(d.sections[sectionPayload].first, len(d.items)-1)
}

// group names what an item belongs to: a section, a slot, or a row.
func (d *bitData) group(item *bitItem) string {
	switch {
	case item.section != sectionPayload:
		return d.sections[item.section].name
	case item.row == encoders.NoRow:
		return d.label(item)
	}
	return panes.RowName(d.schema, item.row)
}

// itemWord returns the word for a span of the payload.
func (d *bitData) itemWord() string {
	if d.sections[sectionPayload].highFirst {
		return "symbol"
	}
	return "field"
}

// addFields adds a section that consists of fields.
func (d *bitData) addFields(section int, name string, b []byte, fields []endpoint.HeaderField) {
	begin := int64(0)
	first := len(d.items)
	for i, f := range fields {
		end := begin + int64(f.Bits)*encoders.BitUnit
		// Neighbours get different colours: a header has no slots of its own.
		d.items = append(d.items, bitItem{section: section, begin: begin, end: end, row: encoders.NoRow, field: encoders.NoField,
			slot: encoders.Slot(i), name: f.Name, value: f.Value})
		begin = end
	}
	d.sections[section] = bitSection{name: name, bytes: b, first: first, last: len(d.items)}
}

// bit returns bit n of the section in the order of the packet.
func (s *bitSection) bit(n int) byte {
	if s.highFirst {
		return s.bytes[n/8] >> (7 - n%8) & 1
	}
	return s.bytes[n/8] >> (n % 8) & 1
}

// itemAt returns the index of the item that has the largest part of bit n of a section: a bit of an arithmetic coder may
// belong to several items.
func (d *bitData) itemAt(section, n int) int {
	s := &d.sections[section]
	begin := int64(n) * encoders.BitUnit
	i := s.first + sort.Search(s.last-s.first, func(i int) bool { return d.items[s.first+i].end > begin })
	best, longest := min(i, s.last-1), int64(0)
	for ; i < s.last && d.items[i].begin < begin+encoders.BitUnit; i++ {
		item := &d.items[i]
		if overlap := min(item.end, begin+encoders.BitUnit) - max(item.begin, begin); overlap > longest {
			best, longest = i, overlap
		}
	}
	return best
}

// bitRange returns the bits that an item lies in: from first up to, not including, end.
func (item *bitItem) bitRange() (first, end int) {
	first = int(item.begin / encoders.BitUnit)
	return first, max(int((item.end+encoders.BitUnit-1)/encoders.BitUnit), first+1)
}

// bits returns the length of an item in bits.
func (item *bitItem) bits() float64 { return float64(item.end-item.begin) / encoders.BitUnit }

// label returns the short name of an item: its field or slot.
func (d *bitData) label(item *bitItem) string {
	switch {
	case item.name != "":
		return item.name
	case item.field != encoders.NoField:
		name := d.schema.Fields[item.field].Name
		if item.row != encoders.NoRow && len(d.schema.Parts) > 0 {
			name = strings.TrimPrefix(name, d.schema.PartForRow(item.row).Name+".")
		}
		return name
	}
	return item.slot.Name(d.schema)
}

// rowItems returns the indices of the items to show beside item i: the items of its row. Bits that belong to no row are
// shown with the others of their slot in the payload, and with the whole section in a header.
func (d *bitData) rowItems(i int) (list []int) {
	item := &d.items[i]
	s := &d.sections[item.section]
	whole := item.row != encoders.NoRow || item.name != "" // all items of a row, or of a header
	for k := s.first; k < s.last; k++ {
		other := &d.items[k]
		if other.row == item.row && (whole || other.slot == item.slot) {
			list = append(list, k)
		}
	}
	return list
}

// findRow returns the first item of a row at or after item from, cyclically; false if the packet has no bits of it.
// The flag whether a row changed counts only if the row has no other bits.
func (d *bitData) findRow(row int) (index int, ok bool) {
	index = -1
	for i := range d.items {
		item := &d.items[i]
		if item.row != row {
			continue
		}
		if item.field != encoders.NoField {
			return i, true
		}
		if index < 0 {
			index = i
		}
	}
	return index, index >= 0
}

// values returns value, baseline and the difference of both of an item's cell, as text. The value of an index is the
// number of its row, and that of the length of a list the number of its rows; other items that are no cells have no
// values.
func (d *bitData) values(item *bitItem) (value, baseline, change string) {
	p := d.traced.Packet
	switch {
	case item.name != "":
		return item.value, "", ""
	case item.row != encoders.NoRow && item.slot == encoders.SlotIndex:
		return strconv.Itoa(item.row), "", ""
	case item.slot == encoders.SlotIndex:
		return d.listed(item), "", ""
	case item.row == encoders.NoRow, item.field == encoders.NoField:
		return "", "", ""
	}
	i := item.row*len(d.schema.Fields) + item.field
	if i >= len(p.Frame.Table) || i >= len(p.Base.Table) {
		return "", "", ""
	}
	f, v, old := &d.schema.Fields[item.field], p.Frame.Table[i], p.Base.Table[i]
	return formatCell(f, v), formatCell(f, old), formatChange(f, v, old)
}

// listed returns the number of rows in the list that begins with an item, its length, such as "55 cubes"; "" if none is.
func (d *bitData) listed(length *bitItem) string {
	n := 0
	for i := range d.items {
		item := &d.items[i]
		isIndex := item.slot == encoders.SlotIndex && item.row != encoders.NoRow
		if isIndex && item.begin > length.begin {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return words.Count(n, d.schema.Item)
}

// formatCell formats a value: its name if it has one, and otherwise the integer of the table, and in parentheses the value
// in the unit of the field if that differs.
func formatCell(f *frame.Field, v int32) string {
	switch {
	case f.NameOf(v) != "":
		return f.NameOf(v)
	case f.Kind == frame.Bits:
		return "x" + strconv.FormatUint(uint64(uint32(v)), 16)
	case f.Kind == frame.Float32:
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(v))), 'g', 6, 32)
	case f.Step() != 1:
		return strconv.Itoa(int(v)) + " (" + formatUnit(f, float64(v)*f.Step()) + ")"
	}
	return strconv.Itoa(int(v))
}

// formatUnit formats a value with the unit of its field.
func formatUnit(f *frame.Field, v float64) string {
	text := units.Fixed(v, 3)
	if f.Unit != "" {
		text += " " + f.Unit
	}
	return text
}

// formatChange formats the difference of a value from its baseline, the residual: bits as their exclusive or, an enum
// and a flag as a word.
func formatChange(f *frame.Field, v, old int32) string {
	if v == old {
		return "0"
	}
	switch f.Kind {
	case frame.Bits:
		return "xor x" + strconv.FormatUint(uint64(uint32(v^old)), 16)
	case frame.Enum, frame.Flag:
		return "changed"
	case frame.Float32:
		return units.Signed(float64(math.Float32frombits(uint32(v)))-float64(math.Float32frombits(uint32(old))), 4)
	case frame.Angle: // the shorter way around
		span := int64(f.Max) - int64(f.Min) + 1
		diff := ((int64(v)-int64(old))%span + span) % span
		if diff > span/2 {
			diff -= span
		}
		return units.Signed(float64(diff), 0)
	}
	return units.Signed(float64(int64(v)-int64(old)), 0)
}

// slotShares returns the slots of the payload with their shares, the largest first, as text for a legend.
func (d *bitData) slotShares(th *look.Theme) (groups [][]look.Span) {
	all := d.total.Total()
	var slots []int
	for k, u := range d.total.Units {
		if u > 0 {
			slots = append(slots, k)
		}
	}
	slices.SortStableFunc(slots, func(a, b int) int { return int(d.total.Units[b]>>8 - d.total.Units[a]>>8) })
	for _, k := range slots {
		share := 100 * float64(d.total.Units[k]) / float64(all)
		groups = append(groups, []look.Span{th.SlotMark(k), look.Plain.Span(encoders.Slot(k).Name(d.schema)),
			look.Dim.Span(" " + units.Fixed(share, 1) + "%   ")})
	}
	return groups
}
