// Package bits is page 2: what the bits were spent on, over time and in figures.
package bits
