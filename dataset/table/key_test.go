package table

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"wirelab/internal/testkit"
)

// keyed is the schema of logs of living things with two fields.
const keyed = "item = \"tank\"\nrate_hz = 20\nrows = %s\nframe = \"t\"\nkey = \"id\"\n[[field]]\nname = \"x\"\nkind = \"quantity\"\n" +
	"range = [-5, 100]\nscale = 0.5\n[[field]]\nname = \"kind\"\nkind = \"enum\"\nvalues = \"auto\"\n"

// sighting is a thing of a frame.
type sighting struct {
	id   string
	x    float64
	kind string
}

// randomFrames returns frames of things that come and go, in random order.
func randomFrames(rng *rand.Rand, n, most int) (frames [][]sighting) {
	ids := rng.Perm(3 * most)
	for i := range n {
		var list []sighting
		for _, id := range ids {
			if i > 0 && slices.ContainsFunc(frames[i-1], func(s sighting) bool { return s.id == fmt.Sprint(id) }) != (rng.IntN(8) == 0) && len(list) < most {
				list = append(list, sighting{fmt.Sprint(id), float64(rng.IntN(200)) / 2, []string{"b", "a", "é"}[id%3]})
			}
		}
		if len(list) == 0 {
			list = append(list, sighting{"7", 1, "b"})
		}
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		frames = append(frames, list)
	}
	return frames
}

// fullTable returns the rows of each frame as a second implementation of what the README promises: a thing keeps its
// row, returns to it if it is still free, and new things take the rows that were free for longest, in order of ids.
func fullTable(frames [][]sighting, rows int) (tables [][]sighting) {
	owner := make([]string, rows) // has or had the row
	freed := make([]int, rows)    // when
	for i := range freed {
		freed[i] = i - rows
	}
	for n, list := range frames {
		table := make([]sighting, rows)
		var fresh []sighting
		for _, s := range list {
			if row := slices.Index(owner, s.id); row >= 0 {
				table[row] = s
			} else {
				fresh = append(fresh, s)
			}
		}
		for row := range owner {
			if n > 0 && table[row].id == "" && tables[n-1][row].id != "" {
				freed[row] = n*rows + row
			}
		}
		slices.SortFunc(fresh, func(a, b sighting) int { return parseInt(a.id) - parseInt(b.id) })
		for _, s := range fresh {
			best := -1
			for row := range owner {
				if table[row].id == "" && (best < 0 || freed[row] < freed[best]) {
					best = row
				}
			}
			owner[best], table[best] = s.id, s
		}
		tables = append(tables, table)
	}
	return tables
}

func parseInt(text string) (n int) {
	_, _ = fmt.Sscan(text, &n)
	return n
}

// steps returns a table of things as the values of the schema keyed. words are the words of its enum.
func steps(table []sighting, words []string) (values []int32) {
	for _, s := range table {
		if s.id == "" {
			values = append(values, 0, 0, 0)
		} else {
			values = append(values, 1, int32(s.x*2), int32(slices.Index(words, s.kind)))
		}
	}
	return values
}

