// Package measure computes statistics of captures, tests link models and fits links to captures.
//
//   - Stats are the statistics of a capture: losses and their runs, delays, reordering (RFC 4737
//     and RFC 5236), duplicates.
//   - Trace sends traffic over a modelled link and returns the capture.
//   - Test compares each stage of a link with its closed form and reports the standard error of
//     each figure.
//   - Fit estimates the settings of a link from a capture, with confidence intervals and the
//     goodness of fit.
//   - Picture and Show draw a capture as text.
//
// All randomness comes from seeds that the caller passes. The package does not read a clock.
package measure
