// Package packets is page 3: the packets of the last seconds as rows, one of them
// opened, and the list of what went wrong.
package packets
