package ui

import (
	"fmt"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
)

// TestGoldenSizes compares pages 2 and 4 at four sizes with golden files, for cubes and for calls
// with more fields than a small screen has rows.
func TestGoldenSizes(t *testing.T) {
	for _, c := range []struct {
		name, page string
		lab        func() room.Lab
	}{
		{"bits-wide", "2", func() room.Lab { return labtest.NewWide() }},
		{"shown", "4", func() room.Lab { return labtest.NewShown() }},
		{"world-age", "4", func() room.Lab { return newWorld() }},
	} {
		for _, size := range [][2]int{{80, 24}, {100, 30}, {160, 48}, {200, 60}} {
			name := fmt.Sprintf("%s-%dx%d", c.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				m := screen(c.lab(), size[0], size[1], Options{})
				press(m, c.page)
				compareGolden(t, name, m.View())
			})
		}
	}
}
