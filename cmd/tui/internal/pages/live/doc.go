// Package live is the page "Live": charts, packets, controls, figures, changes and the bit budget of the
// running session.
package live
