package table_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"wirelab/internal/testkit"
)

// TestNothingIsFused checks that the packages of encoders compile without fused multiply-add on arm64, where the
// compiler may fuse. Encoder and decoder, and trainers, must compute the same results on every processor. A test
// that compares results on a few inputs may miss a difference in the last bit.
func TestNothingIsFused(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("cross-compiles; set WIRELAB_THOROUGH=1")
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
		t.Fatal("the listing has no FMULD: it is not that of arm64")
	}
	fused := regexp.MustCompile(`\tFN?M(ADD|SUB)[SD]\t`)
	for line := range strings.Lines(string(listing)) {
		if fused.MatchString(line) {
			t.Error(strings.TrimSpace(line))
		}
	}
}
