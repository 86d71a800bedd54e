package table

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/internal/testkit"
)

// schemaBuilder writes a schema, and records that fit it, from the choices of a fuzzer.
type schemaBuilder struct {
	*testkit.Choices
	text    strings.Builder
	columns []column
	fields  []frame.Field // what the schema describes, unless damaged
	words   [][]string    // of each field: the names of an enum's values, or nil
	layout  Layout        // the settings of records
	rows    int
	damaged bool // a key or a value of the schema differs from what the other fields describe
}

// key writes a key with its value, which is TOML. A rare line is damaged.
func (b *schemaBuilder) key(key, value string) {
	if b.Rare() {
		b.damaged = true
		switch b.IntN(4) {
		case 0:
			return
		case 1:
			fmt.Fprintf(&b.text, "%s = %s\n", key, value)
		case 2:
			key = testkit.Pick(b.Choices, "name", "item", "rows", "range", "kind", "rate_hz", "field", "part", "group", "x")
		default:
			value = testkit.Pick(b.Choices, "-1", "0", "1e300", "nan", "-inf", `""`, `"\u001b[2J"`, "[]", "{}", "[{}]", "[1, 2, 3]", "true",
				"9223372036854775807", "1979-05-27", "0.1", "[inf, -inf]", "[-2147483648, 2147483648]", `["a"]`, `["a", 1]`, "256", "65537",
				strconv.Quote(strings.Repeat("x", 41)), strconv.Quote(string(b.Bytes(5))))
		}
	}
	fmt.Fprintf(&b.text, "%s = %s\n", key, value)
}

// name returns a name for element i of a list, which is unique and may need quoting.
func (b *schemaBuilder) name(i int) string {
	return testkit.Pick(b.Choices, "f", "a,b;", `q"`, "Größe \\", "0", "tick|", "#", "frame") + strconv.Itoa(i)
}

// settings writes the keys before the fields.
func (b *schemaBuilder) settings() {
	b.layout = Layout{Header: true, Comma: ','}
	if b.IntN(2) == 1 {
		b.key("name", `"thing"`)
	}
	b.key("item", strconv.Quote(b.name(0)))
	b.key("rate_hz", fmt.Sprint(1+b.IntN(maxRateHz)))
	b.rows = 1 + b.IntN(5)
	b.key("rows", fmt.Sprint(b.rows))
	if b.layout.Preamble = b.IntN(4); b.layout.Preamble > 0 {
		b.key("preamble", fmt.Sprint(b.layout.Preamble))
	}
	if b.layout.Format = testkit.Pick(b.Choices, "", "csv", "int32"); b.layout.Format != "" {
		b.key("format", strconv.Quote(b.layout.Format))
	}
	if b.IntN(4) == 3 {
		b.layout.Header = false
		b.key("header", "false")
	}
	if b.layout.Comma = separators[b.IntN(len(separators))]; b.layout.Comma != ',' {
		b.key("separator", strconv.Quote(string(b.layout.Comma)))
	}
	if b.IntN(3) == 2 {
		b.layout.Frame = "tick"
		b.key("frame", `"tick"`)
	}
}

// field writes a table [[field]].
func (b *schemaBuilder) field() {
	i := len(b.fields)
	f := frame.Field{Name: b.name(i), Kind: testkit.Pick(b.Choices, kinds()...)}
	c := column{name: f.Name}
	b.text.WriteString("[[field]]\n")
	b.key("name", strconv.Quote(f.Name))
	b.key("kind", strconv.Quote(f.Kind.String()))
	if b.IntN(4) == 3 {
		c.name = "column" + strconv.Itoa(i)
		b.key("column", strconv.Quote(c.name))
	}
	if b.IntN(4) == 3 {
		f.Unit = "m/s"
		b.key("unit", `"m/s"`)
	}
	var words []string
	switch f.Kind {
	case frame.Flag:
		f.Max = 1
	case frame.Quantity, frame.Angle, frame.Enum:
		if f.Kind == frame.Enum && b.IntN(2) == 1 {
			words = []string{"idle", `a "b"`, "c,d;", "1"}[:2+b.IntN(3)]
			f.Max = int32(len(words) - 1)
			var quotes []string
			for _, w := range words {
				quotes = append(quotes, strconv.Quote(w))
			}
			b.key("values", "["+strings.Join(quotes, ", ")+"]")
		} else {
			b.numbers(&f)
		}
	}
	b.hint(&f)
	b.fields, b.columns, b.words = append(b.fields, f), append(b.columns, c), append(b.words, words)
}

