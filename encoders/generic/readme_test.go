package generic

import (
	"os"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// TestReadme checks that encoders/README.md shows example_test.go and that the example works.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```go\n"+string(example)+"```\n") {
		t.Error("encoders/README.md does not show example_test.go")
	}
	c, s := Delta(), frame.Cubes(20)
	enc, dec, err := c.New(s, c.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	base, cur, got := s.NewFrame(), s.NewFrame(), s.NewFrame()
	cur.Table[4], cur.Table[6] = -70_000, 12_000
	refs := []encoders.Ref{{Frame: base}}
	payload, _, err := enc.Encode(nil, cur, refs, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dec.Decode(got, payload, refs, nil); err != nil || !got.Equal(cur) {
		t.Errorf("decoded frame differs, error %v", err)
	}
}
