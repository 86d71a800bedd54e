package table

import (
	"fmt"
	"os"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
)

func TestBoard(t *testing.T) {
	names := recording.Names()
	if s := os.Getenv("REC"); s != "" {
		names = []string{s}
	}
	for _, name := range names {
		frames := recording.Load(t, name, 0)
		s := frame.Cubes(901)
		for _, c := range All() {
			enc, dec, err := c.New(s, c.Defaults())
			if err != nil {
				t.Fatal(err)
			}
			var b encoders.Budget
			var buf []byte
			got := s.NewFrame()
			total := 0
			for n := 6; n < len(frames); n++ {
				refs := []encoders.Ref{{Frame: frames[n-6]}}
				buf, _, err = enc.Encode(buf[:0], frames[n], refs, nil, &b)
				if err != nil {
					t.Fatal(err)
				}
				total += len(buf)
				if _, err := dec.Decode(got, buf, refs, nil); err != nil || !got.Equal(frames[n]) {
					t.Fatal(name, c.Name, n, err)
				}
			}
			k := float64(len(frames) - 6)
			line := fmt.Sprintf("%-8s %-22s %9.1f", name, c.Name, float64(total)/k)
			for i, u := range b.Units {
				if u != 0 {
					line += fmt.Sprintf(" %s %.1f", encoders.Slot(i).Name(nil), float64(u)/65536/k)
				}
			}
			fmt.Println(line)
		}
	}
}
