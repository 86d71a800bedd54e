package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"wirelab/internal/testkit"
)

// guessOf returns the guessed schema of a log, its remarks on one line each, and the frames that it plays.
func guessOf(t *testing.T, path string) (l *Layout, remarks string, frames [][]int32) {
	t.Helper()
	schema, list, err := Infer(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	l = layoutOf(t, string(schema))
	if frames, err = play(l, path); err != nil {
		t.Fatalf("%v\n%s", err, schema)
	}
	return l, strings.Join(list, "\n"), frames
}

// The guesses from the files of shared/data/field are the right answers of its README.
func TestInferField(t *testing.T) {
	dir := testkit.DataFile(t, "field")
	for _, c := range []struct {
		name, frame, round, key string
		hz, frames, fields      int
		remarks                 []string
	}{
		{"dupkey.csv", "tick", "", "id", 60, 30, 2, []string{"30 frames of 3 rows", "skip_strays: NOTE: id is twice in a frame, first in line 64."}},
		{"excel_de.csv", "Zeit", "", "SpielerID", 20, 40, 6, []string{"decimal: NOTE: 12,5 is read as 12.5"}},
		{"iso.csv", "timestamp", "", "id", 20, 40, 3, nil},
		{"nan.csv", "tick", "", "id", 60, 40, 5, []string{"y: NOTE: empty or not a finite number in 4 rows: it then is 0", "speed: NOTE: empty"}},
		{"reset.csv", "tick", "round", "id", 60, 60, 3, []string{"60 frames of 3 rows", "frame: NOTE: begins again when round changes"}},
		{"tabs.csv", "frame", "", "obj", 60, 40, 5, nil},
		{"time.csv", "time", "", "id", 20, 6, 3, nil},
		{"time_s.csv", "time_s", "", "id", 20, 6, 3, nil},
		{"wide.csv", "tick", "", "", 60, 40, 5, nil},
		{"events.jsonl", "tick", "", "id", 60, 30, 2, []string{"where: NOTE: other lines are left out", "type: left out"}},
		{"quat_x_first.jsonl", "serverTick", "", "netId", 20, 60, 9, []string{
			"rotation.x: NOTE: with the next three fields a unit quaternion, in the order x, y, z, w",
			`weapons: left out, since it is a list of objects beside or within objects. Columns such as "weapons[0].x" read one of them`}},
	} {
		l, remarks, frames := guessOf(t, filepath.Join(dir, c.name))
		s := l.Schema
		if l.Frame != c.frame || l.Round != c.round || l.Key != c.key || s.TickHz != c.hz || len(frames) != c.frames || len(s.Fields) != c.fields {
			t.Errorf("%s: frame %q, round %q, key %q, %d Hz, %d frames, %d fields", c.name, l.Frame, l.Round, l.Key, s.TickHz, len(frames), len(s.Fields))
		}
		for _, want := range append(c.remarks, " frames of ") {
			if !strings.Contains(remarks, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, remarks)
			}
		}
		if strings.Contains(remarks, "left out") != strings.HasSuffix(c.name, ".jsonl") {
			t.Errorf("%s: %s", c.name, remarks)
		}
	}
}

// A log that is opened without a schema remarks on the rate that is assumed, and on the questions about frames and keys, in which
// a wrong guess changes every figure.
func TestRemarkOfGuessedSchema(t *testing.T) {
	for text, want := range map[string]string{
		"id,time,x\n1,0.0,1\n1,0.1,2\n2,0.0,3\n2,0.1,4\n3,0.0,5\n3,0.1,6\n": `names that column. time falls 2 times, first in line 4; a log that is sorted by it plays; `,
		"tick,x\n1,1\n1,1\n2,1\n2,2\n3,1\n": "60 frames a second, which the log does not show; a frame is tick; 3 frames of 1 to 2 rows; frames have different numbers of rows. " +
			"Which column is the key, which identifies the thing in a row?; tui datasets infer",
	} {
		path := filepath.Join(t.TempDir(), "log.csv")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := openGuessed(t.Context(), path, false)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := strings.Join(s.Remarks(), "\n"); !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		s.Close()
	}
}

// edited returns the path of a copy of a file of shared/data/field.
func edited(t *testing.T, name string, edit func(text string) string) string {
	t.Helper()
	data, err := os.ReadFile(testkit.DataFile(t, "field/"+name))
	if err != nil {
		t.Fatal(err)
	}
	text := edit(string(data))
	if text == string(data) {
		t.Fatalf("%s is unchanged", name)
	}
	return fileOf(t, name, []byte(text))
}

