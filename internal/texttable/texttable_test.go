package texttable_test

import (
	"bytes"
	"encoding/csv"
	"reflect"
	"strings"
	"testing"
	"text/tabwriter"

	"wirelab/internal/texttable"
)

func example() *texttable.Table {
	t := texttable.New("name", ">kbps", ">n", "what it is")
	t.Add("raw", 12.345, 7, "all of it, as it stands in the table of the frame")
	t.Add([]string{"é ü"}, "-", int64(12345), texttable.Cell{Text: "short", Class: "good"})
	t.Add("", true, false, "")
	return t
}

func TestWriteText(t *testing.T) {
	for width, want := range map[int]string{0: `
name  kbps      n  what it is
raw   12.3      7  all of it, as it stands in the table of the frame
é ü      -  12345  short
       yes     NO  
`, 44: `
name  kbps      n  what it is
raw   12.3      7  all of it, as it stands
                   in the table of the frame
é ü      -  12345  short
       yes     NO  
`, 10: `
name  kbps      n  what it is
raw   12.3      7  all of it, as it stands
                   in the table of the
                   frame
é ü      -  12345  short
       yes     NO  
`} {
		var b bytes.Buffer
		if example().WriteText(&b, width); b.String() != want[1:] {
			t.Errorf("width %d: got\n%swant\n%s", width, b.String(), want[1:])
		}
	}
}

// TestWriteParts checks that columns which do not fit are in a second part, below wrapped titles.
func TestWriteParts(t *testing.T) {
	g := texttable.New("loss", ">payload, kbps", ">lost", ">display age, ms")
	g.Add("1%", "168.4", "0", "135")
	g.Add("20%", "1173.7 ±4.2", "7 ±1", "135")
	var b bytes.Buffer
	g.WriteParts(&b, 24, 1)
	want := `
         payload,  
loss         kbps  lost
1%          168.4     0
20%   1173.7 ±4.2  7 ±1

      display
loss  age, ms
1%        135
20%       135
`
	if b.String() != want[1:] {
		t.Errorf("got\n%swant\n%s", b.String(), want[1:])
	}
}

// Floats, integers and bools have their own formats, and only the last column wraps.
func TestAdd(t *testing.T) {
	g := texttable.New("name", ">kbps", "idea")
	g.Add("a", 1234.56, "short")
	g.Add("µ-law", 0.123, "words that go on for longer than the screen is wide")
	g.Add("b", 7, true)
	for columns, want := range map[int]string{
		0: `name     kbps  idea
a      1234.6  short
µ-law     0.1  words that go on for longer than the screen is wide
b           7  yes
`,
		42: `name     kbps  idea
a      1234.6  short
µ-law     0.1  words that go on for longer
               than the screen is wide
b           7  yes
`,
	} {
		var b strings.Builder
		g.WriteText(&b, columns)
		if b.String() != want {
			t.Errorf("at %d columns:\n%s\nwant:\n%s", columns, b.String(), want)
		}
	}
}

// Columns of numbers are laid out as text/tabwriter does.
func TestWriteTextLikeTabwriter(t *testing.T) {
	table := texttable.New(texttable.Numbers("a", "bcd", "é")...)
	table.Indent = "  "
	var want, got bytes.Buffer
	w := tabwriter.NewWriter(&want, 0, 8, 2, ' ', tabwriter.AlignRight)
	rows := [][]string{{"a", "bcd", "é"}, {"1", "22", "±333"}, {"4444", "5", "6"}}
	for i, row := range rows {
		if i > 0 {
			table.Add(row)
		}
		w.Write([]byte(strings.Join(row, "\t") + "\t\n"))
	}
	w.Flush()
	if table.WriteText(&got, 0); got.String() != want.String() {
		t.Errorf("got\n%swant\n%s", got.String(), want.String())
	}
}

func TestWriteMarkdown(t *testing.T) {
	table := texttable.New("figure", ">measured", "")
	table.Add("loss", 1.25, "")
	table.Add("", "2 %", "x")
	want := "| figure | measured | |\n|---|---:|---|\n| loss | 1.2 |  |\n|  | 2 % | x |\n"
	var b bytes.Buffer
	if table.WriteMarkdown(&b); b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// encoding/csv parses the output to the original cells.
func TestWriteCSV(t *testing.T) {
	table := texttable.New("a", ">b")
	table.Add("with, comma", "with \"quote\"")
	table.Add("line\nbreak", "")
	var b bytes.Buffer
	if err := table.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	got, err := csv.NewReader(&b).ReadAll()
	want := [][]string{{"a", "b"}, {"with, comma", "with \"quote\""}, {`line\nbreak`, ""}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
