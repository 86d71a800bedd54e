// Package room defines what a page of the program is: a Page consists of panes in
// slots, observes a View of the lab on every tick, and returns a Request for what it
// cannot do itself.
//
// A new page needs this package and package look. Page is its only obligation; optional
// interfaces such as Mover and Zoomer add keys.
package room
