//go:build unix

package plugin

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"wirelab/encoders"
	"wirelab/encoders/cubes"
	"wirelab/internal/testkit"
)

// buildTwin compiles a built-in encoder of cubes as a plugin.
func buildTwin(t testing.TB, name string) string {
	t.Helper()
	dir := t.TempDir()
	overlay := map[string]map[string]string{"Replace": {}}
	for _, file := range []string{"module.go", "wirelab.go"} {
		there, err := filepath.Abs(filepath.Join("testdata", "twin", file))
		if err != nil {
			t.Fatal(err)
		}
		glue, err := filepath.Abs(filepath.Join("templates", "go", file+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		overlay["Replace"][there] = glue
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, text, 0o600); err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(dir, name+".wasm")
	cmd := exec.Command("go", "build", "-overlay", list, "-buildmode=c-shared", "-ldflags=-s -X main.which="+name, "-o", module, "./testdata/twin")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return module
}

// A built-in encoder that is compiled as a plugin writes the same packets and decodes the same frames. One of
// the two encoders uses integers, the other floats.
func TestTwin(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("NOT RUN: compiles Go's runtime for WebAssembly; WIRELAB_THOROUGH=1 does")
	}
	s, frames := demoFrames(t, 300)
	for _, built := range cubes.Ladder()[7:] { // relative-orientation and rotor
		p := load(t, buildTwin(t, built.Name), Options{})
		ours, _, err := built.New(s, built.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		enc, dec, err := p.Codecs[0].New(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := s.NewFrame()
		for i := 6; i < len(frames); i++ {
			refs := []encoders.Ref{{Frame: frames[i-6]}}
			want, _, err := ours.Encode(nil, frames[i], refs, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			packet, _, err := enc.Encode(nil, frames[i], refs, nil, nil)
			if err != nil || string(packet) != string(want) {
				t.Fatalf("%s: frame %d: %v, %d bytes, expected %d", built.Name, i, err, len(packet), len(want))
			}
			got.Tick = frames[i].Tick
			if _, err := dec.Decode(got, packet, refs, nil); err != nil || !got.Equal(frames[i]) {
				t.Fatalf("%s: frame %d: %v", built.Name, i, err)
			}
		}
	}
}

// BenchmarkTwin measures how much slower a built-in encoder is as a plugin, by the user time of encoder and
// decoder. The variants run alternately.
func BenchmarkTwin(b *testing.B) {
	if os.Getenv("WIRELAB_TWIN") == "" {
		b.Skip("WIRELAB_TWIN=1 compiles Go's runtime for WebAssembly")
	}
	s, frames := demoFrames(b, 300)
	for _, built := range cubes.Ladder()[7:] { // relative-orientation and rotor
		module := buildTwin(b, built.Name)
		b.Run(built.Name, func(b *testing.B) {
			all := map[string]encoders.Codec{"native": built}
			for name, timeout := range map[string]time.Duration{"wasm": 0, "trusted": -1} {
				all[name] = load(b, module, Options{Timeout: timeout}).Codecs[0]
			}
			spent := map[string]time.Duration{}
			passes := map[string]func(){}
			for name, c := range all {
				enc, dec, err := c.New(s, c.Defaults())
				if err != nil {
					b.Fatal(err)
				}
				got := s.NewFrame()
				memos := [2][]encoders.Memo{make([]encoders.Memo, len(frames)), make([]encoders.Memo, len(frames))}
				var buf []byte
				passes[name] = func() {
					for i := 6; i < len(frames); i++ {
						var err error
						if buf, memos[0][i], err = enc.Encode(buf[:0], frames[i], []encoders.Ref{{Frame: frames[i-6], Memo: memos[0][i-6]}}, nil, nil); err != nil {
							b.Fatal(err)
						}
						if memos[1][i], err = dec.Decode(got, buf, []encoders.Ref{{Frame: frames[i-6], Memo: memos[1][i-6]}}, nil); err != nil {
							b.Fatal(err)
						}
					}
				}
			}
			n := 0
			for b.Loop() {
				for name, run := range passes {
					from := userTime(b)
					run()
					spent[name] += userTime(b) - from
				}
				n += len(frames) - 6
			}
			for name := range all {
				b.ReportMetric(float64(spent[name].Nanoseconds())/1000/float64(n), name+"-µs/frame")
			}
			b.ReportMetric(float64(spent["wasm"])/float64(spent["native"]), "wasm/native")
			b.ReportMetric(float64(spent["trusted"])/float64(spent["native"]), "trusted/native")
		})
	}
}

// userTime returns the user CPU time of the test so far.
func userTime(t testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}
