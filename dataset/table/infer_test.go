package table

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/internal/testkit"
)

// inferredColumn is a column of a random log.
type inferredColumn struct {
	name   string
	format func(rng *rand.Rand, before float64) (value float64, text string) // of a thing whose value was before
	words  bool
	turn   float64 // 0 if values do not wrap
	wide   bool    // values are uint64 in text
	digit  float64 // the last digit of numbers with a fixed number of decimals
	empty  bool    // some cells are empty
}

// randomColumns returns columns of all kinds.
func randomColumns(rng *rand.Rand) (list []inferredColumn) {
	for i := range 1 + rng.IntN(7) {
		c := inferredColumn{name: testkitName(rng, i), empty: rng.IntN(6) == 0}
		digits, size := rng.IntN(5), math.Pow10(rng.IntN(5))
		fixed := func(v float64) (float64, string) {
			text := strconv.FormatFloat(v, 'f', digits, 64)
			v, _ = strconv.ParseFloat(text, 64)
			return v, text
		}
		switch rng.IntN(8) {
		case 0, 1:
			c.digit = math.Pow10(-digits)
			c.format = func(rng *rand.Rand, before float64) (float64, string) {
				return fixed(max(-size, min(before+rng.NormFloat64()*size/20, size)))
			}
		case 2:
			c.turn = []float64{360, 2 * math.Pi}[rng.IntN(2)]
			c.name = fmt.Sprintf("yaw%d", i)
			digits = rng.IntN(4)
			c.digit = math.Pow10(-digits)
			c.format = func(rng *rand.Rand, before float64) (float64, string) {
				return fixed(math.Mod(before+c.turn+rng.NormFloat64()*c.turn/50, c.turn))
			}
		case 3:
			c.digit = 1
			low, span := rng.IntN(4000)-2000, 1+rng.IntN(1000)
			c.format = func(rng *rand.Rand, _ float64) (float64, string) {
				v := low + rng.IntN(span)
				return float64(v), strconv.Itoa(v)
			}
		case 4:
			c.words = true
			c.format = func(rng *rand.Rand, _ float64) (float64, string) {
				return 0, []string{"idle", "run ning", "a,b", "Größe", "x#\"y\""}[rng.IntN(5)]
			}
		case 5:
			names := [][]string{{"0", "1"}, {"false", "true"}}[rng.IntN(2)]
			c.format = func(rng *rand.Rand, _ float64) (float64, string) {
				v := rng.IntN(2)
				return float64(v), names[v]
			}
		case 6:
			c.wide = true
			c.format = func(rng *rand.Rand, _ float64) (float64, string) {
				return 0, strconv.FormatUint(rng.Uint64()|1<<63, 10)
			}
		case 7:
			c.format = func(rng *rand.Rand, before float64) (float64, string) {
				v := before + rng.NormFloat64()
				return v, strconv.FormatFloat(v, 'g', -1, 64)
			}
		}
		list = append(list, c)
	}
	return list
}

// testkitName returns a name of column i.
func testkitName(rng *rand.Rand, i int) string {
	return []string{"value", "pos.x", "müde", "a b", "state", "n[2]"}[rng.IntN(6)] + strconv.Itoa(i)
}

// randomLog is a log with the values that were written to it.
type randomLog struct {
	columns []inferredColumn
	values  [][][]float64 // by frame, row and column
	texts   [][][]string
	keyed   bool
}

