// Package protocol is what is known of Teeworlds' snapshots, version 0.7: the types of items and
// their values, how they become rows of a table, how the game writes what changed, and its
// Huffman code. Readers of demos and an encoder that does as the game did share it.
package protocol
