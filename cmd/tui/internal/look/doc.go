// Package look is how the dashboard looks: a canvas of cells that cannot overflow,
// inks that are named by what they mean, the themes that say which colour an ink
// has, and the shapes that carry what colour carries.
//
// Nothing else in the dashboard knows a colour. Every size is passed in.
package look
