// Package measure looks at links and captures from outside: what did the network
// do, is it what the model promises, and which model would do the same?
//
//   - Of puts figures to a capture: losses and their runs, delays, reordering by
//     RFC 4737 and RFC 5236, duplicates.
//   - Trace sends traffic over a link and returns the capture.
//   - Test compares a link's stages with their closed forms, with the standard
//     error of each figure, so that a doubt can be settled.
//   - Fit goes the other way: from a capture to the settings of a link that would
//     have made it, with intervals and the goodness of the fit.
//   - Picture and Show draw all that as text.
//
// Nothing here is random but by a seed that the caller gives, and nothing reads a
// clock.
package measure