// A log of living things in any order gives the same frames as a full table with things in fixed rows, in CSV and in
// both forms of JSON Lines, for any number of rows that is enough.
func TestKey(t *testing.T) {
	rng := rand.New(rand.NewPCG(28, 2))
	for range testkit.Choose(300, 30) {
		most := 1 + rng.IntN(12)
		frames := randomFrames(rng, 2+rng.IntN(20), most)
		var csv, rowLines, frameLines strings.Builder
		csv.WriteString("id,note,t,kind,x\n")
		var words []string
		for n, list := range frames {
			fmt.Fprintf(&frameLines, "{\"t\":%d,\"game\":{\"tanks\":[", n*3)
			for i, s := range list {
				words = append(words, s.kind)
				fmt.Fprintf(&csv, "%s,\"a, b\",%d,%s,%g\n", s.id, n*3, s.kind, s.x)
				fmt.Fprintf(&rowLines, "{\"x\":%g,\"kind\":%q,\"id\":%s,\"more\":{\"x\":[1]},\"t\":%d}\n", s.x, s.kind, s.id, n*3)
				fmt.Fprintf(&frameLines, "%s{\"id\":%q,\"at\":[0, {\"x\":%g}],\"kind\":%q}", strings.Repeat(", ", min(i, 1)), s.id, s.x, s.kind)
			}
			frameLines.WriteString("]}}\n")
		}
		slices.Sort(words)
		words = slices.Compact(words)
		atOnce, needed := 0, 0
		for n, list := range frames {
			rows := len(list)
			if n > 0 {
				for _, s := range frames[n-1] {
					if !slices.ContainsFunc(list, func(now sighting) bool { return now.id == s.id }) {
						rows++
					}
				}
			}
			atOnce, needed = max(atOnce, len(list)), max(needed, rows)
		}
		for _, c := range []struct {
			rows string
			n    int
		}{{"\"auto\"", needed}, {fmt.Sprint(atOnce), atOnce}, {fmt.Sprint(atOnce + 9), atOnce + 9}} {
			var want [][]int32
			for _, table := range fullTable(frames, c.n) {
				want = append(want, steps(table, words))
			}
			schema := fmt.Sprintf(keyed, c.rows)
			inList := strings.Replace(schema, "key =", "list = \"game.tanks\"\nkey =", 1)
			inList = strings.Replace(inList, "kind = \"quantity\"", "column = \"at[1].x\"\nkind = \"quantity\"", 1)
			for _, f := range []struct{ name, schema, text string }{{"a.csv", schema, csv.String()}, {"a.jsonl", schema, rowLines.String()}, {"a.ndjson.gz", inList, frameLines.String()}} {
				content := []byte(f.text)
				if strings.HasSuffix(f.name, ".gz") {
					content = zipped(content)
				}
				got, err := play(layoutOf(t, f.schema), fileOf(t, f.name, content))
				if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("%s, %s rows: %v\n%s\n%v, want\n%v", f.name, c.rows, err, f.text, got, want)
				}
			}
		}
	}
}

// A looping log gives each round the same frames.
func TestKeyLoops(t *testing.T) {
	log := "t,id,x,kind\n1,a,1,u\n1,b,2,u\n2,b,3,u\n3,c,4,u\n3,b,4,u\n"
	for name, content := range map[string]string{"a.csv": log,
		"a.jsonl": `{"t":1,"l":[{"id":"a","x":1,"kind":"u"},{"id":"b","x":2,"kind":"u"}]}` + "\n" + `{"t":2,"l":[{"id":"b","x":3,"kind":"u"}]}` + "\n\n" +
			`{"t":3,"l":[{"id":"c","x":4,"kind":"u"},{"id":"b","x":4,"kind":"u"}]}`} {
		schema := fmt.Sprintf(keyed, `"auto"`)
		if name == "a.jsonl" {
			schema = "list = \"l\"\n" + schema
		}
		s, err := layoutOf(t, schema).Open(fileOf(t, name, []byte(content)), true)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if keys := s.RowKeys(); !slices.Equal(keys[:2], []string{"a", "b"}) {
			t.Errorf("%s: rows of %q in the first frame, which is read on opening", name, keys)
		}
		f := s.Schema().NewFrame()
		want := []string{"[1 2 0 1 4 0]", "[0 0 0 1 6 0]", "[1 8 0 1 8 0]"}
		for n := range 9 {
			if err := s.Next(f); err != nil || fmt.Sprint(f.Table) != want[n%3] || s.AtLoopPoint() != (n > 0 && n%3 == 0) {
				t.Fatalf("%s, frame %d: %v, %v, want %s", name, n, f.Table, err, want[n%3])
			}
		}
		var l *Layout
		if l, err = ParseLayout("again", s.Layout().Describe()); err != nil || l.Schema.Rows != 2 || l.Schema.Fields[2].Values[0] != "u" {
			t.Errorf("%s: described as\n%s, %v", name, s.Layout().Describe(), err)
		}
	}
}

