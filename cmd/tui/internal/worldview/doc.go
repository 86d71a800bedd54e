// Package worldview draws a world from above: things with a position, seen by the sender and by the receiver,
// through a camera that both views share. The outlines of cubes are drawn with dots, other things as letters.
package worldview
