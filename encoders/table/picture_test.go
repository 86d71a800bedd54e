package table_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
	"wirelab/encoders/table"
	"wirelab/internal/testkit"
)

// picturePath is the picture in the README of package cubes.
const picturePath = "../cubes/bits.svg"

// share is a part of a bar: a slot of the bit budget and its colour, which is visible on white and on black.
type share struct {
	name, colour string
	slots        []encoders.Slot
}

var shares = []share{
	{"which cubes", "#8a8f98", []encoders.Slot{encoders.SlotFlags, encoders.SlotIndex}},
	{"position", "#2f7fc1", []encoders.Slot{encoders.SlotPosition}},
	{"orientation", "#d9982b", []encoders.Slot{encoders.SlotOrientation}},
	{"interacting and rounding", "#b04a5a", []encoders.Slot{encoders.SlotInteracting, encoders.SlotModel, encoders.SlotPadding}},
}

// oneChain returns one of the six independent chains of a recording by the rules of the walk-off: frame 0 and every
// sixth frame after it.
func oneChain(frames []*frame.Frame) []*frame.Frame {
	var chain []*frame.Frame
	for n := 0; n < len(frames); n += recording.BaselineAge {
		chain = append(chain, frames[n])
	}
	return chain
}

// fieldBytes encodes a chain and returns the bytes per packet of each share.
func fieldBytes(t *testing.T, c encoders.Codec, chain []*frame.Frame) []float64 {
	t.Helper()
	p := newPair(t, c, frame.Cubes(frame.WalkoffCubes))
	var sum encoders.Budget
	for n := 1; n < len(chain); n++ {
		p.send(t, chain[n], chain[n-1])
		sum.Add(&p.budget)
		delete(p.sent, chain[n-1])
		delete(p.got, chain[n-1])
	}
	spent := make([]float64, len(shares))
	for i, s := range shares {
		for _, k := range s.slots {
			spent[i] += float64(sum.Units[k]) / encoders.BitUnit / 8 / float64(len(chain)-1)
		}
	}
	return spent
}

// chart draws bars one below the other.
type chart struct {
	strings.Builder
	y int
}

const (
	barLeft, barHeight, barGap = 150, 18, 6
	chartWidth                 = 760
)

func (c *chart) text(x int, anchor, text string) {
	fmt.Fprintf(c, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>\n", x, c.y+13, anchor, text)
}

// bar draws a bar: its parts to scale, in pixels per unit, and the text after it.
func (c *chart) bar(name string, parts []float64, scale float64, note string) {
	c.text(barLeft-8, "end", name)
	x := float64(barLeft)
	for i, v := range parts {
		if v == 0 {
			continue
		}
		fmt.Fprintf(c, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", x, c.y, v*scale, barHeight,
			shares[i].colour)
		x += v * scale
	}
	c.text(int(x)+6, "start", note)
	c.y += barHeight + barGap
}

// legend draws the names of the colours.
func (c *chart) legend() {
	x := barLeft
	for _, s := range shares {
		fmt.Fprintf(c, "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>\n", x, c.y+2, s.colour)
		c.text(x+17, "start", s.name)
		x += 30 + 7*len(s.name)
	}
	c.y += barHeight + 2*barGap
}

// accountPath is kinetic's bit budget by situation, which TestBitBudget of package kinetic writes.
const accountPath = "../cubes/kinetic/testdata/account.csv"

// situations draws kinetic's bit budget by situation.
func (c *chart) situations(t *testing.T) {
	t.Helper()
	file, err := os.ReadFile(accountPath)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	c.y += barGap
	c.text(0, "start", "kinetic: bits a cube that moved, by situation, and how many of them a packet holds")
	c.y += barHeight + barGap
	for _, row := range rows[1:] {
		var v [3]float64
		for i := range v {
			if v[i], err = strconv.ParseFloat(row[1+i], 64); err != nil {
				t.Fatal(err)
			}
		}
		c.bar(row[0], []float64{0, v[1], v[2]}, 12, fmt.Sprintf("%.1f bits x %.1f", v[1]+v[2], v[0]))
	}
}

func (c *chart) svg() []byte {
	return fmt.Appendf(nil,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "+
			"font-family=\"sans-serif\" font-size=\"13\" fill=\"#7d8590\">\n%s</svg>\n",
		chartWidth, c.y, c.String())
}

// TestPicture checks that the picture in the README has the current figures for charlie.
func TestPicture(t *testing.T) {
	if !testkit.Thorough() && !*update {
		t.Skip("encodes a whole recording; set WIRELAB_THOROUGH=1")
	}
	chain := oneChain(recording.Load(t, "charlie", 0))
	c := &chart{}
	c.legend()
	c.text(0, "start", "bytes a packet, by field")
	c.y += barHeight + barGap
	for _, codec := range table.All() {
		if codec.ID < 8 || codec.ID >= 24 {
			continue // the rungs below would set the scale, the others are not of cubes
		}
		parts := fieldBytes(t, codec, chain)
		total := 0.0
		for _, v := range parts {
			total += v
		}
		c.bar(codec.Name, parts, 1, fmt.Sprintf("%.0f", total))
	}
	c.situations(t)
	if *update {
		if err := os.WriteFile(picturePath, c.svg(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	drawn, err := os.ReadFile(picturePath)
	if err != nil {
		t.Fatal(err)
	}
	if string(drawn) != string(c.svg()) {
		t.Errorf("%s is outdated, run with -update", picturePath)
	}
}
