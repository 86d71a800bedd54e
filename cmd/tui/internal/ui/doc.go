// Package ui is the root of the dashboard: what a person sees of a running
// experiment, and the keys with which they change it.
//
// One Model is the root and the only tea.Model. Twenty times a second its own
// tick takes the newest snapshot from the lab, which is an atomic load. Every pane
// of the page on screen observes it and decides whether its picture would be
// another; those that say so are drawn anew and kept as lines; View returns the
// lines put together. So the screen never waits for the engine nor the engine for
// the screen, and a redraw costs what has changed.
//
// The model routes and nothing else. Pages are packages under pages and know only
// package room; package session drives the lab; keys, typed commands and clicks
// all end as the same experiment.Command.
//
// What goes to the terminal passes through package repaint, which sends only the
// cells that changed. A picture that moves all the time waits until the terminal
// can take it: see outputBudget.
package ui
