// Package live is page 1, "Live": charts, packets, controls, figures, changes and the bit budget of the
// running session.
package live
