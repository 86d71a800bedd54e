package dataset

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/dataset/table"
	"wirelab/internal/testkit"
)

// Every file of shared/data/field opens by its path as the README there says, or the error says why not. In a row, a
// number of 0 and an empty text are not checked.
func TestField(t *testing.T) {
	dir := testkit.DataFile(t, "field")
	rows := map[string]struct {
		kind       string
		hz, frames int
		remark     string // part of a remark; "" if not checked
		err        string // part of the error; "" if the file opens
	}{
		"README.md": {kind: "text", hz: 60, remark: "read as a text"},
		"one.down":  {kind: "text", hz: 60}, // the link of lossmodel, not data
		"repeat.dm_68": {kind: "quake3", hz: 122, frames: 400,
			remark: "played evenly, 122 a second; recorded were 122.1 a second on average (3.267 s), with gaps of 0 to 33 ms"},
		"steady.dm_68": {kind: "quake3", hz: 30, frames: 400},
		"pppoe.pcap":   {kind: "packets", frames: 20, remark: "40 of 40 datagrams are from or to it"},
		"snap60.pcap": {kind: "packets", err: "no complete datagrams from port 27960, but 20 that were captured only in part; " +
			"expected whole packets; tcpdump -s 0"},
		"time.csv":           {kind: "table", hz: 20, frames: 6, remark: "a frame is time; a row is id"},
		"time_s.csv":         {kind: "table", hz: 20, frames: 6, remark: "a frame is time_s; a row is id"},
		"iso.csv":            {kind: "table", hz: 20, frames: 40, remark: "a frame is timestamp; a row is id"},
		"reset.csv":          {kind: "table", frames: 60, remark: "a frame is tick; a row is id"},
		"dupkey.csv":         {kind: "table", frames: 30, remark: "a frame is tick"},
		"wide.csv":           {kind: "table", frames: 40, remark: "a frame is tick"},
		"nan.csv":            {kind: "table", remark: "a frame is tick; a row is id"},
		"excel_de.csv":       {kind: "table", remark: "a frame is Zeit; a row is SpielerID"},
		"quat_x_first.jsonl": {kind: "table", remark: "a frame is serverTick; a row is netId"},
		"events.jsonl":       {kind: "table", frames: 30, remark: "a frame is tick; a row is id"},
		"tabs.csv":           {kind: "table", frames: 40, remark: "a frame is frame; a row is obj"},
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		want, ok := rows[file.Name()]
		if !ok {
			t.Errorf("%s is in no row of this test", file.Name())
			continue
		}
		path := filepath.Join(dir, file.Name())
		if got := KindName(path); got != want.kind {
			t.Errorf("%s: recognised as %q, want %s", file.Name(), got, want.kind)
		}
		src, err := Open(t.Context(), path, Options{})
		if err != nil || want.err != "" {
			if err == nil || want.err == "" || !strings.Contains(err.Error(), want.err) {
				t.Errorf("%s: %v; want %q", file.Name(), err, want.err)
			}
			continue
		}
		frames := 0
		for f := src.Schema().NewFrame(); src.Next(f) == nil; {
			frames++
		}
		remarks := strings.Join(remarksOf(src), "\n")
		hz := src.Schema().TickHz
		if want.hz > 0 && hz != want.hz || want.frames > 0 && frames != want.frames || !strings.Contains(remarks, want.remark) {
			t.Errorf("%s: %d frames at %d Hz, %q; want %+v", file.Name(), frames, hz, remarks, want)
		}
		closeSource(src)
	}
}

func remarksOf(src Source) []string {
	if r, ok := src.(Remarked); ok {
		return r.Remarks()
	}
	return nil
}

func closeSource(src Source) {
	if c, ok := src.(io.Closer); ok {
		_ = c.Close()
	}
}

