// Package bits is the page "Bits": the bit budget of the active encoder and of shadows, as charts
// over time and as a table.
package bits