// Files that have been cleaned by hand give the schema and the frames of the original.
func TestInferFieldCleaned(t *testing.T) {
	replace := func(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }
	noise := regexp.MustCompile(`\d\.\d{13,}`)
	for name, edit := range map[string]func(string) string{
		"excel_de.csv": func(text string) string { return strings.ReplaceAll(text, ",", ".") },
		"wide.csv": func(text string) string {
			return noise.ReplaceAllStringFunc(text, func(number string) string {
				v, _ := strconv.ParseFloat(number, 64)
				return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64)
			})
		},
		"time_s.csv":   replace("time_s", "time"),
		"iso.csv":      replace("timestamp", "Datum", "2024-03-01T", "2024-03-01 ", "Z", ""),
		"tabs.csv":     replace("# recorded by mygame 1.2\n", "", "\t", ","),
		"nan.csv":      replace("NaN", "0", "-nan", "0", "inf", "0"),
		"events.jsonl": func(text string) string { return regexp.MustCompile(`(?m)^.*"kill".*\n`).ReplaceAllString(text, "") },
	} {
		want, _, wantFrames := guessOf(t, testkit.DataFile(t, "field/"+name))
		got, _, frames := guessOf(t, edited(t, name, edit))
		for i := range want.Schema.Fields {
			if !reflect.DeepEqual(got.Schema.Fields[i], want.Schema.Fields[i]) {
				t.Errorf("%s: %+v, want %+v", name, got.Schema.Fields[i], want.Schema.Fields[i])
			}
		}
		if got.Schema.TickHz != want.Schema.TickHz || got.Key != want.Key || !reflect.DeepEqual(frames, wantFrames) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// What columns do decides, whatever their names are. Rows out of order are named.
func TestInferByEvidence(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 40))
	for _, c := range []struct {
		header     string
		time       func(n int) string // of frame n
		frame, key string
		hz         int
	}{
		{"Zeit,Objekt,wert", func(n int) string { return strconv.FormatInt(17e11+50*int64(n), 10) }, "Zeit", "Objekt", 20},
		{"Time (s),obj,value", func(n int) string { return strconv.FormatFloat(float64(n)/30, 'f', 4, 64) }, "Time (s)", "obj", 30},
		{"elapsed,vehicle,value", func(n int) string { return strconv.FormatFloat(float64(n)/10, 'f', 1, 64) }, "elapsed", "vehicle", 10},
		{"time_ms,car,value", func(n int) string { return strconv.Itoa(n) }, "time_ms", "car", 1000},
		{"when,car,value", func(n int) string { return "12:00:" + strconv.FormatFloat(10+float64(n)/25, 'f', 3, 64) }, "when", "car", 25},
		{"n,car,value", strconv.Itoa, "n", "car", 60},
	} {
		for _, stray := range []bool{false, true} {
			text := c.header + "\n"
			for n := range 40 {
				for car := range 4 {
					if stray && n == 30 && car == 2 {
						text += c.time(28) + ",car3,0.5\n"
					}
					if !stray && rng.IntN(20) > 0 || stray {
						text += c.time(n) + ",car" + strconv.Itoa(car) + "," + strconv.Itoa(rng.IntN(500)) + ".5\n"
					}
				}
			}
			l, remarks, frames := guessOf(t, fileOf(t, "a.csv", []byte(text)))
			isName := strings.Contains(c.time(0), ":") // any name may follow another one
			if l.Frame != c.frame || l.Key != c.key || l.Schema.TickHz != c.hz || !isName && len(frames) != 40 {
				t.Errorf("%s: frame %q, key %q, %d Hz, %d frames", c.header, l.Frame, l.Key, l.Schema.TickHz, len(frames))
			}
			if stray && !strings.Contains(remarks, c.frame+" falls, first in line 124. ") {
				t.Errorf("%s: %s", c.header, remarks)
			}
		}
	}
}

