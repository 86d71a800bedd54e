// Package ui is the shell of every screen of the program, and the dashboard of a lab.
//
// A Shell is the only tea.Model. It routes keys, the mouse and ticks, draws header, footer,
// command line, help, boxes and notices around the open page, and runs the program. What it shows
// is a Screen with one page or several: the dashboard here, a proxy or a sweep in packages of
// their own.
//
// Twenty times a second the dashboard takes the newest snapshot from the lab, which is an atomic
// load. Every pane of the page on screen observes it and reports whether its picture changes;
// those that do are drawn again and kept as lines; View returns the lines put together. So the
// screen never waits for the engine nor the engine for the screen, and a redraw costs what has
// changed.
//
// Pages are packages under pages and know only package room; package session drives the lab;
// keys, typed commands and clicks all end as the same command.Order.
//
// What goes to the terminal passes through package repaint, which sends only the
// cells that changed. A picture that moves all the time waits until the terminal
// can take it: see outputBudget.
package ui
