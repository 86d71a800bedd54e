// Package repaint filters the output of bubbletea so that only changed cells are sent to the terminal.
//
// Bubbletea rewrites a line if any cell in it changed. A screen with moving charts then needs hundreds
// of kilobytes per second, which is too much for a terminal over a slow connection. The writer stores
// the content of each line of the screen, compares it cell by cell with the new line, and writes the
// difference: from left to right, or style by style, whichever is shorter.
//
// Frames are sent as synchronized output, so that a terminal with this mode never shows half of a frame.
//
// The writer recognizes only frames of bubbletea's renderer on the alternate screen, each of which is
// one Write. Other output passes unchanged, and so do complete frames, as after a resize, because the
// content of the terminal is then unknown.
package repaint
