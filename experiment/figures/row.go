package figures

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"wirelab/internal/units"
)

// Row describes a figure of Totals for everything that shows or compares it. Rows are made from the
// struct tags of the fields: `json` is the key, and `figure` lists the title, the unit, the number of
// decimals and flags. The flags are
//
//	more     more is better; without a flag less is better
//	neutral  neither is better
//	packets  sets Row.Common
//	main     sets Row.Rank to Main, and narrow sets it to Narrow; main:p95 does so for one quantile
type Row struct {
	Key      string // dotted key in JSON, CSV, assertions and comparisons, such as "playout.starved_ratio"
	Title    string // in lower case, such as "display starved"
	Unit     string // in which people read the figure: "" for counts, and "%" for shares, whose values are from 0 to 1
	Decimals int    // in that unit
	Better   Direction
	Rank     Rank
	Common   bool // a mean, a count or a sum over most packets of a run
}

// Direction describes which values of a figure are better.
type Direction int

// The directions.
const (
	LessIsBetter Direction = iota // sizes, delays, errors and failures, which are most figures
	MoreIsBetter
	Neither
)

// Rank describes which tables have a figure.
type Rank int

// The ranks.
const (
	Listed Rank = iota // only in lists of all figures
	Main               // also in tables of the most important figures
	Narrow             // also in tables with little space
)

// Scale returns the factor from values of the figure to its unit.
func (r *Row) Scale() float64 {
	if r.Unit == "%" {
		return 100
	}
	return 1
}

// Label returns the title and the unit, such as "payload, kbps".
func (r *Row) Label() string {
	if r.Unit == "" {
		return r.Title
	}
	return r.Title + ", " + r.Unit
}

// Text returns a value of the figure in its unit.
func (r *Row) Text(v float64) string { return units.Fixed(v*r.Scale(), r.Decimals) }

// IsIdle reports whether v says that nothing happened: a count of 0, except of wrong packets, which must
// be seen to be 0.
func (r *Row) IsIdle(v float64) bool { return r.Unit == "" && v == 0 && r.Key != "wrong" }

// In returns the row with the unit that the figure has in a run: errors of tables have that of the data.
func (r Row) In(t *Totals) Row {
	r.Unit = cmp.Or(r.Unit, UnitsOf(t)[r.Key])
	return r
}

// UnitsOf returns the units, by key, of those figures of a run whose unit depends on the data.
func UnitsOf(t *Totals) map[string]string {
	position, angle := t.Playout.PositionErrorUnit, t.Playout.AngleErrorUnit
	units := map[string]string{}
	for _, q := range (Quantiles{}).parts() {
		units["playout.position_error."+q.key], units["playout.angle_error."+q.key] = position, angle
	}
	return units
}

// Table returns the rows of all figures, in the order of Totals.
var Table = sync.OnceValue(func() []Row { return RowsOf(Totals{}) })

// RowsOf returns the rows of the figures of x, which is a struct with the tags of Totals, or a pointer to one.
func RowsOf(x any) (table []Row) {
	visit(reflect.Indirect(reflect.ValueOf(x)), Row{}, true, func(r Row, _ Figure) { table = append(table, r) })
	return table
}

// Ranked returns the rows of Table of at least the given rank, counts after other figures.
func Ranked(least Rank) []Row { return RankedOf(Table(), least) }

// RankedOf returns the rows of a table of at least the given rank, counts after other figures.
func RankedOf(table []Row, least Rank) []Row {
	var list, counts []Row
	for _, r := range table {
		switch {
		case r.Rank < least:
		case r.Unit == "":
			counts = append(counts, r)
		default:
			list = append(list, r)
		}
	}
	return append(list, counts...)
}

// rowsByKey contains the rows by their keys. Failures also have a key without "failures.", for assertions.
var rowsByKey = sync.OnceValue(func() map[string]Row {
	rows := map[string]Row{}
	for _, r := range Table() {
		rows[r.Key] = r
	}
	addShortKeys(rows)
	return rows
})

// addShortKeys adds the values of keys that begin with "failures." under their short keys.
func addShortKeys[V any](byKey map[string]V) {
	for key, v := range maps.Clone(byKey) {
		short, isFailure := strings.CutPrefix(key, "failures.")
		if isFailure {
			byKey[short] = v
		}
	}
}

// Find returns the row of the figure with the given key. An unknown key is its own title.
func Find(key string) Row {
	r, known := rowsByKey()[key]
	if !known {
		r.Title = key
	}
	r.Key = key
	return r
}

// Keys returns the keys of all figures, sorted: those that assertions, searches and comparisons can name.
func Keys() []string { return slices.Sorted(maps.Keys(rowsByKey())) }

// Flatten returns all known figures of x by their keys. x is as for RowsOf.
func Flatten(x any) map[string]float64 {
	byKey := map[string]float64{}
	visit(reflect.Indirect(reflect.ValueOf(x)), Row{}, false, func(r Row, f Figure) {
		if v, known := f.Value(); known {
			byKey[r.Key] = v
		}
	})
	addShortKeys(byKey)
	return byKey
}

// parts are figures that belong together, such as the quantiles of a distribution.
type parts interface{ parts() []part }

// part is one figure of parts.
type part struct {
	key, title string // what follows the key and the title of the whole
	value      Figure
}

// visit calls add for each figure of a struct. Parent contains the key of the struct and the title of
// what it is about. Parts that are nil have no figures unless all is set.
func visit(v reflect.Value, parent Row, all bool, add func(Row, Figure)) {
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		if value.Kind() == reflect.Pointer {
			if value.IsNil() && all {
				value = reflect.New(field.Type.Elem())
			}
			value = value.Elem() // the zero Value if the pointer is nil
		}
		if !value.IsValid() {
			continue
		}
		tag, isFigure := field.Tag.Lookup("figure")
		row := parent.child(field)
		switch x := value.Interface().(type) {
		case Figure:
			row.read(tag, "")
			add(row, x)
		case parts:
			for _, p := range x.parts() {
				partRow := row
				partRow.read(tag, p.key)
				partRow.Key += "." + p.key
				partRow.Title += p.title
				add(partRow, p.value)
			}
		default:
			row.read(tag, "")
			switch {
			case value.Kind() == reflect.Struct:
				visit(value, row, all, add)
			case isFigure && value.CanInt():
				add(row, Known(float64(value.Int())))
			case isFigure && value.CanFloat():
				add(row, Known(value.Float()))
			}
		}
	}
}

// child returns the row of a field of the struct that r is about, without what its tag "figure" contains.
func (r Row) child(field reflect.StructField) Row {
	if field.Anonymous { // its fields belong to the struct itself
		return r
	}
	key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	r.Key = strings.TrimPrefix(r.Key+"."+key, ".")
	return r
}

// read sets what a tag says about the figure or, if part is not "", about a part of it. The title of a
// struct follows those of its figures: "payload, p95 of clients".
func (r *Row) read(tag, part string) {
	if tag == "" {
		return
	}
	values := append(strings.Split(tag, ","), "", "", "")
	r.Title = strings.TrimSuffix(values[0]+", "+r.Title, ", ")
	r.Unit = values[1]
	r.Decimals, _ = strconv.Atoi(values[2]) // structs and parts without a unit have no decimals
	for _, flag := range values[3:] {
		name, of, isOfPart := strings.Cut(flag, ":")
		if isOfPart && of != part {
			continue
		}
		switch name {
		case "more":
			r.Better = MoreIsBetter
		case "neutral":
			r.Better = Neither
		case "packets":
			r.Common = true
		case "main":
			r.Rank = Main
		case "narrow":
			r.Rank = Narrow
		}
	}
}