// newRandomLog returns a random log of things that come and go, or that have fixed rows.
func newRandomLog(rng *rand.Rand) *randomLog {
	l := &randomLog{columns: randomColumns(rng), keyed: rng.IntN(3) > 0}
	things := 1 + rng.IntN(12)
	last := make([][]float64, things)
	alive := make([]bool, things)
	for n := range 6 + rng.IntN(40) {
		var order []int
		for thing := range things {
			if n == 0 || l.keyed && rng.IntN(15) == 0 {
				alive[thing] = !alive[thing]
			}
			if alive[thing] || thing == 0 {
				order = append(order, thing)
			}
		}
		if l.keyed {
			rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		var values [][]float64
		var texts [][]string
		for _, thing := range order {
			if last[thing] == nil {
				last[thing] = make([]float64, len(l.columns))
			}
			text := []string{strconv.Itoa(50 + n), strconv.Itoa(1000 + thing)}
			for i, c := range l.columns {
				v, s := c.format(rng, last[thing][i])
				last[thing][i] = v
				if c.empty && rng.IntN(5) == 0 {
					v, s = 0, ""
				}
				text = append(text, s)
				last[thing][i] = v
			}
			values, texts = append(values, slices.Clone(last[thing])), append(texts, text)
		}
		l.values, l.texts = append(l.values, values), append(l.texts, texts)
	}
	return l
}

// names returns the names of the columns: tick, perhaps id, and those of l.columns.
func (l *randomLog) names() (list []string) {
	list = append(list, "tick", "id")
	for _, c := range l.columns {
		list = append(list, c.name)
	}
	return list
}

func (l *randomLog) csv(separator string) string {
	var b strings.Builder
	row := func(cells []string) {
		for i, c := range cells {
			if i == 1 && !l.keyed {
				continue
			}
			if i > 0 {
				b.WriteString(separator)
			}
			if strings.ContainsAny(c, separator+`"#`) {
				c = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
			}
			b.WriteString(c)
		}
		b.WriteString("\n")
	}
	row(l.names())
	for _, frame := range l.texts {
		for _, cells := range frame {
			row(cells)
		}
	}
	return b.String()
}

// json returns the log as JSON Lines with a row or a frame on each line.
func (l *randomLog) json(frames bool) string {
	var b strings.Builder
	names := l.names()
	for _, frame := range l.texts {
		var rows []string
		for _, cells := range frame {
			var members []string
			for i, c := range cells {
				if i == 1 && !l.keyed || i == 0 && frames || c == "" {
					continue
				}
				if _, err := parseDecimal([]byte(c)); err != nil && c != "true" && c != "false" {
					c = strconv.Quote(c)
				}
				members = append(members, strconv.Quote(names[i])+":"+c)
			}
			rows = append(rows, "{"+strings.Join(members, ",")+"}")
		}
		if frames {
			fmt.Fprintf(&b, "{\"tick\":%s,\"world\":{\"all\":[%s]}}\n", frame[0][0], strings.Join(rows, ","))
		} else {
			b.WriteString(strings.Join(rows, "\n") + "\n")
		}
	}
	return b.String()
}

// The schema that is guessed from a log of random columns reads the log, and keeps every value within half a step; of
// texts and bits exactly.
func TestInferReadsItsLog(t *testing.T) {
	dir := t.TempDir()
	for seed := range uint64(testkit.Choose(2000, 150)) {
		rng := rand.New(rand.NewPCG(seed, 4))
		log := newRandomLog(rng)
		name, text := "log.csv", ""
		switch rng.IntN(4) {
		case 0:
			name, text = "log.jsonl", log.json(true)
		case 1:
			name, text = "log.jsonl", log.json(false)
		default:
			text = log.csv([]string{",", ";", "\t", "|"}[rng.IntN(4)])
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		schema, _, err := Infer(t.Context(), path)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		l, err := ParseLayout("guess.toml", schema)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, schema)
		}
		s, err := l.Open(path, false)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s\n%s", seed, err, schema, text)
		}
		f := s.Schema().NewFrame()
		for n := range log.values {
			if err := s.Next(f); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, schema)
			}
			if problem := log.compare(s.Layout(), f, n); problem != "" {
				t.Fatalf("seed %d, frame %d: %s\n%s\n%s", seed, n, problem, schema, text)
			}
		}
		_ = s.Close()
	}
}

