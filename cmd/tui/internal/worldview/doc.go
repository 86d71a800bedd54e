// Package worldview draws the world of cubes from above onto a canvas: the camera,
// the raster of dots in each cell, and how a cube looks. It knows no page and no
// snapshot but the poses of cubes.
package worldview