// numbers writes the scale and the range of a field.
func (b *schemaBuilder) numbers(f *frame.Field) {
	f.Scale = 1
	if f.Kind != frame.Enum && b.IntN(2) == 1 {
		f.Scale = testkit.Pick(b.Choices, 0.01, 0.1, 0.5, 0.3, 3, 360.0/65536, minScale, maxScale)
		b.key("scale", strconv.FormatFloat(f.Scale, 'g', -1, 64))
	}
	ends := []int32{0, 1, -1, math.MinInt32, math.MaxInt32, math.MaxInt32 - 1, int32(b.Uint64(4))}
	f.Min, f.Max = testkit.Pick(b.Choices, ends...), testkit.Pick(b.Choices, ends...)
	if f.Min > f.Max {
		f.Min, f.Max = f.Max, f.Min
	}
	last := float64(f.Max)
	if f.Kind == frame.Angle {
		if f.Min == f.Max { // a turn has at least two steps
			f.Min, f.Max = 0, 1
		}
		last = float64(f.Max) + 1
	}
	b.key("range", fmt.Sprintf("[%g, %g]", float64(f.Min)*f.Scale, last*f.Scale))
}

// hint writes the keys about the role of a field.
func (b *schemaBuilder) hint(f *frame.Field) {
	h := &f.Hint
	if b.IntN(2) == 0 {
		return
	}
	h.Role = testkit.Pick(b.Choices, roles()...)
	b.key("role", strconv.Quote(h.Role.String()))
	if h.Role == frame.Position || h.Role == frame.Velocity || h.Role == frame.Clock {
		h.Group = uint8(1 + b.IntN(maxGroup))
		b.key("group", fmt.Sprint(h.Group))
	}
	if h.Role == frame.Position || h.Role == frame.Velocity {
		h.Axis = uint8(b.IntN(3))
		b.key("axis", fmt.Sprint(h.Axis))
	}
	if b.IntN(4) == 3 {
		h.Rides = uint8(b.IntN(maxGroup + 1))
		b.key("rides", fmt.Sprint(h.Rides))
	}
	for _, x := range []struct {
		key string
		to  *float64
	}{{"rate", &h.Rate}, {"drag", &h.Drag}, {"stop_speed", &h.StopSpeed}, {"turn", &h.Turn}, {"step", &h.Step}, {"jump", &f.Jump}} {
		if b.IntN(4) == 3 && (x.key != "jump" || h.Role == frame.Position) {
			*x.to = testkit.Pick(b.Choices, 0.125, 0.1, 360, maxScale, 1e-300)
			b.key(x.key, strconv.FormatFloat(*x.to, 'g', -1, 64))
		}
	}
}

// parts writes tables [[part]] that do not overlap and returns the parts.
func (b *schemaBuilder) parts() (list []frame.Part) {
	for row := b.IntN(3); row < b.rows && b.IntN(2) == 1; {
		p := frame.Part{Name: b.name(len(list)), Row: row, Rows: 1 + b.IntN(b.rows-row), Field: b.IntN(len(b.fields))}
		p.Size = 1 + b.IntN(len(b.fields)-p.Field)
		b.text.WriteString("[[part]]\n")
		b.key("name", strconv.Quote(p.Name))
		b.key("first_row", fmt.Sprint(p.Row))
		b.key("rows", fmt.Sprint(p.Rows))
		b.key("first", strconv.Quote(b.fields[p.Field].Name))
		b.key("last", strconv.Quote(b.fields[p.Field+p.Size-1].Name))
		list = append(list, p)
		row = p.Row + p.Rows
	}
	return list
}

// records returns frames in the ranges of the fields, the first of them repeated for the preamble.
func (b *schemaBuilder) records() (frames [][]int32) {
	for range 1 + b.IntN(4) {
		table := make([]int32, b.rows*len(b.fields))
		for i := range table {
			f := &b.fields[i%len(b.fields)]
			v := int32(b.Uint64(testkit.Pick(b.Choices, 1, 2, 4)))
			switch {
			case f.Kind == frame.Float32 && math.IsNaN(float64(math.Float32frombits(uint32(v)))), f.Kind == frame.Float32 && math.IsInf(float64(math.Float32frombits(uint32(v))), 0):
				v = 0
			case f.Kind.Bounded():
				lowest, span := f.Span()
				v = int32(uint32(lowest) + uint32(uint64(uint32(v))%(uint64(span)+1)))
			}
			table[i] = v
		}
		frames = append(frames, table)
	}
	for range b.layout.Preamble {
		frames = append([][]int32{frames[0]}, frames...)
	}
	return frames
}

// csv returns frames as CSV. Some cells are damaged.
func (b *schemaBuilder) csv(frames [][]int32, damaged *bool) string {
	var out strings.Builder
	w := csv.NewWriter(&out)
	w.Comma = rune(b.layout.Comma)
	w.UseCRLF = b.IntN(4) == 3
	write := func(cells []string) { _ = w.Write(cells) } // a strings.Builder returns no error
	if b.layout.Header {
		var head []string
		for _, c := range b.columns {
			head = append(head, c.name)
		}
		if b.layout.Frame != "" {
			head = append([]string{b.layout.Frame}, head...)
		}
		write(head)
	}
	for n, table := range frames {
		for row := range slices.Chunk(table, len(b.fields)) {
			var cells []string
			if b.layout.Frame != "" {
				cells = append(cells, strconv.Itoa(n*3))
			}
			for i, v := range row {
				cells = append(cells, b.cell(v, i))
				if b.Rare() {
					*damaged = true
					cells[len(cells)-1] = testkit.Pick(b.Choices, "", "-1", "1e400", "nan", "0x", "0x1", "\x1b", "1,5", "2147483648", "1e-400", "--1",
						"idle", "true", string(b.Bytes(6)))
				}
			}
			write(cells)
		}
	}
	w.Flush()
	return out.String()
}

