// Package worldview draws the world of cubes from above onto a canvas: the camera, the raster of
// dots per cell, and the styles of cubes. Its input is the poses of cubes; it is independent of pages
// and snapshots.
package worldview
