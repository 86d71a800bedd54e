// Package ui is the dashboard: what a person sees of a running experiment, and
// the keys with which they change it.
//
// One Model is the root and the only tea.Model. Twenty times a second its own
// tick takes the newest snapshot from the Lab, an atomic load; every pane
// observes it and decides whether its picture would be another; those that say
// so are drawn anew, onto a canvas of cells that cannot overflow, and kept as
// lines; View returns the lines put together. So the screen never waits for the
// engine nor the engine for the screen, and a redraw costs what has changed.
//
// Keys, typed commands and clicks all end as the same experiment.Command. What
// was asked for is shown at once, before the engine has answered (see desired).
//
// What goes to the terminal passes through package repaint, which sends only the
// cells that changed; a picture that moves all the time waits until the terminal
// can take it (see thrift).
//
// A page is one file (page_*.go), a pane is one file (pane_*.go): state, observe,
// draw. All keys are in keys.go, all colours in styles.go, all shapes in
// glyphs.go; every size is passed in.
package ui