// cell returns a value of field i, in steps, as a cell.
func (b *schemaBuilder) cell(v int32, i int) string {
	f := &b.fields[i]
	switch {
	case b.words[i] != nil:
		return b.words[i][v]
	case f.Kind == frame.Flag:
		return strconv.Itoa(int(v))
	case f.Kind == frame.Bits:
		return fmt.Sprintf(testkit.Pick(b.Choices, "%d", "0x%x"), uint32(v))
	case f.Kind == frame.Float32:
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(v))), 'g', -1, 64)
	}
	return strconv.FormatFloat(float64(v)*f.Scale, testkit.Pick(b.Choices, byte('g'), 'e'), -1, 64)
}

// checkLayout compares a layout with what the schema describes.
func (b *schemaBuilder) checkLayout(t *testing.T, l *Layout, parts []frame.Part) {
	if l.Preamble != b.layout.Preamble || l.Format != b.layout.Format || l.Header != b.layout.Header || l.Comma != b.layout.Comma ||
		l.Frame != b.layout.Frame || l.Schema.Rows != b.rows || !slices.Equal(l.Schema.Parts, parts) || !slices.Equal(l.columns, b.columns) {
		t.Fatalf("%s\nis read as\n%+v", b.text.String(), l)
	}
	for i, f := range b.fields {
		f.Values = b.words[i]
		if !reflect.DeepEqual(l.Schema.Fields[i], f) {
			t.Fatalf("field %d is read as\n%+v, expected\n%+v\n%s", i, l.Schema.Fields[i], f, b.text.String())
		}
	}
}

// FuzzSchema builds schemas and records that fit them, and damages some keys, values and cells. What is not
// damaged must be read as it was built; what is accepted describes itself and has only values within
// the ranges; every error names its file.
func FuzzSchema(f *testing.F) {
	for kind := range byte(6) {
		f.Add([]byte{1, 0, 0, 9, 2, 0, 1, 0, 0, 2, 0, 0, 0, 0, kind, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 5, 0, 6, 0, 1, kind}, []byte{2, 0, 9, 1, 2, 3, 4})
	}
	f.Add([]byte{0, 0, 0, 5, 0, 4, 0, 0, 0, 3, 2, 2, 0, 0, 255, 3, 7}, []byte{0, 3, 1, 255, 255, 255, 255, 2})
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, schema, records []byte) {
		b := &schemaBuilder{Choices: testkit.NewChoices(schema)}
		b.settings()
		for first := true; first || !b.Empty() && len(b.fields) < 12; first = false {
			b.field()
		}
		b.Choices = testkit.NewChoices(records)
		parts := b.parts()
		if b.Rare() {
			text := b.DamageText(b.text.String())
			b.damaged = true
			b.text.Reset()
			b.text.WriteString(text)
		}
		l, err := ParseLayout("schema", []byte(b.text.String()))
		if err != nil {
			if !b.damaged || !errors.Is(err, ErrSchema) || !strings.HasPrefix(err.Error(), "schema:") {
				t.Fatalf("%s\n%v", b.text.String(), err)
			}
			return
		}
		again, err := ParseLayout("again", l.Describe())
		if err != nil || !reflect.DeepEqual(l, again) {
			t.Fatalf("%s\nis described as\n%s\nwhich is read as another layout, or %v", b.text.String(), l.Describe(), err)
		}
		if l.Schema.Cells() > 1<<12 {
			return // slow, and no different
		}
		if !b.damaged {
			b.checkLayout(t, l, parts)
		}
		frames := b.records()
		damaged := b.damaged
		path := filepath.Join(dir, testkit.Pick(b.Choices, "a.csv", "a.bin", "a.txt"))
		content := packedBytes(frames)
		if l.FormatOf(path) == formatCSV {
			content = []byte(b.csv(frames, &damaged))
		}
		if b.Rare() {
			damaged, content = true, []byte(b.DamageText(string(content)))
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := play(l, path)
		if err != nil && !strings.HasPrefix(err.Error(), path+":") {
			t.Fatalf("an error without its file: %v", err)
		}
		if want := frames[b.layout.Preamble:]; !damaged && (err != nil || fmt.Sprint(got) != fmt.Sprint(want)) {
			t.Fatalf("%s\n%q\n%v, %v, want %v", b.text.String(), content, got, err, want)
		}
	})
}
