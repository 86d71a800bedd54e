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

// shape is what items have in common that use the same columns.
type shape struct {
	Type, Size int
}

// known reports whether it is as the game's own items of its type are.
func (s shape) known() bool {
	return s.Type >= 1 && s.Type < len(types) && types[s.Type].size == s.Size
}

// String returns the name of the part that holds such items.
func (s shape) String() string {
	if s.known() {
		return types[s.Type].name
	}
	return fmt.Sprintf("type %d of %d", s.Type, s.Size)
}

// columns are the names of what holds the values.
func (s shape) columns() []string {
	if s.known() {
		return types[s.Type].list()
	}
	list := make([]string, s.Size)
	for i := range list {
		list[i] = fmt.Sprintf("%d/%d.%d", s.Type, s.Size, i)
	}
	return list
}

// parseShape is the inverse of shape.String.
func parseShape(name string) (s shape, ok bool) {
	for i := 1; i < len(types); i++ {
		if types[i].name == name {
			return shape{i, types[i].size}, true
		}
	}
	text, found := strings.CutPrefix(name, "type ")
	typ, size, also := strings.Cut(text, " of ")
	s.Type, _ = strconv.Atoi(typ)
	s.Size, _ = strconv.Atoi(size)
	return s, found && also && s.String() == name && s.Type >= 0 && s.Type <= MaxType && s.Size >= 0
}

// group is the items of one shape that a schema has room for.
type group struct {
	shape
	ids       int     // identities are below it: as many rows
	low, high []int32 // the lowest and the highest of each value
}

// Groups are the items that a schema has room for.
type Groups struct {
	list   []group
	at     map[shape]int
	rows   int // of the table, and its columns, without those of the tick
	fields int
}

// ErrLarge: items that need a table of more than MaxTable cells.
var ErrLarge = errors.New("too large")

// maxTable is the most cells of a table. Real matches need a tenth.
const maxTable = 1 << 18

// See makes room for an item. It fails, and changes nothing, if the table becomes too large.
func (g *Groups) See(item Item) error {
	s := shape{item.Key.Type(), len(item.Values)}
	at, known := g.at[s]
	fields := g.fields
	if !known {
		at = len(g.list)
		g.list = append(g.list, group{shape: s, low: slices.Clone(item.Values), high: slices.Clone(item.Values)})
		fields = len(columnsOf(g.list))
	}
	x := &g.list[at]
	ids := max(x.ids, item.Key.ID()+1)
	rows := g.rows + ids - x.ids
	if ids > x.ids && rows+1 > maxTable/(fields+1) {
		g.list = g.list[:len(g.at)]
		return fmt.Errorf("%w: item %v makes a table of %d rows x %d fields, expected at most %d cells",
			ErrLarge, item.Key, rows+1, fields+1, maxTable)
	}
	if g.at == nil {
		g.at = map[shape]int{}
	}
	g.at[s], g.rows, g.fields, x.ids = at, rows, fields, ids
	for i, v := range item.Values {
		x.low[i], x.high[i] = min(x.low[i], v), max(x.high[i], v)
	}
	return nil
}

// columnsOf lists the columns of groups that are sorted or not: those that types share, then
// each type's own with its presence in front.
func columnsOf(groups []group) []string {
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
func (s shape) placed() bool { return s.known() && !strings.HasPrefix(types[s.Type].columns, ".") }

// present is the column that says whether the item is there.
func (s shape) present() string {
	if s.placed() {
		return "Present"
	}
	return s.String() + ".Present"
}

// Schema returns a schema with room for the items: the tick, then the items by type, players
// first. Ranges are the game's, wider where values were seen beyond them.
func (g *Groups) Schema(hz int) *frame.Schema {
	groups := slices.Clone(g.list)
	slices.SortFunc(groups, func(a, b group) int { return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Size, b.Size)) })
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
			first, last = min(first, at[c]), max(last, at[c])
			widen(&s.Fields[at[c]], x.low[j], x.high[j])
		}
		s.Parts = append(s.Parts, frame.Part{Name: x.String(), Row: s.Rows, Rows: x.ids, Field: first, Size: last - first + 1})
		s.Rows += x.ids
	}
	return s
}

// rank orders types: characters come first, since much else is where they are.
func (s shape) rank() int {
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
	shape
	Row, Rows int
	Present   int   // the column of its presence
	Columns   []int // of the values, in the order in which they travel
}

// Layout is how items become rows.
type Layout struct {
	Schema *frame.Schema
	Now    int // the cell with the tick of the frame
	Parts  []Part
	at     map[shape]int
}

// errSchema: a schema is not of Teeworlds' snapshots.
var errSchema = errors.New("no schema of Teeworlds' snapshots")

// LayoutOf finds out from a schema alone how items become its rows: parts and columns tell it by
// their names.
func LayoutOf(s *frame.Schema) (*Layout, error) {
	l := &Layout{Schema: s, at: map[shape]int{}}
	if s.Name != Name || len(s.Parts) == 0 || s.Parts[0].Name != timeRow || s.Rows < 1 || len(s.Fields) == 0 || s.Fields[0].Name != "Now" {
		return nil, errSchema
	}
	column := map[string]int{}
	for i := range s.Fields {
		column[s.Fields[i].Name] = i
	}
	row := 1
	for _, p := range s.Parts[1:] {
		x, ok := parseShape(p.Name)
		if _, twice := l.at[x]; !ok || twice || p.Row != row || p.Rows < 1 || p.Rows > 1<<16 || p.Rows > s.Rows-row {
			return nil, fmt.Errorf("%w: part %q", errSchema, p.Name)
		}
		part := Part{shape: x, Row: row, Rows: p.Rows}
		for i, c := range append([]string{x.present()}, x.columns()...) {
			at, ok := column[c]
			if f := p.Field; !ok || at < f || at-f >= p.Size {
				return nil, fmt.Errorf("%w: part %q has no %q", errSchema, p.Name, c)
			}
			if i == 0 {
				part.Present = at
			} else {
				part.Columns = append(part.Columns, at)
			}
		}
		l.at[x] = len(l.Parts)
		l.Parts = append(l.Parts, part)
		row += p.Rows
	}
	if row != s.Rows {
		return nil, fmt.Errorf("%w: %d rows of %d have no part", errSchema, s.Rows-row, s.Rows)
	}
	return l, nil
}

// Find returns the part and the row of an item with so many values; false if there is none for it.
func (l *Layout) Find(k Key, size int) (p *Part, row int, ok bool) {
	at, ok := l.at[shape{k.Type(), size}]
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
