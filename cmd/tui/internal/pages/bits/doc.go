// Package bits is page 2, "Bits": the bit budget of the active encoder and of one shadow, as charts
// over time and as a table.
package bits
