// Package world is page 4: the world at both ends, how the receiver's display
// fares, and the keys that play it.
package world
