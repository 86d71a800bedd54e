package table_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"wirelab/internal/testkit"
)

// What the compiler makes of floats for a processor that can fuse a product with a
// sum holds no fused instruction: both ends of a packet agree whatever they run on,
// and everyone who trains finds the same. A test that compares results, on inputs
// that are few, may miss a last bit.
func TestNothingIsFused(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("builds for another machine: under WIRELAB_THOROUGH=1")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skipf("the go command is not there to build with: %v", err)
	}
	build := exec.CommandContext(t.Context(), tool, "build", "-gcflags=-S",
		"wirelab/dataset/physics", "wirelab/encoders/rangecoder", "wirelab/encoders/rotation", "wirelab/encoders/nn",
		"wirelab/encoders/train/mdn",
		"wirelab/dataset/rpc", "wirelab/encoders/rpc", "wirelab/encoders/adaptive", "wirelab/encoders/rows",
		"wirelab/encoders/cubes", "wirelab/encoders/cubes/entropy", "wirelab/encoders/cubes/forecast", "wirelab/encoders/cubes/kinetic")
	build.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0", "GOARCH=arm64")
	listing, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, listing)
	}
	if !strings.Contains(string(listing), "FMULD") {
		t.Fatal("the listing holds no product of floats: the test tests nothing")
	}
	fused := regexp.MustCompile(`\tFN?M(ADD|SUB)[SD]\t`)
	for line := range strings.Lines(string(listing)) {
		if fused.MatchString(line) {
			t.Error(strings.TrimSpace(line))
		}
	}
}