// A frame of JSON Lines may have no rows.
func TestEmptyFrames(t *testing.T) {
	none, err := play(layoutOf(t, "list = \"l\"\n"+fmt.Sprintf(keyed, `"auto"`)), fileOf(t, "a.jsonl", []byte(`{"t":1,"l":[]}`)))
	if err != nil || fmt.Sprint(none) != "[[0 0 0]]" {
		t.Errorf("only empty frames: %v, %v", none, err)
	}
	lines := `{"t":1,"l":[]}` + "\n" + `{"t":2,"l":[{"id":1,"x":2,"kind":"u"}]}` + "\n" + `{"t":3,"l":[]}` + "\n" + `{"t":4,"l":[]}`
	got, err := play(layoutOf(t, "list = \"l\"\n"+fmt.Sprintf(keyed, `"auto"`)), fileOf(t, "a.jsonl", []byte(lines)))
	if want := "[[0 0 0] [1 4 0] [0 0 0] [0 0 0]]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
}

// The fixture gives the same frames in both formats: at most 40 tanks live at once, and their ids have 64 bits.
func TestTankGame(t *testing.T) {
	csv, lines := testkit.TankGame(1, 200)
	schema := "item = \"tank\"\nrate_hz = 20\nrows = \"auto\"\nframe = \"tick\"\nkey = \"id\"\n" +
		"[[field]]\nname = \"id low\"\ncolumn = \"id\"\nkind = \"bits\"\nhalf = \"low\"\n[[field]]\nname = \"id high\"\ncolumn = \"id\"\nkind = \"bits\"\nhalf = \"high\"\n" +
		"[[field]]\nname = \"x\"\nkind = \"quantity\"\nrange = [-260, 260]\nscale = 0.001\n[[field]]\nname = \"class\"\nkind = \"enum\"\nvalues = \"auto\"\n"
	want, err := play(layoutOf(t, schema), fileOf(t, "a.csv", csv))
	if err != nil {
		t.Fatal(err)
	}
	schema = "list = \"tanks\"\n" + strings.Replace(schema, "name = \"x\"", "name = \"x\"\ncolumn = \"pos.x\"", 1)
	got, err := play(layoutOf(t, schema), fileOf(t, "a.jsonl", lines))
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) || len(got) != 200 {
		t.Fatalf("%d and %d frames, %v", len(want), len(got), err)
	}
	spawns := 0
	for n, table := range got[1:] {
		for at := 0; at < len(table); at += 5 {
			id, before := [2]int32(table[at+1:]), [2]int32(got[n][at+1:])
			if table[at] == 1 && id[1] != 1<<28 {
				t.Fatalf("an id of %v", id)
			}
			if table[at] == 1 && id != before {
				spawns++
				if got[n][at] == 1 {
					t.Errorf("frame %d: a tank has the row that another one just left", n+1)
				}
			}
		}
	}
	if spawns < 5 {
		t.Errorf("%d tanks came", spawns)
	}
}

