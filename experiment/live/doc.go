// Package live runs an experiment at the pace of the wall clock, for the dashboard. A Runner owns the
// goroutine of the experiment, a session or a crowd. It has one queue of commands, and publishes one
// immutable snapshot. Looking back is replay: a second run repeats the experiment up to an earlier time
// or packet, beside the one that goes on.
//
// runner.go has the loop and the commands, session.go and crowd.go what is run, pace.go virtual time,
// past.go looks back, save.go reports, patch.go patches, and trace.go what the user requested to see of
// packets and rows.
package live
