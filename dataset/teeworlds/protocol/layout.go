package protocol

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirelab/dataset/frame"
)

// Name is the name of every schema of Teeworlds' snapshots.
const Name = "teeworlds"

// timeRow is the row with the tick of the frame.
const timeRow = "Time"

// Shape is what items have in common that use the same columns.
type Shape struct {
	Type, Size int
}

// known reports whether it is as the game's own items of its type are.
func (s Shape) known() bool { return s.Type >= 1 && s.Type < len(types) && sizes[s.Type] == s.Size }

// String returns the name of the part that holds such items.
func (s Shape) String() string {
	if s.known() {
		return types[s.Type].name
	}
	return fmt.Sprintf("type %d of %d", s.Type, s.Size)
}

// columns are the names of what holds the values.
func (s Shape) columns() []string {
	if s.known() {
		return types[s.Type].list()
	}
	list := make([]string, s.Size)
	for i := range list {
		list[i] = fmt.Sprintf("%d/%d.%d", s.Type, s.Size, i)
	}
	return list
}

// parseShape is the inverse of Shape.String.
func parseShape(name string) (s Shape, ok bool) {
	for i := 1; i < len(types); i++ {
		if types[i].name == name {
			return Shape{i, sizes[i]}, true
		}
	}
	text, found := strings.CutPrefix(name, "type ")
	typ, size, also := strings.Cut(text, " of ")
	s.Type, _ = strconv.Atoi(typ)
	s.Size, _ = strconv.Atoi(size)
	return s, found && also && s.String() == name && s.Type >= 0 && s.Type <= MaxType && s.Size >= 0
}

// Group is the items of one shape that a schema has room for.
type Group struct {
	Shape
	IDs       int     // identities are below it: as many rows
	Low, High []int32 // the least and the greatest of each value, where somebody has seen them all
}

// see takes values into account.
func (g *Group) see(values []int32) {
	if g.Low == nil {
		g.Low, g.High = slices.Clone(values), slices.Clone(values)
	}
	for i, v := range values {
		g.Low[i], g.High[i] = min(g.Low[i], v), max(g.High[i], v)
	}
}

// Groups are the items that a schema has room for.
type Groups struct {
	list   []Group
	at     map[Shape]int
	rows   int // of the table, and its columns, without those of the tick
	fields int
}

// ErrLarge: items that need a larger table than anybody wants to send.
var ErrLarge = errors.New("too large")

// MaxTable is the most cells of a table. Real matches need a tenth.
const MaxTable = 1 << 18

// See makes room for an item. It fails, and changes nothing, if the table becomes too large.
func (g *Groups) See(item Item) error {
	shape := Shape{item.Key.Type(), len(item.Values)}
	at, known := g.at[shape]
	if !known {
		at = len(g.list)
		g.list = append(g.list, Group{Shape: shape})
	}
	if more := item.Key.ID() + 1 - g.list[at].IDs; more > 0 {
		fields := g.fields
		if !known {
			fields = len(columnsOf(g.list))
		}
		if g.rows+more+1 > MaxTable/(fields+1) {
			g.list = g.list[:len(g.at)]
			return fmt.Errorf("%w: item %v makes a table of %d rows x %d fields, expected at most %d cells",
				ErrLarge, item.Key, g.rows+more+1, fields+1, MaxTable)
		}
		g.rows, g.fields, g.list[at].IDs = g.rows+more, fields, item.Key.ID()+1
	}
	if !known {
		if g.at == nil {
			g.at = map[Shape]int{}
		}
		g.at[shape] = at
	}
	g.list[at].see(item.Values)
	return nil
}

// columnsOf lists the columns of groups that are sorted or not: those that types share, then
// each type's own with its presence in front.
func columnsOf(groups []Group) []string {
	used := map[string]bool{}
	for i := range groups {
		for _, c := range groups[i].columns() {
			used[c] = true
		}
		used["Present"] = used["Present"] || used["X"]
	}
	var list []string
	for _, c := range strings.Fields(shared) {
		if used[c] {
			list = append(list, c)
		}
	}
	for i := range groups {
		if g := &groups[i]; !g.placed() {
			list = append(append(list, g.String()+".Present"), g.columns()...)
		}
	}
	return list
}

// placed reports whether items share the columns of what is somewhere in the world.
func (s Shape) placed() bool { return s.known() && !strings.HasPrefix(types[s.Type].columns, ".") }

// present is the column that says whether the item is there.
func (s Shape) present() string {
	if s.placed() {
		return "Present"
	}
	return s.String() + ".Present"
}