// Errors of logs with keys name the line, the column and what was expected.
func TestBadKeys(t *testing.T) {
	for _, c := range []struct{ file, rows, text, wantText string }{
		{"a.csv", "2", "t,id,x,kind\n1,a,1,u\n1,a,2,u\n", `a.csv:3: column 2 (id): a second row of "a" in one frame; expected each key once in a frame`},
		{"a.csv", "2", "t,id,x,kind\n1,a,1,u\n1,,2,u\n", "a.csv:3: column 2 (id): is empty; expected a key"},
		{"a.csv", "1", "t,id,x,kind\n1,a,1,u\n1,b,2,u\n", `a.csv:3: more than 1 things at once; expected more rows in the schema, or rows = "auto"`},
		{"a.csv", "2", "t,id,x,kind\n1," + strings.Repeat("a", 65) + ",1,u\n", "a key of 65 bytes; expected at most 64"},
		{"a.csv", "2", "t,id,x,kind\n1,a,1,u\n2,a,1,\n", `a.csv:3: column 4 (kind): "" is not a word`},
		{"a.csv", "2", "t,x,kind\n1,1,u\n", `no column is called "id"`},
		{"a.jsonl", "2", `{"t":1,"x":2,"kind":"u"}`, "a.jsonl:1: id: is missing; expected a key, which identifies the thing in the row"},
		{"a.jsonl", "2", `{"t":1,"id":1,"kind":"u"}`, "a.jsonl:1: x: is missing; expected a number such as -12.5"},
		{"a.jsonl", "2", `{"t":1,"id":1,"x":[2],"kind":"u"}`, `a.jsonl:1: x: is a list; expected a number, a text, true or false; column = "a.b"`},
		{"a.jsonl", "2", `{"t":1,"id":1,"x":null,"kind":"u"}`, "a.jsonl:1: x: is missing"},
		{"a.jsonl", "2", `{"t":1,"id":1,"x":"","kind":"u"}`, "a.jsonl:1: x: is empty"},
		{"a.jsonl", "2", "\n" + `{"t":1,"id":1,"x":1,"x":2,"kind":"u"}`, "a.jsonl:2: x: duplicate object member name at byte 21"},
		{"a.jsonl", "2", `{"t":1,"id":1,"x":1,"kind":"u"`, "a.jsonl:1: the line ends within a value; expected one object of JSON on each line"},
		{"a.jsonl", "2", `{"t":1,"id":1,"x":1,"kind":"u"} 1`, "a.jsonl:1: has more than one value"},
		{"a.jsonl", "2", "[\n", "a.jsonl:1: is a list; expected one object on each line; jq -c '.[]' FILE makes such lines of a list"},
		{"a.jsonl", "2", "7\n", "a.jsonl:1: is a number; expected one object on each line"},
		{"a.jsonl", "2", "{\n", "a.jsonl:1: the line ends within a value"},
		{"a.jsonl", "2", "x\n", "a.jsonl:1: invalid character 'x' at start of value at byte 1"},
		{"a.jsonl", "2", "\n \n", "contains 0 frames"},
		{"a.bin", "2", "1234", `a.bin: is packed int32, without the columns that rows = "auto", values = "auto", key and list need; expected CSV or JSON Lines`},
	} {
		_, err := play(layoutOf(t, fmt.Sprintf(keyed, c.rows)), fileOf(t, c.file, []byte(c.text)))
		if err == nil || !errors.Is(err, ErrRecords) || !strings.Contains(err.Error(), c.wantText) {
			t.Errorf("%s %q:\n%v\nwant %s", c.file, c.text, err, c.wantText)
		}
	}
	for _, c := range []struct{ text, wantText string }{
		{`{"t":1,"l":[{"id":1,"x":1,"kind":"u"},{"id":2,"x":"y","kind":"u"}]}`, `a.jsonl:1: l[1].x: "y" is not valid; expected a number such as -12.5`},
		{`{"t":1,"l":[3]}`, "a.jsonl:1: l[0]: is a number; expected an object, which is a row"},
		{`{"t":1}`, `a.jsonl:1: no list "l" in this line; expected a list of rows, also if it is empty`},
		{`{"t":1,"l":{}}`, `no list "l"`},
		{`{"t":2,"l":[]}` + "\n" + `{"t":1,"l":[{"id":1,"x":1,"kind":"u"}]}` + "\n" + `{"t":0,"l":[{"id":1,"x":1,"kind":"u"}]}`, `a.jsonl:3: l[0].t: frame "0" comes after frame "1"`},
	} {
		_, err := play(layoutOf(t, "list = \"l\"\n"+fmt.Sprintf(keyed, "2")), fileOf(t, "a.jsonl", []byte(c.text)))
		if err == nil || !errors.Is(err, ErrRecords) || !strings.Contains(err.Error(), c.wantText) {
			t.Errorf("%q:\n%v\nwant %s", c.text, err, c.wantText)
		}
	}
}

