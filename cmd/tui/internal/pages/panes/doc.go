// Package panes holds what several pages show: the charts over time, the line of
// vital numbers, the list of changes and what they did, the account of bits, and
// the lines and legends of shadows and of failures.
package panes
