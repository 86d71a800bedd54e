// Package room is what a page of the dashboard is: a Page is made of panes in
// slots, sees a View of the lab on every tick, and returns a Request for what it
// cannot do itself.
//
// Whoever writes a page needs this package and package look. A page embeds Base
// and implements what it does otherwise.
package room