// Errors of the keys for logs name the key and what was expected.
func TestBadKeySchemas(t *testing.T) {
	good := fmt.Sprintf(keyed, "2")
	for _, c := range [][3]string{
		{"frame = \"t\"\n", "", `:4: key: has no effect without frames; expected the key "frame"`},
		{"frame = \"t\"\nkey = \"id\"\n", "", ""},
		{"rows = 2\nframe = \"t\"\nkey = \"id\"", "rows = \"auto\"", `:3: rows: "auto" counts the rows of a frame; expected`},
		{"rows = 2", "rows = \"all\"", `:3: rows: "all" is not valid; expected 1 to 65536 rows in each frame, or "auto"`},
		{"rows = 2", "rows = 2\nformat = \"int32\"", ":4: format: int32 has no columns"},
		{"rows = 2", "rows = 2\nformat = \"csv\"\nlist = \"l\"", ":5: list: is not valid for CSV"},
		{"rows = 2", "rows = 2\nwhere = \"state\"", `:4: where: "state" is not a condition; expected such as 'type == "state"'`},
		{"rows = 2", "rows = 2\ndecimal = \";\"", `:4: decimal: ";" is not valid; expected "." or ","`},
		{"frame = \"t\"\nkey = \"id\"", "round = \"r\"", `:4: round: has no effect`},
		{"key = \"id\"", "skip_strays = true", `:5: skip_strays: needs things that may be missing in a frame; expected the key "key"`},
		{"key = \"id\"", "key = \"id\"\nskip_strays = 1", `:6: skip_strays: 1 is not valid; expected true or false`},
		{"name = \"x\"", "name = \"x\"\nempty = \"y\"", `field[0].empty: "y" is not valid; expected a number such as -12.5`},
		{"name = \"x\"", "name = \"x\"\nempty = \"101\"", `field[0].empty: 101 is out of range; expected -5 to 100`},
		{"name = \"x\"", "name = \"x\"\nhalf = \"low\"", `field[0].half: is not valid for kind quantity; expected kind = "bits"`},
		{"name = \"x\"", "name = \"x\"\nhalf = \"lo\"", `field[0].half: unknown half "lo"; did you mean low?`},
		{"name = \"x\"", "name = \"x\"\nrole = \"present\"", `field[0].kind: "quantity" is not valid for the presence of rows; expected kind = "flag"`},
		{"values = \"auto\"", "values = \"auto\"\nrange = [0, 1]", `range: is not valid for a enum`},
		{"[[field]]\nname = \"x\"", "[[part]]\nname = \"a\"\nfirst_row = 0\nrows = 1\nfirst = \"x\"\nlast = \"x\"\n[[field]]\nname = \"x\"", "part: needs rows in a fixed order"},
	} {
		text := strings.Replace(good, c[0], c[1], 1)
		if text == good {
			t.Fatalf("no %q", c[0])
		}
		_, err := ParseLayout("schema.toml", []byte(text))
		if c[2] == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c[2]) || c[2] == "" {
			t.Errorf("%s:\n%v\nwant %s", c[1], err, c[2])
		}
	}
}

// A layout with the keys for logs describes itself.
func TestDescribeKeys(t *testing.T) {
	keys := []string{"list = \"a.b\"\nformat = \"jsonl\"\n", ""}
	for _, text := range []string{fmt.Sprintf(keyed, "7"), fmt.Sprintf(keyed, `"auto"`),
		fmt.Sprintf(keyed, `"auto"`) + "empty = \"none\"\n[[field]]\nname = \"present\"\ncolumn = \"owner\"\nkind = \"bits\"\nhalf = \"high\"\nempty = \"0\"\n" +
			"[[field]]\nname = \"low\"\ncolumn = \"owner\"\nkind = \"bits\"\nhalf = \"low\"\n[[field]]\nname = \"alive\"\nkind = \"flag\"\nrole = \"present\"\n"} {
		for _, key := range keys {
			l := layoutOf(t, key+text)
			if again := layoutOf(t, string(l.Describe())); !reflect.DeepEqual(l, again) {
				t.Errorf("%s\nis described as\n%s", key+text, l.Describe())
			}
		}
	}
}

