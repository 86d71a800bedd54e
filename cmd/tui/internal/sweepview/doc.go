// Package sweepview is the screen of tui sweep --watch: the grid as a map that fills up as
// results come in, and the point under the cursor with its figures, its seeds, and how the
// figure goes along the row and the column through it.
//
// It polls a sweep.Watch and does nothing to the sweep: whoever leaves ends it, and what
// was measured is kept as after any other interruption.
package sweepview
