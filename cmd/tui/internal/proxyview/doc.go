// Package proxyview is the screen of tui proxy: what goes through both ways, what is lost and
// by what, the clients, whether the links do what was asked of them, and the controls that
// change them while a game runs.
//
// It polls a relay's snapshot; nothing that it does, not even when the display is stopped,
// holds up a datagram for longer than it takes to copy a snapshot.
package proxyview