// Cells may be empty where the schema says what that means, or where a part has no use for the column. Enums accept
// numbers beside words.
func TestEmptyCells(t *testing.T) {
	parts := two + "[[field]]\nname = \"mode\"\nkind = \"enum\"\nvalues = [\"idle\", \"run\"]\n" +
		"[[part]]\nname = \"a\"\nfirst_row = 0\nrows = 1\nfirst = \"x\"\nlast = \"x\"\n[[part]]\nname = \"b\"\nfirst_row = 1\nrows = 1\nfirst = \"on\"\nlast = \"mode\"\n"
	got, err := play(layoutOf(t, parts), fileOf(t, "a.csv", []byte("x,on,mode\n1,,\n,1,1\n0.5,,\n,0,run\n")))
	if want := "[[100 0 0 0 1 1] [50 0 0 0 0 1]]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
	if _, err := play(layoutOf(t, parts), fileOf(t, "a.csv", []byte("x,on,mode\n,,\n,1,1\n"))); err == nil || !strings.Contains(err.Error(), "a.csv:2: column 1 (x): is empty") {
		t.Errorf("an empty cell of a field in use: %v", err)
	}
	optional := strings.Replace(fmt.Sprintf(keyed, "2"), "name = \"x\"", "name = \"x\"\nempty = \"-1\"", 1)
	got, err = play(layoutOf(t, optional), fileOf(t, "a.jsonl", []byte(`{"t":1,"id":3,"x":null,"kind":"u"}`+"\n"+`{"t":2,"id":3,"kind":"u"}`)))
	if want := "[[1 -2 0 0 0 0] [1 -2 0 0 0 0]]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
}

// 64-bit numbers are two fields of 32 bits.
func TestHalves(t *testing.T) {
	schema := "item = \"a\"\nrate_hz = 1\nrows = 1\n[[field]]\nname = \"low\"\ncolumn = \"id\"\nkind = \"bits\"\nhalf = \"low\"\n" +
		"[[field]]\nname = \"high\"\ncolumn = \"id\"\nkind = \"bits\"\nhalf = \"high\"\n"
	got, err := play(layoutOf(t, schema), fileOf(t, "a.csv", []byte("id\n18446744073709551615\n-2\n0x100000003\n4294967296\n")))
	if want := "[[-1 -1] [-2 -1] [3 1] [0 1]]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
	for _, text := range []string{"18446744073709551616", "-9223372036854775809", "0x", "x", "1.5", "0x10000000000000000", "--1", "+-1"} {
		if _, err := play(layoutOf(t, schema), fileOf(t, "a.csv", []byte("id\n"+text+"\n"))); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

// Things that change rows are remarked upon, in any format; things that jump, stop or are far apart are not.
func TestIdentityRemark(t *testing.T) {
	l := layoutOf(t, "item = \"tank\"\nrate_hz = 20\nrows = 6\nframe = \"t\"\n[[field]]\nname = \"x\"\nkind = \"quantity\"\nrange = [-1000, 1000]\n"+
		"[[field]]\nname = \"y\"\nkind = \"float32\"\n[[field]]\nname = \"hp\"\nkind = \"quantity\"\nrange = [0, 100]\n")
	for _, shuffled := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(9, 9))
		var text bytes.Buffer
		text.WriteString("t,x,y,hp\n")
		at := make([][2]int, 6)
		for i := range at {
			at[i] = [2]int{rng.IntN(2000) - 1000, rng.IntN(2000) - 1000}
		}
		for n := range 40 {
			if shuffled && n%10 == 9 {
				i := rng.IntN(5)
				at[i], at[i+1] = at[i+1], at[i]
			}
			if n%7 == 0 {
				at[rng.IntN(6)] = [2]int{rng.IntN(2000) - 1000, rng.IntN(2000) - 1000} // a jump
			}
			for i := range at {
				at[i][0] = max(-1000, min(at[i][0]+rng.IntN(7)-3, 1000))
				at[i][1] += rng.IntN(7) - 3
				fmt.Fprintf(&text, "%d,%d,%d,100\n", n, at[i][0], at[i][1])
			}
		}
		s, err := l.Open(fileOf(t, "a.csv", text.Bytes()), false)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		remarks := strings.Join(s.Remarks(), "\n")
		if shuffled != strings.Contains(remarks, `the key "key" in the schema names the column that identifies each tank`) {
			t.Errorf("shuffled %v: %q", shuffled, remarks)
		}
		if f := s.Schema().NewFrame(); s.Next(f) != nil || f.Tick != 0 {
			t.Errorf("the first frame after the remark has tick %d", f.Tick)
		}
	}
}
