package ui

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"wirelab/experiment/engine"
)

// blockLook is how the blocks of a file are shown in each state.
func blockLook(th *theme, s engine.BlockState) (ink, rune) {
	signs, inks := []rune("·○◐●◉"), [...]ink{inkFaint, inkDim, inkLate, inkGood, inkMark}
	if th.ascii {
		signs = []rune(".-+o@")
	}
	if int(s) >= len(inks) {
		return inkPlain, ' '
	}
	return inks[s], signs[s]
}

// blockWords say what the states are, in their order.
func blockWords() []string {
	return []string{"not sent", "under way", "sent again", "there", "there after a resend"}
}

// likeness is how much alike two parts are, by the score of a matrix: a sign that
// grows with it, from nothing.
func likeness(th *theme, score uint8) (ink, rune) {
	bounds, signs := [...]uint8{24, 72, 140, 200}, []rune(" ·░▒▓")
	if th.ascii {
		signs = []rune(" .:+*")
	}
	n := 0
	for n < len(bounds) && score >= bounds[n] {
		n++
	}
	return [...]ink{inkPlain, inkFaint, inkDim, inkPlain, inkTitle}[n], signs[n]
}

// kilos writes a number of bytes as people read it.
func kilos(n float64) string {
	switch {
	case n >= 1e7:
		return fixed(n/1e6, 1) + " MB"
	case n >= 1e6:
		return fixed(n/1e6, 2) + " MB"
	case n >= 1e5:
		return fixed(n/1e3, 0) + " KB"
	case n >= 1e3:
		return fixed(n/1e3, 1) + " KB"
	}
	return fixed(n, 0) + " B"
}

// howLong writes a time that a transfer takes.
func howLong(s float64) string {
	switch d := time.Duration(s * float64(time.Second)); {
	case d >= time.Hour:
		return fixed(d.Hours(), 1) + " h"
	case d >= 2*time.Minute:
		return strconv.Itoa(int(d.Minutes())) + ":" + strconv.Itoa(int(d.Seconds())%60 + 100)[1:] + " min"
	case d >= 10*time.Second:
		return fixed(s, 1) + " s"
	}
	return fixed(s, 2) + " s"
}

// shortSource names the data, files without the folders that they are in.
func shortSource(spec string) string {
	names, ok := strings.CutPrefix(spec, "files:")
	if !ok {
		return spec
	}
	parts := strings.Split(names, ",")
	for i, p := range parts {
		parts[i] = filepath.Base(strings.TrimSpace(p))
	}
	return "files:" + strings.Join(parts, ",")
}
