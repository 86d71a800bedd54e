package table

import (
	"os"
	"strings"
	"testing"
)

// README.md shows the embedded example and lists all keys and kinds.
func TestReference(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	schema, _ := Example()
	if !strings.Contains(string(readme), "```toml\n"+string(schema)+"```\n") {
		t.Error("README.md does not show the embedded example")
	}
	rows := append(layoutKeys()[:len(layoutKeys())-1], fieldKeys()...) // all but "field" itself
	for _, k := range kinds() {
		rows = append(rows, k.String())
	}
	for _, row := range rows {
		if !strings.Contains(string(readme), "\n| `"+row+"` |") {
			t.Errorf("README.md has no row for %s", row)
		}
	}
}

// Errors are as README.md shows them.
func TestReferenceErrors(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	schema, records := Example()
	for _, c := range [][3]string{
		{"arena.csv", "102,ann,-19.65,4.51,89.5", "102,ann,-19.65,4.51,9o"},
		{"arena.csv", "102,\"cy, jr.\"", "103,\"cy, jr.\""},
	} {
		_, err := play(layoutOf(t, string(schema)), fileOf(t, c[0], []byte(strings.Replace(string(records), c[1], c[2], 1))))
		if err == nil {
			t.Fatalf("%s is accepted", c[2])
		}
		said := err.Error()[strings.LastIndex(err.Error(), c[0]+":"):]
		if _, rest, ok := strings.Cut(said, ": column"); !ok || !strings.Contains(string(readme), ": column"+rest) {
			t.Errorf("error %q is not in README.md", said)
		}
	}
	_, err = ParseLayout("arena.toml", []byte(strings.Replace(string(schema), `"angle"`, `"angel"`, 1)))
	if err == nil || !strings.Contains(string(readme), "    "+err.Error()+"\n") {
		t.Errorf("error %q is not in README.md", err)
	}
}
