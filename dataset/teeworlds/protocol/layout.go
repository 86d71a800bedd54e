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

// Name is the name of every schema of Teeworlds snapshots.
const Name = "teeworlds"

// timeRow is the name of the part of one row, row 0, that holds the tick of the frame.
const timeRow = "Time"

// shape is a type of item and a number of values. Items of one shape use the same columns.
type shape struct {
	Type, Size int
}

// known reports whether types describes the shape. Other shapes, of types or sizes that modified
// games add, get columns without a meaning.
func (s shape) known() bool {
	return s.Type >= 1 && s.Type < len(types) && types[s.Type].size == s.Size
}

// String returns the name of the part of a schema that holds items of the shape.
func (s shape) String() string {
	if s.known() {
		return types[s.Type].name
	}
	return fmt.Sprintf("type %d of %d", s.Type, s.Size)
}

// columnNames returns the names of the columns that hold the values, in the order of the protocol.
func (s shape) columnNames() []string {
	if s.known() {
		return types[s.Type].columnNames()
	}
	list := make([]string, s.Size)
	for i := range list {
		list[i] = fmt.Sprintf("%d/%d.%d", s.Type, s.Size, i)
	}
	return list
}

// parseShape is the inverse of shape.String; ok is false if name is not the name of a shape.
func parseShape(name string) (s shape, ok bool) {
	for i := 1; i < len(types); i++ {
		if types[i].name == name {
			return shape{i, types[i].size}, true
		}
	}
	text, hasType := strings.CutPrefix(name, "type ")
	typ, size, hasSize := strings.Cut(text, " of ")
	s.Type, _ = strconv.Atoi(typ)
	s.Size, _ = strconv.Atoi(size)
	return s, hasType && hasSize && s.String() == name && s.Type >= 0 && s.Type <= MaxType && s.Size >= 0
}

// group collects the items of one shape.
type group struct {
	shape
	ids       int     // number of rows: one more than the highest identity
	low, high []int32 // the lowest and the highest of each value
}

// Groups collects items and makes a schema with room for all of them. The zero value is empty.
type Groups struct {
	list   []group
	index  map[shape]int // index in list
	rows   int           // rows of the table, without the row of the tick
	fields int           // columns of the table, without the column of the tick
}

// ErrLarge means that items need a table of more than maxTableCells cells.
var ErrLarge = errors.New("too large")

// maxTableCells is the largest number of cells of a table. Real matches need a tenth of it.
const maxTableCells = 1 << 18

// Add extends rows, columns and ranges for an item. If the table would become too large it returns
// an error and changes nothing.
func (g *Groups) Add(item Item) error {
	s := shape{item.Key.Type(), len(item.Values)}
	i, known := g.index[s]
	fields := g.fields
	if !known {
		i = len(g.list)
		g.list = append(g.list, group{shape: s, low: slices.Clone(item.Values), high: slices.Clone(item.Values)})
		fields = len(tableColumns(g.list))
	}
	target := &g.list[i]
	ids := max(target.ids, item.Key.ID()+1)
	rows := g.rows + ids - target.ids
	if ids > target.ids && rows+1 > maxTableCells/(fields+1) { // one row and one field more, for the tick
		g.list = g.list[:len(g.index)] // removes the group if it is new
		return fmt.Errorf("%w: item %v needs a table of %d rows x %d fields, expected at most %d cells",
			ErrLarge, item.Key, rows+1, fields+1, maxTableCells)
	}
	if g.index == nil {
		g.index = map[shape]int{}
	}
	g.index[s], g.rows, g.fields, target.ids = i, rows, fields, ids
	for i, v := range item.Values {
		target.low[i], target.high[i] = min(target.low[i], v), max(target.high[i], v)
	}
	return nil
}

// tableColumns returns the names of the columns that groups need: the shared columns, then for each
// group with columns of its own a Present column and these.
func tableColumns(groups []group) []string {
	used := map[string]bool{}
	for i := range groups {
		for _, c := range groups[i].columnNames() {
			used[c] = true
		}
		used["Present"] = used["Present"] || used["X"]
	}
	var list []string
	for _, c := range strings.Fields(sharedColumns) {
		if used[c] {
			list = append(list, c)
		}
	}
	for i := range groups {
		if g := &groups[i]; !g.hasPosition() {
			list = append(append(list, g.String()+".Present"), g.columnNames()...)
		}
	}
	return list
}

// hasPosition reports whether items of the shape use the shared columns: they have a position. All
// other known types have columns of their own only.
func (s shape) hasPosition() bool { return s.known() && !strings.HasPrefix(types[s.Type].columns, ".") }

// presentColumn returns the name of the column that is 1 if a row holds an item, and 0 if it is empty.
func (s shape) presentColumn() string {
	if s.hasPosition() {
		return "Present"
	}
	return s.String() + ".Present"
}

