package table_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"wirelab/dataset/table"
)

// Records are read with a schema. Values are steps: a heading of 182.5 degrees in steps of half a
// degree is 365, and "wreck", the third word, is 2.
func Example() {
	dir, err := os.MkdirTemp("", "arena")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	schema, records := table.Example()
	path := filepath.Join(dir, "arena.csv")
	if err := os.WriteFile(path, records, 0o600); err != nil {
		panic(err)
	}

	layout, err := table.ParseLayout("arena.toml", schema)
	if err != nil {
		panic(err)
	}
	src, err := layout.Open(path, false)
	if err != nil {
		panic(err)
	}
	defer src.Close()

	s := src.Schema()
	fmt.Printf("%d rows a frame, each a %s of %d fields, %d a second\n", s.Rows, s.Item, len(s.Fields), s.TickHz)
	for f := s.NewFrame(); src.Next(f) != io.EOF; {
		fmt.Println(f.Tick, f.Table[:8], f.Table[8:16])
	}
	// Output:
	// 3 rows a frame, each a tank of 8 fields, 20 a second
	// 0 [-2000 450 180 1080033280 100 1 0 33] [1125 -800 365 0 100 0 0 1]
	// 1 [-1983 450 180 1080033280 100 1 1 33] [1125 -800 362 0 94 0 0 1]
	// 2 [-1965 451 179 1080452710 100 1 1 33] [1126 -800 360 1048576000 94 1 0 3]
}

// Errors have the line and, for a mistyped name, a suggestion.
func ExampleParseLayout() {
	_, err := table.ParseLayout("arena.toml", []byte("item = \"tank\"\nrate_hz = 20\nrows = 3\n[[field]]\nname = "+
		"\"x\"\nkind = \"quantiti\"\n"))
	fmt.Println(err)
	// Output: arena.toml:6: field[0].kind: unknown kind "quantiti"; did you mean quantity?
}
