// Package ahead prevents Bubble Tea from querying the background colour of the terminal. An init
// function of Bubble Tea sends this query before main starts. It waits five seconds for terminals
// that do not answer, starts again with every key pressed meanwhile, and loses these keys. Package
// ui sends the query instead and does not wait.
//
// Lip Gloss does not query a background that is set explicitly, so the init function of this
// package sets one. Go initialises packages without pending dependencies in the order of their
// import paths. This package is therefore a module of its own, with a path that sorts before
// github.com. Bubble Tea v2 has no such init function and makes this package unnecessary.
package ahead

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