// Schema returns a schema with room for the items: row 0 with the tick, then the items by type,
// characters first. Ranges are the game's, widened to the values of the items. hz is the rate of
// frames.
func (g *Groups) Schema(hz int) *frame.Schema {
	groups := slices.Clone(g.list)
	slices.SortFunc(groups, func(a, b group) int { return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Size, b.Size)) })
	columns := append([]string{"Now"}, tableColumns(groups)...)
	s := &frame.Schema{Name: Name, Item: "item", Rows: 1, TickHz: hz, Parts: []frame.Part{{Name: timeRow, Rows: 1, Size: 1}}}
	column := map[string]int{}
	for i, c := range columns {
		column[c] = i
		s.Fields = append(s.Fields, newField(c))
	}
	for i := range groups {
		grp := &groups[i]
		first, last := column[grp.presentColumn()], column[grp.presentColumn()]
		for j, c := range grp.columnNames() {
			first, last = min(first, column[c]), max(last, column[c])
			widen(&s.Fields[column[c]], grp.low[j], grp.high[j])
		}
		s.Parts = append(s.Parts, frame.Part{Name: grp.String(), Row: s.Rows, Rows: grp.ids, Field: first, Size: last - first + 1})
		s.Rows += grp.ids
	}
	return s
}

// rank returns the sort key of the shape in the table: lower ranks come first. It is the number of the
// type, except that characters come first, since the positions of many other items can be predicted
// from theirs.
func (s shape) rank() int {
	if s.Type == typeCharacter {
		return 0
	}
	return s.Type
}

// typeCharacter is the number of the type Character, the figure of a player.
const typeCharacter = 10

// widen extends the range of a field to low..high and 0, which empty rows hold. The range of an angle
// is moved if values span less than a turn; otherwise the field becomes a quantity. A flag with
// other values than 0 and 1 becomes a quantity too.
func widen(f *frame.Field, low, high int32) {
	low, high = min(low, 0), max(high, 0)
	switch {
	case !f.Kind.Bounded() || f.Min <= low && high <= f.Max:
		return
	case f.Kind == frame.Angle && int64(high)-int64(low) < fullTurn:
		f.Min, f.Max = low, low+fullTurn-1
		return
	case f.Kind == frame.Angle || f.Kind == frame.Flag:
		f.Kind = frame.Quantity
	}
	f.Min, f.Max = min(f.Min, low), max(f.Max, high)
}

// Part locates the items of one shape in a table.
type Part struct {
	shape
	Row, Rows int   // first row and number of rows; the row of an item is Row + its identity
	Present   int   // column that is 1 if the row holds an item
	Columns   []int // columns of the values, in the order of the protocol
}

// Layout is the mapping of items to the rows of a table.
type Layout struct {
	Schema   *frame.Schema
	TickCell int // index in the table of the tick of the frame; always 0
	Parts    []Part
	index    map[shape]int // index in Parts
}

// errSchema means that a schema is not one of Teeworlds snapshots.
var errSchema = errors.New("not a schema of Teeworlds snapshots")

// NewLayout derives the layout from a schema that Groups.Schema made, by the names of its parts and
// columns. An encoder, which gets only the schema, finds the items this way.
func NewLayout(s *frame.Schema) (*Layout, error) {
	l := &Layout{Schema: s, index: map[shape]int{}}
	if s.Name != Name || len(s.Parts) == 0 || s.Parts[0].Name != timeRow || s.Rows < 1 || len(s.Fields) == 0 || s.Fields[0].Name != "Now" {
		return nil, errSchema
	}
	column := map[string]int{}
	for i := range s.Fields {
		column[s.Fields[i].Name] = i
	}
	row := 1
	for _, p := range s.Parts[1:] {
		sh, ok := parseShape(p.Name)
		if _, twice := l.index[sh]; !ok || twice || p.Row != row || p.Rows < 1 || p.Rows > 1<<16 || p.Rows > s.Rows-row {
			return nil, fmt.Errorf("%w: part %q", errSchema, p.Name)
		}
		part := Part{shape: sh, Row: row, Rows: p.Rows}
		for i, c := range append([]string{sh.presentColumn()}, sh.columnNames()...) { // the first column is Present, the others hold the values
			columnIndex, ok := column[c]
			if f := p.Field; !ok || columnIndex < f || columnIndex-f >= p.Size {
				return nil, fmt.Errorf("%w: part %q has no %q", errSchema, p.Name, c)
			}
			if i == 0 {
				part.Present = columnIndex
			} else {
				part.Columns = append(part.Columns, columnIndex)
			}
		}
		l.index[sh] = len(l.Parts)
		l.Parts = append(l.Parts, part)
		row += p.Rows
	}
	if row != s.Rows {
		return nil, fmt.Errorf("%w: %d rows of %d have no part", errSchema, s.Rows-row, s.Rows)
	}
	return l, nil
}

// Find returns the part and the row of the item with key k and size values; ok is false if the
// layout has no row for it.
func (l *Layout) Find(k Key, size int) (p *Part, row int, ok bool) {
	i, ok := l.index[shape{k.Type(), size}]
	if !ok {
		return nil, 0, false
	}
	p = &l.Parts[i]
	return p, p.Row + k.ID(), k.ID() < p.Rows
}

// Row returns the cells of a row of a table, not a copy.
func (l *Layout) Row(table []int32, row int) []int32 {
	n := len(l.Schema.Fields)
	return table[row*n : (row+1)*n : (row+1)*n]
}

// SetItem writes an item with values into row, the cells of its row, and marks it as present.
func (p *Part) SetItem(row, values []int32) {
	row[p.Present] = 1
	for i, c := range p.Columns {
		row[c] = values[i]
	}
}
