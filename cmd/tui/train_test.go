package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders/train"
)

// pupil returns a trainer that only counts the frames it receives.
func pupil(name string, learn func(ctx context.Context, job train.Job, log train.Log) error) train.Trainer {
	suits := func(s *frame.Schema) bool { return frame.IsCubes(s) && s.Rows == frame.WalkoffCubes }
	return train.Trainer{Encoder: name, Suits: suits, From: "snapshots of 901 cubes", Per: "changed cube",
		Train: func(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
			if learn != nil {
				if err := learn(ctx, job, log); err != nil {
					return nil, err
				}
			}
			shown := 0
			for _, c := range job.Clips {
				if err := c.Frames(func(*frame.Frame) error { shown++; return nil }); err != nil {
					return nil, err
				}
			}
			return []train.File{{Name: name + ".net", Data: fmt.Appendf(nil, "%d frames, seed %d", shown, job.Seed)}}, nil
		}}
}

// teach runs the program with these trainers instead of those of the table.
func teach(ctx context.Context, trainers []train.Trainer, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	a := testApp()
	a.stdout, a.stderr, a.trainers = newOutput(&stdout), &stderr, trainers
	code := a.run(ctx, append([]string{"train"}, args...))
	return outcome{code, stdout.String(), stderr.String()}
}

// short writes a recording of half a second and returns its path.
func short(t *testing.T, seed int, cubes int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "short.bin")
	w, err := dataset.Create(nil, path, cubes)
	if err != nil {
		t.Fatal(err)
	}
	f := frame.Cubes(cubes).NewFrame()
	for i := range cubes {
		copy(f.Table[i*frame.CubeFields:], []int32{3, 256, 256, 256, int32(100 * seed), int32(i), 102, 0})
	}
	if err := w.Initial(f); err != nil {
		t.Fatal(err)
	}
	for range 30 {
		f.Table[frame.CubeX]++
		if err := w.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// files lists the files below a folder, with slashes.
func files(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, err := filepath.Rel(dir, path)
			list = append(list, filepath.ToSlash(rel))
			return err
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return list
}

// TestTrain checks that each trainer gets every frame of both recordings, and that its file is written to
// the folder of --out.
func TestTrain(t *testing.T) {
	a, b, held := short(t, 1, 901), short(t, 2, 901), short(t, 3, 901)
	var ticks []uint32
	measured := pupil("second", func(_ context.Context, job train.Job, log train.Log) error {
		log.Step("net", 1, 2)
		log.Point(train.Point{Part: "net", Epoch: 1, Train: 12.5, Held: 13.25})
		log.Point(train.Point{Part: "net", Epoch: 2, Train: 11.5, Held: 12.25})
		return job.Held.Frames(func(f *frame.Frame) error { ticks = append(ticks, f.Tick); return nil })
	})
	out := filepath.Join(t.TempDir(), "new", "folder")
	o := teach(t.Context(), []train.Trainer{pupil("first", nil), measured}, "--data", a+","+b, "--held", held, "--out", out,
		"--seed", "5", "--json")
	if o.code != exitDone {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	want := []string{"first.net", "second.net"}
	if got := files(t, out); !slices.Equal(got, want) {
		t.Errorf("wrote %v, want %v", got, want)
	}
	if got, _ := os.ReadFile(filepath.Join(out, "first.net")); string(got) != "72 frames, seed 5" {
		t.Errorf("first.net contains %q", got)
	}
	if len(ticks) != 36 || ticks[35] != 35 {
		t.Errorf("held-out frames have ticks %d, want 0 to 35", ticks)
	}
	var doc trainResult
	document(t, o.stdout, &doc)
	if len(doc.Data) != 2 || doc.Data[0].Frames != 36 || doc.Held == nil || doc.Held.Spec != held || len(doc.Encoders) != 2 ||
		doc.Encoders[0].Files[0].Path != want[0] {
		t.Errorf("the summary is %s", o.stdout)
	}
	if !strings.Contains(o.stderr, "second, net, pass 2, bits per changed cube: training 11.500, held out 12.250\n") {
		t.Errorf("the losses were not printed: %q", o.stderr)
	}
}

// TestTrainRefuses checks that wrong arguments are refused before the training, with exit code 2
// and without creating a folder.
func TestTrainRefuses(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	a, again, other := short(t, 1, 901), short(t, 1, 901), short(t, 2, 901)
	write(t, "file", "")
	write(t, "empty.bin", "")
	few := short(t, 1, 33)
	never := pupil("first", func(context.Context, train.Job, train.Log) error {
		t.Error("training began")
		return nil
	})
	for _, c := range []struct{ line, want string }{
		{"--out x", "tui train expects --data SPEC"},
		{"--data " + a, "tui train expects --out DIR"},
		{"--data nowhere.bin --out x", "nowhere.bin"},
		{"--data demoo --out x", "did you mean demo?"},
		{"--data empty.bin --out x", "empty.bin"},
		{"--data " + few + " --out x", ""}, // 33 cubes instead of 901
		{"--data text --out x", "text contains 0 rows of text; expected snapshots of 901 cubes"},
		{"--data " + a + " --data " + again + " --out x", "is the same recording as"},
		{"--data " + a + " --held " + again + " --out x", "is the same recording as --data"},
		{"--data " + a + "," + other + " --encoder frist --out x", "did you mean first?"},
		{"--data " + a + " --encoder xyzzy --out x", "expected one of first"},
		{"--data " + a + " --encoder raw --out x", "encoder raw has no model of your data to train; expected one of first"},
		{"--data " + a + " --out file", "file cannot be written"},
		{"--data " + a + " --out file/below", "file/below cannot be written"},
	} {
		o := teach(t.Context(), []train.Trainer{never}, strings.Fields(c.line)...)
		if o.code != exitUsage || o.stdout != "" || strings.Count(o.stderr, "\n") != 1 || !strings.Contains(o.stderr, c.want) {
			t.Errorf("tui train %s: exit %d, %q; want a line with %q", c.line, o.code, o.stderr, c.want)
		}
	}
	if got := files(t, dir); !slices.Equal(got, []string{"empty.bin", "file"}) {
		t.Errorf("left behind: %v", got)
	}
	if _, err := os.Stat("x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was left behind: %v", err)
	}
}

// TestTrainInterrupted checks that an interruption or an error leaves the files of that encoder
// unchanged, and those of earlier encoders complete.
func TestTrainInterrupted(t *testing.T) {
	a := short(t, 1, 901)
	for name, c := range map[string]struct {
		end  func(cancel context.CancelFunc) error
		code int
	}{
		"interrupted":               {func(cancel context.CancelFunc) error { cancel(); return context.Canceled }, exitInterrupted},
		"interrupted and not heard": {func(cancel context.CancelFunc) error { cancel(); return nil }, exitInterrupted},
		"failed":                    {func(context.CancelFunc) error { return errors.New("out of luck") }, exitFailed},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		out := t.TempDir()
		old := filepath.Join(out, "second.net")
		write(t, old, "old")
		second := pupil("second", func(context.Context, train.Job, train.Log) error { return c.end(cancel) })
		o := teach(ctx, []train.Trainer{pupil("first", nil), second}, "--data", a, "--out", out, "--quiet")
		cancel()
		if o.code != c.code || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %q; want %d", name, o.code, o.stderr, c.code)
		}
		want := []string{"first.net", "second.net"}
		if got, _ := os.ReadFile(old); string(got) != "old" || !slices.Equal(files(t, out), want) {
			t.Errorf("%s: left %v, and in the file that was there %q", name, files(t, out), got)
		}
	}
}

