// Package world is the page "World" of sessions with cubes: the world at both endpoints, the receiver's
// display, and the keys of the player.
package world
