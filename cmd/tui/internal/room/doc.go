// Package room defines what a page of the program is. A Page is a name and a layout of panes. A
// Pane has a name and draws itself; it observes a View of the lab on every tick, and returns a
// Request for what it cannot do itself.
//
// A pane implements the interfaces in panemethods.go that apply to it, such as Mover for the arrow
// keys and Timed for charts over time. The page calls these methods for keys, the wheel and clicks.
package room