// TestTrainOnTexts checks that each trainer gets only data that it supports, and that mixed data
// is refused.
func TestTrainOnTexts(t *testing.T) {
	reader := pupil("reader", func(_ context.Context, job train.Job, _ train.Log) error {
		return job.Held.Frames(func(f *frame.Frame) error {
			if int(f.Tick) >= 20 || len(f.Body) == 0 {
				t.Errorf("message %d has %d bytes", f.Tick, len(f.Body))
			}
			return nil
		})
	})
	reader.Suits, reader.From = func(s *frame.Schema) bool { return s.Rows == 0 }, "a text, as text:PATH"
	both := []train.Trainer{pupil("first", nil), reader}
	t.Chdir(t.TempDir())
	write(t, "book.txt", strings.Repeat("It was the best of times, it was the worst of times. ", 40))
	o := teach(t.Context(), both, "--data", "text:book.txt", "--held", "text", "--out", "x", "--json")
	var doc trainResult
	document(t, o.stdout, &doc)
	want := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Repeat("It was the best of times, it was the worst of times. ", 40))))
	if o.code != exitDone || len(doc.Encoders) != 1 || doc.Encoders[0].Encoder != "reader" || doc.Data[0].SHA256 != want ||
		doc.Data[0].Frames != 5 {
		t.Errorf("exit %d, %s; %s", o.code, o.stdout, o.stderr)
	}
	o = teach(t.Context(), both, "--data", "text:book.txt,"+short(t, 1, 901), "--out", "y")
	if o.code != exitUsage || !strings.Contains(o.stderr, "expected data of one kind") {
		t.Errorf("cubes and a text: exit %d, %q", o.code, o.stderr)
	}
	o = teach(t.Context(), both[1:], "--data", "demo", "--out", "y")
	if o.code != exitUsage || !strings.Contains(o.stderr, "expected a text") {
		t.Errorf("no text: exit %d, %q", o.code, o.stderr)
	}
}

// TestJoinSpecs checks that commas within a spec do not split it.
func TestJoinSpecs(t *testing.T) {
	for _, specs := range [][]string{{"table:x.toml,x.csv", "demo"}, {"quake3:a.dm_68,rows=300", "table:a,b.toml,c.csv"}, {"packets:a,port=1,dir=up", "b"}} {
		if got := joinSpecs(strings.Split(strings.Join(specs, ","), ",")); !slices.Equal(got, specs) {
			t.Errorf("%q of %q", got, specs)
		}
	}
}

