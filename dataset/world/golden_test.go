package world

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"wirelab/dataset/frame"
)

var update = flag.Bool("update", false, "rewrite testdata/golden.txt")

// goldenSteps is the number of steps of each script that are hashed. Package dataset compares the whole
// demo script with the embedded recording.
const goldenSteps = 900

// hashScript plays a script and hashes its snapshots.
func hashScript(t *testing.T, script string) string {
	src, err := open(script, 1)
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	var f frame.Frame
	for range goldenSteps {
		if err := src.Next(&f); err != nil {
			t.Fatal(err)
		}
		if err := src.Schema().Check(&f); err != nil {
			t.Fatal(err)
		}
		if err := binary.Write(h, binary.LittleEndian, f.Table); err != nil {
			t.Fatal(err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// The hash of the first 15 s of every script with seed 1 must be equal on every machine: see
// TestSameOnOtherMachines in package dataset. After a deliberate change of the world run with -update,
// and record the demo again.
func TestGolden(t *testing.T) {
	var got strings.Builder
	for _, s := range Scripts() {
		fmt.Fprintf(&got, "%-10s %s\n", s.Name, hashScript(t, s.Name))
	}
	const path = "testdata/golden.txt"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("snapshots changed: got\n%s\nexpected\n%s", got.String(), want)
	}
}
