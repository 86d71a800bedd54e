// Package sweepview is the screen of tui sweep --watch: a heat map of the grid, which is updated as results
// arrive, a ranking of the points, and the selected point with its figures, its seeds, and charts along the map's
// axes. Any point can be the reference of the comparisons, and can be opened as a live session.
//
// It polls a sweep.Watch and does not affect the sweep. Quitting ends the sweep; completed runs are
// saved as after any interruption.
package sweepview
