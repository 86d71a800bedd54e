// Package look defines the appearance of the dashboard: a canvas of cells that cannot overflow,
// text styles that are named by their meaning, themes that map styles to colours, and symbols
// that distinguish the same things without colour.
//
// No other package of the dashboard uses colours directly. All sizes are parameters.
package look