// A file is recognised by its content whatever its name is, also within zstd and gzip. Other known kinds of files are named.
func TestRecognise(t *testing.T) {
	log := "tick,id,x\n0,1,5\n0,2,6\n1,1,7\n1,2,8\n"
	for content, want := range map[string]string{ // the name of the kind, or part of the error
		string(made(3, 8)):                         "file",
		"\xd4\xc3\xb2\xa1\x02\x00\x04\x00":         "packets",
		"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00":         "packets",
		"TWDEMO\x00\x04":                           "is a demo of Teeworlds or DDNet; expected a table",
		log:                                        "table",
		"# made by a game\n" + log:                 "table",
		strings.ReplaceAll(log, ",", "\t"):         "table",
		"{\"tick\": 0, \"x\": 1}\n{\"tick\": 1}\n": "table",
		"It was a dark, dark night.\nThe rain,\n":  "text",
		"[12:00:01] joined\n[12:00:02] left\n":     "text",
		"Gr\xfc\xdfe\n":                            "text",
		"[{\"tick\": 0}, {\"tick\": 1}]":           "table",
		"{\n \"frames\": [\n  1\n ]\n}\n":          "is one object over several lines; expected one object on each line; jq",
		`{"traceEvents": [{"ph": "X", "ts": 1}]}`:  "is a Chrome trace; expected",
		`[{"ph": "X", "ts": 1, "pid": 3}]`:         "is a Chrome trace; expected",
		"snoop\x00\x00\x00\x00\x00\x00\x02":        "is a snoop capture; expected pcap or pcapng; editcap",
		"PK\x03\x04\x14\x00":                       "is a zip archive or a workbook; expected",
		"HL2DEMO\x00\x03\x00":                      "is a demo of the Source engine; expected a recording of cubes",
		"\xff\xfet\x00i\x00":                       "is a text in UTF-16; expected UTF-8; iconv",
		"\x7fELF\x02\x01\x01\x00":                  "begins with the bytes 7f 45 4c 46 02 01 01 00; expected a recording of cubes",
		"":                                         "the file is empty",
	} {
		for name, data := range map[string][]byte{"data": []byte(content), "data.gz": zipped([]byte(content)), "data.zst": zstded([]byte(content))} {
			if content == "" && name != "data" {
				continue
			}
			path := file(t, name, data)
			kind, _, err := Recognise(path)
			if got := kind.Name; err != nil && !strings.HasPrefix(err.Error(), path+": ") || got != want && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%.20q in %s: %q, %v; want %s", content, name, got, err, want)
			}
		}
	}
	array := file(t, "array", []byte(`[{"tick": 0}]`))
	if _, err := Open(t.Context(), array, Options{}); err == nil || !strings.Contains(err.Error(), "is a list; expected one object on each line; jq -c '.[]' FILE") {
		t.Errorf("a list: %v", err)
	}
	for name, want := range map[string]string{"a.dm_91": "protocol \"91\" of Quake Live since 2015", "a.toml": "is TOML; expected data, or table:"} {
		if _, err := Open(t.Context(), file(t, name, []byte("item = \"x\"\n")), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", name, err, want)
		}
	}
}

// A log that opens by its path has the frames that it has with the schema which Infer writes.
func TestGuessedSchema(t *testing.T) {
	var text strings.Builder
	text.WriteString("time,id,x,flags,note\n")
	for n := range 30 {
		for id := range 3 {
			_, _ = io.WriteString(&text, strings.Join([]string{string(rune('0'+n/10)) + "." + string(rune('0'+n%10)), string(rune('a' + id)),
				string(rune('1'+n%7)) + ".5", "3", strings.Repeat("x", 50)}, ",")+"\n")
		}
	}
	log := file(t, "game.csv", []byte(text.String()))
	schema, _, err := table.Infer(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	written, err := Open(t.Context(), "table:"+file(t, "game.toml", schema)+","+log, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closeSource(written)
	for _, spec := range []string{log, "table:" + log} {
		guessed, err := Open(t.Context(), spec, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer closeSource(guessed)
		remarks := strings.Join(remarksOf(guessed), "\n")
		for _, want := range []string{"10 frames a second", "a frame is time", "a row is id", "note: left out, since it has texts", "tui datasets infer " + log} {
			if !strings.Contains(remarks, want) {
				t.Errorf("%s: %q, want %q", spec, remarks, want)
			}
		}
		if spec != log {
			continue
		}
		a, b := written.Schema().NewFrame(), guessed.Schema().NewFrame()
		for n := 0; ; n++ {
			errA, errB := written.Next(a), guessed.Next(b)
			if errA != errB || errA == nil && !a.Equal(b) || errA == io.EOF && n != 30 {
				t.Fatalf("frame %d: %v and %v, or other values", n, errA, errB)
			}
			if errA != nil {
				break
			}
		}
	}
}
