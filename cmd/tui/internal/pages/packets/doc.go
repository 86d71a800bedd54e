// Package packets is the page "Packets": the packets of the last seconds in a list, the details of one,
// and a box with the latest problems.
package packets
