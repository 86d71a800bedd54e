// Package compressor replaces a package that Bubble Tea imports, by a line in the root's go.mod. It
// prevents Bubble Tea from querying the background colour of the terminal. An init function of
// Bubble Tea sends this query before main starts. It waits five seconds for terminals that do not
// answer, starts again with every key pressed meanwhile, and loses these keys. Package ui sends the
// query instead and does not wait.
//
// Lip Gloss does not query a background that is set explicitly. No package of module wirelab can set
// it in time: Go initialises packages whose imports are initialised in the order of their paths, and
// github.com precedes wirelab. An import of Bubble Tea is always initialised before it.
//
// Modules that require wirelab ignore the replacement and use the original package. They build, but a
// program tui that they build sends the query twice. Bubble Tea v2 has no such init function and makes
// this package unnecessary.
package compressor

import (
	"io"

	"github.com/charmbracelet/lipgloss"
)

func init() { lipgloss.SetHasDarkBackground(true) }

// Writer writes to Forward. Bubble Tea uses it only with the option WithANSICompressor, which
// Wirelab does not set. The original removes redundant escape sequences.
type Writer struct{ Forward io.Writer }

func (w *Writer) Write(b []byte) (int, error) { return w.Forward.Write(b) }
