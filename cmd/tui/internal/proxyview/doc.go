// Package proxyview is the dashboard of tui proxy: traffic in both directions, losses by cause,
// the clients, the set and the measured values of the links, and the controls that change the
// links while a game runs.
//
// The dashboard polls snapshots of a relay. It delays datagrams only for the time that it takes
// to copy a snapshot, also while the display is stopped.
package proxyview
