// Package chart draws time series into a box of fixed size.
//
// Lines are drawn by asciigraph. It panics on empty data and infinities, its output grows and shrinks
// with the data, and it loses spikes when many values share a column. Therefore the values are first
// reduced to as many columns as the box has (the mean for rates, the maximum for failures), and the
// bounds are set to round numbers. Then each series is plotted into a grid with the axes, rules and
// marks.
//
// Draw returns a box of exactly the requested size for any data.
package chart