// Schema returns a schema with room for the items: the tick, then the items by type, players
// first. Ranges are the game's, wider where values were seen beyond them.
func (g *Groups) Schema(hz int) *frame.Schema {
	groups := slices.Clone(g.list)
	slices.SortFunc(groups, func(a, b Group) int { return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Size, b.Size)) })
	columns := append([]string{"Now"}, columnsOf(groups)...)
	s := &frame.Schema{Name: Name, Item: "item", Rows: 1, TickHz: hz, Parts: []frame.Part{{Name: timeRow, Rows: 1, Size: 1}}}
	at := map[string]int{}
	for i, c := range columns {
		at[c] = i
		s.Fields = append(s.Fields, fieldOf(c))
	}
	for i := range groups {
		x := &groups[i]
		first, last := at[x.present()], at[x.present()]
		for j, c := range x.columns() {
			if first, last = min(first, at[c]), max(last, at[c]); x.Low != nil {
				widen(&s.Fields[at[c]], x.Low[j], x.High[j])
			}
		}
		s.Parts = append(s.Parts, frame.Part{Name: x.String(), Row: s.Rows, Rows: x.IDs, Field: first, Size: last - first + 1})
		s.Rows += x.IDs
	}
	return s
}

// rank orders types: characters come first, since much else is where they are.
func (s Shape) rank() int {
	if s.Type == 10 {
		return 0
	}
	return s.Type
}

// widen makes the range of a field hold values. An angle turns to where they are, or is none.
func widen(f *frame.Field, low, high int32) {
	low, high = min(low, 0), max(high, 0) // of rows that are not there
	switch {
	case !f.Kind.Bounded() || f.Min <= low && high <= f.Max:
		return
	case f.Kind == frame.Angle && int64(high)-int64(low) < period:
		f.Min, f.Max = low, low+period-1
		return
	case f.Kind == frame.Angle || f.Kind == frame.Flag:
		f.Kind = frame.Quantity
	}
	f.Min, f.Max = min(f.Min, low), max(f.Max, high)
}

// Part is where the items of a shape are in a table.
type Part struct {
	Shape
	Row, Rows int
	Present   int   // the column of its presence
	Columns   []int // of the values, in the order in which they travel
}

// Layout is how items become rows.
type Layout struct {
	Schema *frame.Schema
	Now    int // the cell with the tick of the frame
	Parts  []Part
	at     map[Shape]int
}

// ErrSchema: a schema is not of Teeworlds' snapshots.
var ErrSchema = errors.New("no schema of Teeworlds' snapshots")

// LayoutOf finds out from a schema alone how items become its rows: parts and columns tell it by
// their names.
func LayoutOf(s *frame.Schema) (*Layout, error) {
	l := &Layout{Schema: s, at: map[Shape]int{}}
	if s.Name != Name || len(s.Parts) == 0 || s.Parts[0].Name != timeRow || s.Rows < 1 || len(s.Fields) == 0 || s.Fields[0].Name != "Now" {
		return nil, ErrSchema
	}
	column := map[string]int{}
	for i := range s.Fields {
		column[s.Fields[i].Name] = i
	}
	row := 1
	for _, p := range s.Parts[1:] {
		shape, ok := parseShape(p.Name)
		if _, twice := l.at[shape]; !ok || twice || p.Row != row || p.Rows < 1 || p.Rows > 1<<16 || p.Rows > s.Rows-row {
			return nil, fmt.Errorf("%w: part %q", ErrSchema, p.Name)
		}
		part := Part{Shape: shape, Row: row, Rows: p.Rows}
		for i, c := range append([]string{shape.present()}, shape.columns()...) {
			at, ok := column[c]
			if f := p.Field; !ok || at < f || at-f >= p.Size {
				return nil, fmt.Errorf("%w: part %q has no %q", ErrSchema, p.Name, c)
			}
			if i == 0 {
				part.Present = at
			} else {
				part.Columns = append(part.Columns, at)
			}
		}
		l.at[shape] = len(l.Parts)
		l.Parts = append(l.Parts, part)
		row += p.Rows
	}
	if row != s.Rows {
		return nil, fmt.Errorf("%w: %d rows of %d have no part", ErrSchema, s.Rows-row, s.Rows)
	}
	return l, nil
}

// Find returns the part and the row of an item with so many values; false if there is none for it.
func (l *Layout) Find(k Key, size int) (p *Part, row int, ok bool) {
	at, ok := l.at[Shape{k.Type(), size}]
	if !ok {
		return nil, 0, false
	}
	p = &l.Parts[at]
	return p, p.Row + k.ID(), k.ID() < p.Rows
}

// Row returns the cells of a row of a table.
func (l *Layout) Row(table []int32, row int) []int32 {
	n := len(l.Schema.Fields)
	return table[row*n : (row+1)*n : (row+1)*n]
}

// Put writes an item into its row.
func (p *Part) Put(row, values []int32) {
	row[p.Present] = 1
	for i, c := range p.Columns {
		row[c] = values[i]
	}
}