// TestTrainOneFile checks that --out is a folder or, with an extension, the file of a single model.
func TestTrainOneFile(t *testing.T) {
	a := short(t, 1, 901)
	t.Chdir(t.TempDir())
	both := []train.Trainer{pupil("first", nil), pupil("second", nil)}
	o := teach(t.Context(), both, "--data", a, "--out", "x.model")
	if o.code != exitUsage || !strings.Contains(o.stderr, "x.model is one file, but 2 encoders have models of such data") {
		t.Errorf("two encoders, one file: exit %d, %q", o.code, o.stderr)
	}
	o = teach(t.Context(), both, "--data", a, "--out", "x.model", "--encoder", "second")
	if got := files(t, "."); o.code != exitDone || !slices.Equal(got, []string{"x.model"}) {
		t.Errorf("exit %d, files %v: %s", o.code, got, o.stderr)
	}
}

// TestTrainStatic checks that two trainings of adaptive make equal files.
func TestTrainStatic(t *testing.T) {
	var sums []string
	recording := short(t, 1, 901)
	for range 2 {
		o := tui("train --data", recording, "--out", t.TempDir(), "--json", "--quiet")
		var doc trainResult
		document(t, o.stdout, &doc)
		if o.code != exitDone || len(doc.Encoders) != 1 || len(doc.Encoders[0].Files) != 1 || doc.Encoders[0].Files[0].Path != "static.tab.zst" {
			t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
		}
		sums = append(sums, doc.Encoders[0].Files[0].SHA256)
	}
	if sums[0] != sums[1] {
		t.Errorf("one seed, different files: %s", sums)
	}
}

// writeGame writes a capture of n datagrams of a fake game, 20 ms apart.
func writeGame(t *testing.T, path string, n int) {
	t.Helper()
	b := binary.LittleEndian.AppendUint32(nil, 0xa1b2c3d4)
	b = append(b, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 101, 0, 0, 0) // raw IP
	for i := range n {
		payload := fmt.Appendf(nil, "\x07\x01move%c%c%c\x00\x00\x00%c", i>>8, i, 'a'+i%3, i*7%11)
		size := 28 + len(payload)
		at := 20_000 * i
		for _, v := range []int{at / 1_000_000, at % 1_000_000, size, size} {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
		b = append(b, 0x45, 0, 0, byte(size), 0, 0, 0, 0, 64, 17, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1)
		b = append(b, 0x1f, 0x40, 0x1f, 0x41, 0, byte(8+len(payload)), 0, 0)
		b = append(b, payload...)
	}
	write(t, path, string(b))
}

// TestTrainModel checks that training a model file is reproducible, and that a session can use
// the file.
func TestTrainModel(t *testing.T) {
	t.Chdir(t.TempDir())
	writeGame(t, "game.pcap", 200)
	const data = "packets:game.pcap,port=8000,dir=down"
	for _, name := range []string{"datagram", "datagram-acked"} {
		var sums []string
		for _, out := range []string{"a.model", "models/b.model"} {
			o := tui("train --encoder", name, "--data", data, "--out", out, "--size", "40KB", "--json", "--quiet")
			var doc trainResult
			document(t, o.stdout, &doc)
			if o.code != exitDone || len(doc.Encoders) != 1 || len(doc.Encoders[0].Files) != 1 ||
				doc.Encoders[0].Files[0].Path != filepath.Base(out) || doc.Encoders[0].Files[0].Bytes > 40_000 {
				t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
			}
			sums = append(sums, doc.Encoders[0].Files[0].SHA256)
		}
		if sums[0] != sums[1] {
			t.Errorf("%s: two models of one capture: %s", name, sums)
		}
		run := []string{"run", "--data", data, "--encoder", name, "--set", "duration=3s", "--json", "--quiet"}
		o := tui("", append(run, "--set", "encoder.params.model=a.model", "--set", "down.loss=5%")...)
		checkOut(t, o, exitDone, `"wrong": 0,`)
		run[6] = "duration=20s" // enough data for the remark
		checkOut(t, tui("", run...), exitDone, "tui train --encoder "+name+" makes one")
	}
	for args, want := range map[string]string{
		"--data " + data + " --out " + os.DevNull + "/x":  os.DevNull + "/x cannot be written",
		"--data " + data + " --out x --size 1KB":          "1000 bytes, expected 32768 to",
		"--data " + data + " --out x --size much":         "--size",
		"--data demo --out x":                             "expected a capture, as packets:FILE.pcap",
		"--data packets:game.pcap,port=9 --out x":         "port 9",
		"--data " + data + " --held " + data + " --out x": "is the same recording as --data",
	} {
		o := tui("train --encoder datagram " + args)
		checkErr(t, o, exitUsage, want)
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("something was written all the same")
	}
}
