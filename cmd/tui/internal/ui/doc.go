// Package ui implements the shell of all screens of the program, and the dashboard of the lab.
//
// Shell is the only tea.Model. It routes keys, mouse events and ticks, and draws header, footer,
// command line, help, overlays and notices around the open page. The content is a Screen with one
// or more pages: the dashboard in this package, or the screen of a proxy or a sweep, which have
// packages of their own.
//
// Twenty times per second the dashboard loads the newest snapshot of the lab, an atomic pointer.
// Each pane of the open page observes the snapshot and reports whether it must be drawn again.
// Only those panes are drawn; the lines of the others are cached. So neither the screen nor the
// engine waits for the other, and the cost of a redraw depends on what changed.
//
// Pages are packages under pages and depend only on package room. Package session controls the
// lab. Keys, typed commands and clicks all result in a command.Order.
//
// Package repaint writes to the terminal and sends only the cells that changed. outputBudget
// limits the rate of redraws of panes that change all the time.
package ui
