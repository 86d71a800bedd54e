// Package command is the command line of the dashboard: the verbs, how their
// arguments are read, what completes them, and the line in which they are typed.
//
// A typed line becomes an Order: mostly the same experiment.Command that a key
// makes.
package command
