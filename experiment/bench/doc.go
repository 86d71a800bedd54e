// Package bench measures the time of encoders, and of the whole engine with each of them. Times on
// different machines cannot be compared. So each time is also divided by that of a fixed
// reference loop, measured just before and after; these ratios are nearly the same everywhere.
package bench