// compare compares the values of frame n, in order of size, with those that were written, and returns the first difference.
func (l *randomLog) compare(layout *Layout, f *frame.Frame, n int) string {
	s := layout.Schema
	present := s.FieldOf(frame.Present)
	for i := range s.Fields {
		at := slices.IndexFunc(l.columns, func(c inferredColumn) bool { return c.name == layout.columns[i].name })
		if i == present || at < 0 {
			continue
		}
		column, field := l.columns[at], &s.Fields[i]
		var got []string
		var numbers, want []float64
		for row := range s.Rows {
			v := f.Table[row*len(s.Fields)+i]
			if present >= 0 && f.Table[row*len(s.Fields)+present] == 0 {
				continue
			}
			number := float64(v) * field.Step()
			if field.Kind == frame.Float32 {
				number = float64(math.Float32frombits(uint32(v)))
			}
			if column.turn > 0 { // equal angles have equal cosines
				number = math.Cos(number*2*math.Pi/column.turn) * column.turn / (2 * math.Pi)
			}
			got, numbers = append(got, cmp.Or(field.NameOf(v), strconv.FormatUint(uint64(uint32(v)), 10))), append(numbers, number)
		}
		var texts []string
		tolerance := field.Step() / 2
		if column.digit > 0 {
			tolerance = column.digit * 1e-3 // exactly
		}
		if column.turn == 2*math.Pi {
			tolerance = column.digit/2 + 1e-9 // steps divide a turn
		}
		for row, cells := range l.texts[n] {
			v, text := l.values[n][row][at], cells[at+2]
			switch {
			case column.words:
				text = cmp.Or(text, "none")
			case column.wide:
				bits, _ := strconv.ParseUint(cmp.Or(text, "0"), 10, 64)
				if layout.columns[i].half == highHalf {
					bits >>= 32
				}
				text = strconv.FormatUint(uint64(uint32(bits)), 10)
			}
			if column.turn > 0 {
				v = math.Cos(v*2*math.Pi/column.turn) * column.turn / (2 * math.Pi)
			} else if field.Kind == frame.Float32 {
				tolerance = max(tolerance, math.Abs(v)*0x1p-23)
			}
			texts, want = append(texts, text), append(want, v)
		}
		if len(want) != len(numbers) {
			return fmt.Sprintf("%d things, expected %d", len(numbers), len(want))
		}
		slices.Sort(got)
		slices.Sort(texts)
		slices.Sort(numbers)
		slices.Sort(want)
		if (column.words || column.wide) && !slices.Equal(got, texts) {
			return fmt.Sprintf("%s is %q, expected %q", field.Name, got, texts)
		}
		for k := range numbers {
			if !column.words && !column.wide && math.Abs(numbers[k]-want[k]) > tolerance {
				return fmt.Sprintf("%s is %v, expected %v", field.Name, numbers, want)
			}
		}
	}
	return ""
}

// The schemas of the fixture have its fields, in both formats, and one comment per guess.
func TestInferTankGame(t *testing.T) {
	csv, lines := testkit.TankGame(1, 300)
	for name, content := range map[string][]byte{"tanks.csv.gz": zipped(csv), "tanks.jsonl": lines, "tanks.log.zst": zstded(csv)} {
		schema, _, err := Infer(t.Context(), fileOf(t, name, content))
		if err != nil {
			t.Fatal(err)
		}
		l := layoutOf(t, string(schema))
		var got strings.Builder
		for i, f := range l.Schema.Fields {
			fmt.Fprintf(&got, "%s %s %g %s %s;", l.columns[i].name, f.Kind, f.Scale, f.Hint.Role, f.Unit)
		}
		x, y := "x", "y"
		if name == "tanks.jsonl" {
			x, y = "pos.x", "pos.y"
		}
		want := fmt.Sprintf("present flag 0 present ;class enum 0 type ;team enum 0  ;%s quantity 0.001 place m;%s quantity 0.001 place m;heading angle 0.1  deg;"+
			"turret angle 0.1  deg;speed quantity 0.01  ;health quantity 1  ;ammo quantity 1  ;firing flag 0  ;", x, y)
		if got.String() != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got.String(), want)
		}
		if l.Key != "id" || l.Frame != "tick" || l.Schema.TickHz != 20 || l.Schema.Item != "tank" || !l.AutoRows || (l.List == "tanks") != (name == "tanks.jsonl") {
			t.Errorf("%s: %+v", name, l)
		}
		if n := strings.Count(string(schema), "#"); n < len(l.Schema.Fields) {
			t.Errorf("%s: %d comments", name, n)
		}
	}
}

