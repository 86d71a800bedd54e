// Package chart draws lines over time into a box of fixed size.
//
// The line itself is asciigraph's; everything around it is here, because
// asciigraph panics on empty data and on infinities, lets its output grow and
// shrink with the data, and loses spikes when it squeezes many values into few
// columns. So the values are first gathered into as many buckets as the box has
// columns (the mean for rates, the maximum for failures), the bounds are fixed
// to round numbers, and only then a line is plotted, one series at a time, into
// a grid that also holds the axes, the guide lines and the marks.
//
// Whatever the data, Draw returns exactly the box it was asked for.
package chart
