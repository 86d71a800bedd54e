// Package repaint stands between bubbletea and the terminal and sends only the
// cells that changed.
//
// Bubbletea writes a line anew when anything in it changed, be it one cell of
// two hundred. A picture that moves all the time makes hundreds of kilobytes a
// second of that, which a terminal over a thin line cannot take. The writer here
// remembers what each line of the screen holds, compares it cell by cell with
// what is to be written, and writes the difference.
//
// It understands exactly one thing: a frame of bubbletea's renderer on the
// alternate screen, which comes as one Write. All else passes through untouched,
// and so does every frame in which no line was left out, as after a resize: the
// terminal may hold anything then, and what is remembered of it no longer counts.
package repaint
