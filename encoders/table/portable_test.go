package table_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
	"wirelab/encoders/table"
	"wirelab/internal/testkit"
)

// portableEnv is the environment variable that makes TestPortableBytes print its fingerprint, for the process that
// started it.
const portableEnv = "WIRELAB_PRINT_PORTABLE_BYTES"

// fingerprint returns a hash of all packets that codecs write for the demo, for cubeTale and for random frames of every
// schema. All packets are decoded too.
func fingerprint(t testing.TB, c encoders.Codec, demo []*frame.Frame) string {
	sum := sha256.New()
	play := func(s *frame.Schema, frames []*frame.Frame, age int) {
		j := record(t, c, s, frames, age)
		_, dec, err := c.New(s, defaults(c))
		if err != nil {
			t.Fatal(err)
		}
		memos := make([]encoders.Memo, len(frames))
		for i := age; i < len(frames); i++ {
			got := s.NewFrame()
			got.Tick = frames[i].Tick
			memos[i], err = dec.Decode(got, j.payloads[i], []encoders.Ref{{Frame: frames[i-age], Memo: memos[i-age]}}, nil)
			if err != nil || !c.Quantises && !got.Equal(frames[i]) {
				t.Fatalf("%s on %s, frame %d: the decoded frame differs, error %v", c.Name, s.Name, i, err)
			}
			fmt.Fprintf(sum, "%d %x\n", i, j.payloads[i])
		}
	}
	s, frames := taleFor(c)
	play(s, frames, 2)
	for _, s := range schemas() {
		if c.Suits(s) && s.Rows <= 100 {
			play(s, randomFrames(s, 12, 8), 1)
		}
	}
	if s := frame.Cubes(frame.WalkoffCubes); c.Suits(s) {
		play(s, demo, 6)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// TestPortableBytes checks that all processors write and decode the same packets. Other processors are emulated, or
// this one runs code built for another target. It skips those that are not available.
func TestPortableBytes(t *testing.T) {
	child := os.Getenv(portableEnv) != ""
	if !testkit.Thorough() && !child {
		t.Skip("builds this test for other processors; set WIRELAB_THOROUGH=1")
	}
	demo := recording.Demo(t, 400, 430)
	var here strings.Builder
	for _, c := range table.All() {
		fmt.Fprintf(&here, "portable %s %s\n", c.Name, fingerprint(t, c, demo))
	}
	if child {
		fmt.Print(here.String())
		return
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skipf("other processors are emulated on linux/amd64 only, this is %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	others := []processor{
		{name: "arm64", env: []string{"GOARCH=arm64"}, emulators: []string{"qemu-aarch64-static", "qemu-aarch64"}},
		{name: "386", env: []string{"GOARCH=386"}},
	}
	if testkit.Long() { // TestNothingIsFused looks for fused products without running them
		others = append(others, processor{name: "amd64 v3, which has fused products", env: []string{"GOARCH=amd64", "GOAMD64=v3"}})
	}
	for _, other := range others {
		t.Run(other.name, func(t *testing.T) {
			there := other.run(t)
			for _, line := range strings.Split(strings.TrimSpace(here.String()), "\n") {
				if !strings.Contains(there, line+"\n") {
					name := strings.Fields(line)[1]
					t.Errorf("%s writes different packets, or none", name)
				}
			}
		})
	}
}

// processor is a target that this test can be built for.
type processor struct {
	name      string
	env       []string
	emulators []string // any of these; none needed if empty
}

// run builds this test for the processor, runs it and returns what it printed.
func (p processor) run(t *testing.T) string {
	t.Helper()
	var command []string
	for _, name := range p.emulators {
		if path, err := exec.LookPath(name); err == nil {
			command = []string{path}
			break
		}
	}
	if len(p.emulators) > 0 && command == nil {
		t.Skipf("no emulator: install one of %s", strings.Join(p.emulators, ", "))
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skipf("the go command is not there to build with: %v", err)
	}
	binary := filepath.Join(t.TempDir(), "table.test")
	build := exec.CommandContext(t.Context(), tool, "test", "-c", "-o", binary, ".")
	build.Env = append(os.Environ(), append(p.env, "CGO_ENABLED=0", "GOOS=linux")...)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("does not build: %v\n%s", err, out)
	}
	command = append(command, binary, "-test.run=^TestPortableBytes$", "-test.count=1")
	run := exec.CommandContext(t.Context(), command[0], command[1:]...)
	run.Env = append(os.Environ(), portableEnv+"=1")
	var stdout, stderr bytes.Buffer
	run.Stdout, run.Stderr = &stdout, &stderr
	if err := run.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) || strings.Contains(stderr.String(), "can only be run on AMD64 processors") {
			t.Skipf("this machine cannot run it: %v %s", err, stderr.String())
		}
		t.Fatalf("%v\n%s%s", err, stdout.String(), stderr.String())
	}
	return stdout.String()
}
