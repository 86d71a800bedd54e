// Package live runs an experiment at the pace of the wall clock, for the dashboard. A Runner owns the goroutine of the
// experiment, a session or a crowd. It has one queue of commands, and publishes one immutable snapshot.
package live
