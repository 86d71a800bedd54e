package look

import (
	"math"
	"strconv"
	"testing"
)

// luminance returns the relative luminance (WCAG 2.1) of a colour of xterm's palette of 256
// colours, from its colour cube or its grey ramp.
func luminance(index int) float64 {
	var rgb [3]float64
	switch steps := [6]float64{0, 95, 135, 175, 215, 255}; {
	case index >= 232:
		v := float64(8 + 10*(index-232))
		rgb = [3]float64{v, v, v}
	default:
		i := index - 16
		rgb = [3]float64{steps[i/36], steps[i/6%6], steps[i%6]}
	}
	for i, v := range rgb {
		if v /= 255; v <= 0.04045 {
			rgb[i] = v / 12.92
		} else {
			rgb[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2]
}

// TestFilledCellsAreLegible: text on every filled cell has a contrast of 4.5 : 1, and fills get lighter.
func TestFilledCellsAreLegible(t *testing.T) {
	lightnessBefore := -1.0
	for level, tone := range fillColors() {
		var l [2]float64
		for i := range l {
			index, err := strconv.Atoi(tone[i].dark)
			if err != nil {
				t.Fatal(err)
			}
			l[i] = luminance(index) + 0.05
		}
		if contrast := max(l[0]/l[1], l[1]/l[0]); contrast < 4.5 {
			t.Errorf("level %d: contrast %.1f : 1", level, contrast)
		}
		if l[0] <= lightnessBefore {
			t.Errorf("level %d is not lighter than the level before", level)
		}
		lightnessBefore = l[0]
	}
}

// TestRedMeansFailure: of all styles only those of errors, of wrong data and of corrupt packets are red.
func TestRedMeansFailure(t *testing.T) {
	colours := map[Style]adaptiveColor{}
	for k, c := range baseColors() {
		colours[k] = c
	}
	for i, c := range worldColors() {
		colours[AtRest+Style(i)] = c
	}
	for i, c := range slotColors() {
		colours[SlotStyle(i)] = c
	}
	for i, c := range shadowColors() {
		colours[ShadowStyle(i)] = c
	}
	for i, c := range fillColors() {
		colours[FillStyle(i)] = c[0]
	}
	for k, c := range colours {
		mayBeRed := k == Bad || k == Corrupt
		for _, text := range []string{c.dark, c.light} {
			if index, err := strconv.Atoi(text); err != nil || isRed(index) != mayBeRed {
				t.Errorf("style %d: colour %s, red is allowed: %v", k, text, mayBeRed)
			}
		}
		isRed16 := c.dark16 == "1" || c.dark16 == "9" || c.light16 == "1" || c.light16 == "9"
		if isRed16 != mayBeRed {
			t.Errorf("style %d: colours %s and %s of 16", k, c.dark16, c.light16)
		}
	}
}

// isRed reports whether the hue of a colour of xterm's colour cube is within 15 degrees of red.
func isRed(index int) bool {
	if index < 16 || index >= 232 {
		return false
	}
	r, g, b := (index-16)/36, (index-16)/6%6, (index-16)%6
	return r > max(g, b) && 4*max(g-b, b-g) < r-min(g, b)
}
