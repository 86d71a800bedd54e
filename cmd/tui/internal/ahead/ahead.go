// Package ahead keeps bubbletea from asking the terminal for its background. Bubbletea asks
// before main begins, by an init of its own, waits five seconds for terminals that answer
// nothing, starts anew with every key that is pressed meanwhile, and loses the keys. Package
// ui asks instead, and waits for nobody.
//
// Packages that are ready are initialised in the order of their import paths, and what has
// been set explicitly is not asked for. So this one has a module, and with it a path, that
// comes before github.com. It can go with bubbletea v2, which has no such init.
package ahead

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