// Exports of spreadsheets, engines and databases play with the right rate and fields, or a remark or an error has the reason.
func TestInferExports(t *testing.T) {
	rows := func(header string, things int, row func(n, thing int) string) string {
		text := header + "\n"
		for n := range 60 {
			for thing := range things {
				text += row(n, thing) + "\n"
			}
		}
		return text
	}
	for _, c := range []struct {
		name, text string
		want       string // frame, key, rate and columns of fields
		remark     string // part of the remarks or the error
	}{
		{"french.csv", "\ufeffsep=;\r\n" + rows("Horodatage;Véhicule;Alt;Vitesse", 3, func(n, thing int) string {
			return fmt.Sprintf("01/03/2024 12:00:%02d;Camion %d;1\u202f%d,5;%d,2\r", n, thing, 200+n, n*thing)
		}), "Horodatage Véhicule 1 [present Vitesse]", "Alt: left out, since its numbers have thousands separators"},
		{"database.csv", rows("ts|player|x|alive|comment", 2, func(n, thing int) string {
			return fmt.Sprintf("2024-05-06 10:00:%09.6f+00|p%d|%d|t|\"more\nlines; %d\"", float64(n)/20, thing, n*3, n)
		}), "ts player 20 [present x alive]", "comment: left out, since it has texts that are not printable"},
		{"engine.jsonl", rows("", 3, func(n, thing int) string {
			line := fmt.Sprintf(`{"ev":"move","t":%.3f,"node":"/root/P%d","x":%.2f}`, float64(n)/60, thing, float64(n)/2)
			if n%10 == 3 {
				line += fmt.Sprintf("\n"+`{"ev":"shoot","t":%.3f,"who":"P1"}`, float64(n)/60)
			}
			return line
		}), "t node 60 [present ev x]", "where: NOTE: other lines are left out"},
		{"pandas.csv", rows(",step,agent_id,reward", 2, func(n, thing int) string {
			return fmt.Sprintf("%d,%d,%d,%v", 2*n+thing, n, thing, float64(float32(n)/10))
		}), "step agent_id 60 [present reward]", `"": left out`},
		{"pauses.csv", rows("seconds,car,x", 2, func(n, thing int) string {
			return fmt.Sprintf("%.3f,%d,%d", float64(n)/30+float64(n/25)*40, thing, n)
		}), "seconds car 30 [present x]", "NOTE: the mean step of seconds is 0.03333, taken as seconds; frames are played evenly, 30 a second; " +
			"recorded were 30 a second on average (1.9 s), with gaps of 33 to 34 ms and without 2 pauses over 5s"},
		{"sorted.csv", rows("id,tick,x", 2, func(n, thing int) string { return fmt.Sprintf("%d,%d,%d", n/30, n%30*2+thing, n) }),
			"  60 [id tick x]", "tick falls 1 time, first in line 62; a log that is sorted by it plays"},
		{"wide.txt", "\xff\xfet\x00", "", "the file is in UTF-16; expected text in UTF-8; iconv"},
		{"preamble.csv", "Format,Logger\n\nTime,Speed,Throttle\n0.1,3,4\n", "", "preamble.csv:3: a row of 3 columns; expected 2 columns, as in the line with their names"},
	} {
		path := fileOf(t, c.name, []byte(c.text))
		if c.want == "" {
			if _, _, err := Infer(t.Context(), path); err == nil || !strings.Contains(err.Error(), c.remark) {
				t.Errorf("%s: %v, want %s", c.name, err, c.remark)
			}
			continue
		}
		l, remarks, _ := guessOf(t, path)
		var columns []string
		for _, column := range l.columns {
			columns = append(columns, column.name)
		}
		if got := fmt.Sprint(l.Frame, " ", l.Key, " ", l.Schema.TickHz, " ", columns); got != c.want || !strings.Contains(remarks, c.remark) {
			t.Errorf("%s: %s, want %s\n%s\nwant %s", c.name, got, c.want, remarks, c.remark)
		}
	}
}

// Digits that a float64 or a float32 does not keep are noise.
func TestDigits(t *testing.T) {
	for text, want := range map[string]int{"7.800000000000001": 1, "0.30000000000000004": 1, "7.8000001907348633": 1, "0.800000011920929": 1, "0.30000001192092896": 1,
		"12345.678901234567": 10, "1.25": 2, "1e-3": 3, "100": 0, "123456789.123456789": 6} {
		if got, _ := countDigits(text); got != want {
			t.Errorf("%s has %d decimals, want %d", text, got, want)
		}
	}
}

// Rounding the components of a quaternion to a tolerance in degrees turns it by no more than that.
func TestQuaternionTolerance(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 40))
	for _, degrees := range []float64{0.1, 0.5, 5} {
		limit, err := ParseTolerance(strconv.FormatFloat(degrees, 'g', -1, 64)+" deg", "quaternion")
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for range 20000 {
			var q, r [4]float64
			for i := range q {
				q[i] = rng.NormFloat64()
			}
			norm, dot, length := math.Hypot(math.Hypot(q[0], q[1]), math.Hypot(q[2], q[3])), 0.0, 0.0
			for i := range q {
				q[i] /= norm
				r[i] = math.Round(q[i]/(2*limit)) * 2 * limit
				dot += q[i] * r[i]
				length += r[i] * r[i]
			}
			worst = max(worst, 2*math.Acos(min(1, dot/math.Sqrt(length)))*180/math.Pi)
		}
		if worst > degrees*1.01 || worst < degrees*0.6 {
			t.Errorf("a tolerance of %v degrees turns by up to %v", degrees, worst)
		}
	}
}
