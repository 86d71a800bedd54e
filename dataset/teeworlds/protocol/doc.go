// Package protocol describes the snapshots of Teeworlds 0.7: the types of items with their values,
// the layout of items in the rows of a table, the delta between two snapshots, and the integers and
// the Huffman code in which the game writes them (src/engine/shared: snapshot.cpp, compression.cpp,
// huffman.cpp; item types: datasrc/network.py). The reader of demos and the encoder "teeworlds"
// share it.
package protocol
