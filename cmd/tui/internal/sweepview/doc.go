// Package sweepview is the dashboard of tui sweep --watch: a map of the grid, which is updated as results
// arrive, and the selected point with its figures, its seeds, and charts along the map's axes.
//
// It polls a sweep.Watch and does not affect the sweep. Quitting ends the sweep; completed runs are
// saved as after any interruption.
package sweepview
