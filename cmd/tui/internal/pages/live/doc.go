// Package live is page 1: charts, packets, controls, numbers and the account of
// bits of the running session.
package live
