// Package topview projects cubes from above onto a raster of dots. The outline of a tilted cube has
// four or six sides. Higher cubes cover lower ones.
//
// The package is independent of colours and terminals: the result is the index of the visible cube
// at each dot.
package topview
