// Package topview draws cubes as they look from straight above, on a raster of
// dots. A cube that is turned is no square from there: it is the outline of a
// box that leans, with four or six sides. Whatever is higher covers what is
// lower.
//
// The package knows neither colours nor terminals: it says which cube is seen at
// which dot, and whoever draws the screen makes signs of that.
package topview
