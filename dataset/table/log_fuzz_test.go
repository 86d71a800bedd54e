package table

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/dataset/source"
	"wirelab/internal/testkit"
)

// FuzzLog builds a log of things that come and go, in CSV or JSON Lines, and damages it in places that the second
// argument chooses. An undamaged log gives the frames of the reference implementation. A damaged one gives frames in the
// ranges of the schema, or an error that names the file. What Infer guesses of it is a valid schema.
func FuzzLog(f *testing.F) {
	for seed := range uint64(6) {
		f.Add(seed, []byte(nil))
		f.Add(seed, []byte{1, 200, 3, 77, 9, 40, 5})
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, seed uint64, damage []byte) {
		rng := rand.New(rand.NewPCG(seed, 7))
		most := 1 + rng.IntN(6)
		frames := randomFrames(rng, 1+rng.IntN(6), most)
		name := []string{"a.csv", "a.jsonl", "frames.jsonl"}[seed%3]
		schema, text, words := fmt.Sprintf(keyed, fmt.Sprint(most)), logText(frames, name), []string{"a", "b", "é"}
		schema = strings.Replace(schema, `"auto"`, `["a", "b", "é"]`, 1)
		if name == "frames.jsonl" {
			schema = "list = \"l\"\n" + schema
		}
		path := filepath.Join(dir, name)
		choices := testkit.NewChoices(damage)
		damaged := !choices.Empty()
		for !choices.Empty() {
			text = choices.DamageText(text)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := play(layoutOf(t, schema), path)
		var placed *source.Error
		if err != nil && (!errors.As(err, &placed) && !strings.HasPrefix(err.Error(), path+":") || strings.Contains(err.Error(), "\n")) {
			t.Fatalf("%q: an error without its file: %v", text, err)
		}
		if !damaged {
			var want [][]int32
			for _, table := range fullTable(frames, most) {
				want = append(want, steps(table, words))
			}
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s\n%v, %v, want %v", text, got, err, want)
			}
		}
		guess, _, err := Infer(t.Context(), path)
		if err != nil {
			if !damaged || !strings.HasPrefix(err.Error(), path+":") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		l, err := ParseLayout("guess.toml", guess)
		if err != nil {
			t.Fatalf("%q is guessed to be\n%s\n%v", text, guess, err)
		}
		if _, err := play(l, path); err != nil && !damaged {
			t.Fatalf("%s is guessed to be\n%s\n%v", text, guess, err)
		}
	})
}

// logText returns frames as a log in the format of a file name.
func logText(frames [][]sighting, name string) string {
	var b strings.Builder
	if name == "a.csv" {
		b.WriteString("t,id,x,kind\n")
	}
	for n, list := range frames {
		var rows []string
		for _, s := range list {
			switch name {
			case "a.csv":
				rows = append(rows, fmt.Sprintf("%d,%s,%g,%s", n, s.id, s.x, s.kind))
			case "a.jsonl":
				rows = append(rows, fmt.Sprintf(`{"t":%d,"id":%s,"x":%g,"kind":%q}`, n, s.id, s.x, s.kind))
			default:
				rows = append(rows, fmt.Sprintf(`{"id":%q,"kind":%q,"x":%g}`, s.id, s.kind, s.x))
			}
		}
		if name == "frames.jsonl" {
			rows = []string{fmt.Sprintf(`{"t":%d,"l":[%s]}`, n, strings.Join(rows, ","))}
		}
		b.WriteString(strings.Join(rows, "\n") + "\n")
	}
	return b.String()
}
