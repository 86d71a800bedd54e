// Package main_test builds the library and runs its samples. The library itself has the build tag libwirelab.
package main_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/dataset/table"
	"wirelab/encoders"
	"wirelab/encoders/rows"
	"wirelab/experiment/endpoint"
	"wirelab/internal/testkit"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"
)

const schemaFile = "samples/tanks.toml"

// need returns the path of a program, or skips the test.
func need(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("NOT RUN: needs %s: %v", name, err)
	}
	return path
}

// output runs a command with additional environment variables and returns its output.
func output(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// build builds the library as a file with the given name, and returns its path. env is the environment of the build.
func build(t *testing.T, name string, env ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	output(t, env, "go", "build", "-trimpath", "-tags", "libwirelab", "-buildmode=c-shared", "-o", path, ".")
	return path
}

// startRelay starts a relay to a free port of this machine, which loses, reorders and duplicates datagrams in both directions. It
// returns the ports of the relay and of the server.
func startRelay(t *testing.T) (listen, server string) {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	address := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	_ = conn.Close() // the server opens it again
	spec := lossmodel.DefaultSpec()
	for _, s := range [][2]string{{"loss", "10%"}, {"latency", "10ms"}, {"reorder", "2%"}, {"duplicate", "2%"}} {
		if err := spec.Set(s[0], s[1]); err != nil {
			t.Fatal(err)
		}
	}
	r, err := relay.Open(relay.Options{Listen: netip.MustParseAddrPort("127.0.0.1:0"), Server: address, Seed: 7,
		Conditions: func(relay.Client) (up, down lossmodel.Spec) { return spec, spec }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if up := r.Totals().Flows[relay.Up]; up.Lost() == 0 || up.Copies == 0 {
			t.Errorf("the relay lost or duplicated nothing: %+v", up)
		}
	})
	return fmt.Sprint(r.Addr().Port()), fmt.Sprint(address.Port())
}

// TestSharedLibrary checks that programs in C and Python exchange states over a lossy connection, in both directions, and that
// no state differs from what was sent. It also checks the errors of the library.
func TestSharedLibrary(t *testing.T) {
	python := need(t, "python3")
	cc := need(t, strings.TrimSpace(output(t, nil, "go", "env", "CC")))
	library := build(t, "libwirelab.so", "CGO_ENABLED=1")
	t.Run("errors", func(t *testing.T) {
		if out := output(t, nil, python, "testdata/errors.py", library, schemaFile); out != "ok\n" {
			t.Error(out)
		}
	})
	tanks := filepath.Join(t.TempDir(), "tanks")
	output(t, nil, cc, "-Wall", "-Wextra", "-Werror", "-I.", "-o", tanks, "samples/tanks.c", library)
	count := testkit.Choose(10_000, 1_000)
	programs := map[string][]string{"C": {tanks}, "Python": {python, "samples/tanks.py", library}}
	for from, to := range map[string]string{"C": "Python", "Python": "C"} {
		t.Run(from+" to "+to, func(t *testing.T) {
			t.Parallel()
			listen, server := startRelay(t)
			receiver := exec.Command(programs[to][0], append(programs[to][1:len(programs[to]):len(programs[to])], "receive", server, schemaFile)...)
			receiver.Stderr = os.Stderr
			stdout, err := receiver.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := receiver.Start(); err != nil {
				t.Fatal(err)
			}
			timeout := time.AfterFunc(5*time.Minute, func() { _ = receiver.Process.Kill() })
			defer timeout.Stop()
			lines := bufio.NewReader(stdout)
			if line, err := lines.ReadString('\n'); line != "listening\n" {
				t.Fatalf("%q, %v", line, err)
			}
			args := append(programs[from][1:len(programs[from]):len(programs[from])], "send", listen, schemaFile)
			sent := output(t, nil, programs[from][0], append(args, fmt.Sprint(count))...)
			received, _ := lines.ReadString('\n')
			if err := receiver.Wait(); err != nil {
				t.Fatalf("%v: %s", err, received)
			}
			var states, wrong int
			if _, err := fmt.Sscanf(received, "%d states, %d wrong", &states, &wrong); err != nil || wrong != 0 || states < count/20 { // a busy machine loses most
				t.Error("expected many states, and none wrong")
			}
			var acked int
			if _, err := fmt.Sscanf(sent, "%d states, %f bytes each, newest acknowledged %d", new(int), new(float64), &acked); err != nil || acked <= 0 {
				t.Errorf("no ack arrived: %v", err)
			}
			t.Logf("sent %sreceived %s", sent, received)
		})
	}
}

// TestPrototypes checks that each function of the header is exported by the shared library and by the WebAssembly module,
// and declared in the sample in C#.
func TestPrototypes(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	list := regexp.MustCompile(`(?m)^(?:int32_t|int64_t|double) (wirelab_\w+)\(`).FindAllStringSubmatch(read("wirelab_endpoint.h"), -1)
	if len(list) < 16 {
		t.Fatalf("the header declares %d functions", len(list))
	}
	for _, m := range list {
		for file, want := range map[string]string{"exports_cgo.go": "//export " + m[1] + "\n", "exports_wasm.go": "//go:wasmexport " + m[1] + "\n",
			"samples/Tanks.cs": " " + m[1] + "("} {
			if !strings.Contains(read(file), want) {
				t.Errorf("%s does not contain %q", file, want)
			}
		}
	}
}

// TestWebAssembly checks that the module runs in Node with the code of the sample for browsers, decodes all states, and writes
// packets of the same size as package endpoint.
func TestWebAssembly(t *testing.T) {
	node := need(t, "node")
	if !testkit.Thorough() {
		t.Skip("NOT RUN: compiles Go's runtime for WebAssembly; WIRELAB_THOROUGH=1 does")
	}
	const n = 1000
	want := exchange(t, n) + "\nschema: item: is missing from the schema; expected a text\n"
	library := build(t, "libwirelab.wasm", "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if got := output(t, nil, node, "samples/browser/check.mjs", library, schemaFile, fmt.Sprint(n)); got != want {
		t.Errorf("the module: %swant: %s", got, want)
	}
}

// exchange does in Go what samples/browser/check.mjs does, and returns its figures.
func exchange(t *testing.T, n int) string {
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := table.ParseLayout(schemaFile, text)
	if err != nil {
		t.Fatal(err)
	}
	codec, options := rows.DeltaAdaptive(), endpoint.Options{History: 64}
	encoding, err := endpoint.NewEncoding(layout.Schema, &codec, codec.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	initial := layout.Schema.NewFrame()
	sender := endpoint.NewSender(layout.Schema, initial, encoding, options)
	receiver := endpoint.NewReceiver(layout.Schema, initial, []encoders.Codec{codec}, options)
	random := uint32(0)
	lost := func() bool {
		random = random*1664525 + 1013904223
		return uint64(random)*5 < 1<<32
	}
	states, dropped, size := 0, 0, 0
	for i := range n {
		packet, err := sender.Send(time.Duration(i)*time.Millisecond, world(layout.Schema, i), nil)
		if err != nil {
			t.Fatal(err)
		}
		size += len(packet.Datagram)
		if lost() {
			dropped++
			continue
		}
		if rx := receiver.Receive(packet.Datagram); rx.Outcome != endpoint.Decoded {
			t.Fatalf("packet %d: %v", i, rx.Outcome)
		}
		states++
		if !lost() {
			if err := sender.HandleAck(receiver.AppendAck(nil)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return fmt.Sprintf("%d states, %d lost, 0 wrong, %d bytes", states, dropped, size)
}

// world returns the state of packet n, as in samples/tanks.c.
func world(s *frame.Schema, n int) *frame.Frame {
	f := s.NewFrame()
	for i := range s.Rows {
		moved := 0
		if i%4 == 0 {
			moved = n * (20 + i)
		}
		copy(f.Table[4*i:], []int32{int32((900*i + moved) % 65536), int32(20000 + moved/7%500), int32((9*i + moved/50) % 360), int32((n + i) / 10 % 2)})
	}
	return f
}