// What a log does not show is a question, and what no field can hold is left out with a reason.
func TestInferAsks(t *testing.T) {
	note := func(i int) string { return fmt.Sprintf("note %d of many", i) }
	many := "tick,id,note,score\n"
	for i := range 4000 {
		many += fmt.Sprintf("%d,%d,%s,1\n", i/2, i%2, note(i))
	}
	var names, numbers, members []string
	for i := range 300 {
		names, numbers, members = append(names, fmt.Sprint("c", i)), append(numbers, "5"), append(members, fmt.Sprintf(`"c%d":5`, i))
	}
	wide := strings.Join(names, ",") + "\n" + strings.Join(numbers, ",") + "\n"
	for _, c := range []struct{ name, text, wantText string }{
		{"a.csv", wide, "# further columns: left out, since the log has 300, and a schema at most 256."},
		{"a.jsonl", "{" + strings.Join(members, ",") + "}", "# further paths: left out, since the lines have more than 256"},
		{"a.csv", "tick,id,x\n1,a,1\n1,b,2\n2,a,1\n2,b,2\n", "rate_hz = 60 # QUESTION: how many frames does a second have?"},
		{"a.csv", "tick,x\n1,1\n1,2\n2,1\n2,2\n", "# QUESTION: no column identifies the things."},
		{"a.csv", "tick,x\n1,1\n1,2\n2,1\n2,2\n3,2\n", "# QUESTION: frames have different numbers of rows. Which column is the key"},
		{"a.csv", "x,y\n1,1\n3,2\n2,1\n", "# QUESTION: no column seems to count frames."},
		{"a.csv", many, "# note: left out, since it has more than 1024 different texts. If it identifies things, set key = \"note\"."},
		{"a.csv", "t,x\n0.0,1e-9\n0.5,12345.678901234567\n", "# QUESTION: how precise must it be? kind = \"quantity\""},
		{"a.csv", "t,x,y\n0.0,nan,1\n0.5,1.5,2\n", "# NOTE: empty or not a finite number in 1 row: it then is 0."},
		{"a.csv", "t,x,y\n0.0,-1e300,1\n0.5,1.5,2\n", "# x: left out, since it has numbers up to 1e+300, which a float32 cannot hold."},
		{"a.csv", "t,x,y\n0.0,123456789012345678901234,1\n0.5,1,2\n", "# x: left out, since it has whole numbers that need more than 64 bits."},
		{"a.csv", "t;x;y\n0.0;1,5;1\n0.5;-2,25;2\n", "decimal = \",\" # NOTE: 12,5 is read as 12.5"},
		{"a.csv", "t,x,y\n0.0,\"1,5\",1\n0.5,\"-2,25\",2\n", "# x: left out, since its numbers have a decimal comma."},
		{"a.csv", "t;x;y\n0,5;1.234,5;1\n1,0;17;2\n", "# x: left out, since its numbers have thousands separators."},
		{"a.csv", "# t;x;y\n0,5;1.234,5;1\n1,0;17;2\n", "# x: left out, since its numbers have thousands separators."},
		{"a.jsonl", "{\"t\":0,\"id\":7.0,\"x\":1}\n{\"t\":0,\"id\":8.0,\"x\":1}\n{\"t\":1,\"id\":8.0,\"x\":1}\n{\"t\":1,\"id\":7.0,\"x\":2}", "key     = \"id\""},
		{"a.csv", "tick,id,yaw\n" + "1,1,300\n2,1,\n3,1,310\n4,1,\n5,1,100\n", "an angle by its name"},
		{"a.csv", "t;x;n\n0,5;1,5;950\n1,5;2,125;1.007\n", "# n: left out, since its numbers have thousands separators."},
		{"a.csv", "t;x;n\n1;15;950\n2;2;1.007\n", "# n: left out, since its numbers have thousands separators."},
		{"a.csv", "t;x;n\n0,5;15;2.950\n1,5;2;1.007\n", "# n: left out, since its numbers have thousands separators."},
		{"a.csv", "t;x;n\n1;15;2.950\n2;2;1.007\n", "QUESTION: is 1.234 a fraction, as assumed?"},
		{"a.csv", "t;x;n\n1;15;1950\n2;2;1.007\n", "QUESTION: does the game need this precision?"},
		{"a.csv", "t;x;n\n0,5;1,5;0.950\n1,5;2,125;1\n", "name    = \"n\""},
		{"a.csv", "t;x;n\n0,5;1,5;950\n1,5;2,125;1,007\n", "name    = \"n\""},
		{"a.csv", "t,x,pos\n0.5,1,\"(1.50, -0.25)\"\n1,2,\"(2.5, 0.5)\"\n", "# pos: left out, since its cells have several numbers."},
		{"a.csv", "t,x,host\n0.5,1,10.0.0.1:80\n1,2,10.0.0.2:80\n", "values  = [\"10.0.0.1:80\""},
		{"a.csv", "t,x,sant\xe9\n0.5,1,2\n1,2,3\n", "since its name is not in UTF-8; iconv"},
		{"a.csv", "time,x\n3/5/2026 9:00:00.100,1\n3/5/2026 9:00:00.200,2\n", "rate_hz = 10 # the mean step of time"},
		{"a.csv", "time,x\n25/12/2026 14:00:00.1,1\n25/12/2026 14:00:00.2,2\n", "rate_hz = 10 # the mean step of time"},
		{"a.csv", "t,id,x,heading\n0,1,0,0\n1,1,6,6\n2,1,0,0\n3,1,6,6\n4,1,6,6\n5,1,0.5,0.5\n", "# 0 to 6; 1 decimal."}, // x jumps
		{"a.csv", "t,x,y\n0.0,,1\n0.5,,2\n", "# x: left out, since it is empty."},
		{"a.csv", "t,x,x,y\n0.0,1,2,3\n0.5,1,2,4\n", `# "x": left out, since a name must be unique`},
		{"a.jsonl", `{"t":1,"map":"x","l":[{"id":1,"x":2,"inventory":[{"n":1}]}]}`, "# map: left out, since it is outside of the list of rows."},
		{"a.jsonl", `{"t":1,"map":"x","l":[{"id":1,"x":2,"inventory":[{"n":1}]}]}`, "# inventory: left out, since it is a list of objects beside or within l."},
		{"a.csv", "t;buttons;owner\n0.25;7;18446744073709551615\n0.5;4294967295;1\n", "half    = \"high\""},
		{"a.csv", "t;buttons;owner\n0.25;7;18446744073709551615\n0.5;4294967295;1\n", "rate_hz = 4 # the mean step of t is 0.25, taken as s"},
		{"a.csv", "tick,ms,x\n0,0,1\n1,0,2\n2,0,3\n3,33,4\n4,33,5\n5,33,6\n6,66,7\n", "rate_hz = 91 # NOTE: the mean step of ms is 11, taken as ms; frames are played evenly"},
		{"a.csv", "tick,ms,x\n0,0,1\n1,50,2\n3,150,3\n4,200,4\n6,300,5\n", "rate_hz = 13 # NOTE: the mean step of ms is 75, taken as ms; frames are played evenly"},
		{"a.csv", "ms|vx|y|x|z|pos.x\n100|1|1|2|3|4\n150|2|2|1.5|3.25|5\n", "rate_hz = 20 # the mean step of ms is 50, taken as ms"},
	} {
		path := fileOf(t, c.name, []byte(c.text))
		schema, _, err := Infer(t.Context(), path)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if !strings.Contains(string(schema), c.wantText) {
			t.Errorf("%.200q: no %s in\n%s", c.text, c.wantText, schema)
		}
		if _, err := ParseLayout("guess.toml", schema); err != nil {
			t.Errorf("%s\n%v", schema, err)
		}
	}
	for _, c := range []struct{ name, text, wantText string }{
		{"a.csv", "", "a.csv: the log cannot be read: the file is empty"},
		{"a.csv", "\n\n", "has no lines; expected a log in CSV or JSON Lines"},
		{"a.csv", "t,x\n", "has no rows; expected a log with at least one row"},
		{"a.csv", "1,2\n3,4\n", "a.csv:1: the first line has values; expected the names of the columns in the first line"},
		{"a.bin", "\x01\x00\x00\x00", "is not a text; expected a log in CSV or JSON Lines"},
		{"a.csv", "a,b\n1\n", "a.csv:2: a row of 1 columns; expected 2 columns: column 2 (b) is missing"},
		{"a.csv", "t,id,x\ns,-,m\n0.5,a,1\n", "a.csv:2: has texts in columns of numbers, such as units; expected values after one line of names; remove this line"},
		{"a.json", "[{\"a\":1}]", "a.json:1: is a list; expected one object on each line; jq"},
		{"a.jsonl", "{\"a\":1}\n{\"a\":", "a.jsonl:2: the line ends within a value"},
		{"a.jsonl", "{}\n", "has no values"},
		{"a.csv", "tick,id,note\n1,7,\n1,8,\n2,8,\n", "has no column that a field can hold (note: left out, since it is empty); expected numbers"},
	} {
		if _, _, err := Infer(t.Context(), fileOf(t, c.name, []byte(c.text))); err == nil || !strings.Contains(err.Error(), c.wantText) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %s", c.text, err, c.wantText)
		}
	}
	if _, _, err := Infer(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder: %v", err)
	}
}
