package frame

import "slices"

// Columns of a cube snapshot, in the order of the walk-off's records.
const (
	CubeLargest     = iota // index of the largest quaternion component, 0..3
	CubeA                  // the smallest three, 9 bits each, 256 = zero
	CubeB                  //
	CubeC                  //
	CubeX                  // position, 512 units per metre
	CubeY                  //
	CubeZ                  // z is up
	CubeInteracting        // 1 while touched by the player, directly or through others
	CubeFields             // how many columns there are
)

// WalkoffCubes is the number of cubes in Fiedler's recordings: 900 and the player.
const WalkoffCubes = 901

// UnitsPerMetre is the resolution of cube positions.
const UnitsPerMetre = 512

// Cubes returns the schema of a snapshot of n cubes: positions within 256 m of
// the origin and up to 32 m high, orientations as smallest three with 2+9+9+9
// bits (Fiedler, "Snapshot Compression", 2015).
func Cubes(n int) *Schema {
	fields := cubeFields()
	return &Schema{Name: "cubes", Item: "cube", Rows: n, TickHz: 60, Fields: fields[:]}
}

func cubeFields() [CubeFields]Field {
	const metre = 1.0 / UnitsPerMetre
	small := func(name string) Field { return Field{Name: name, Kind: Quantity, Max: 511, Scale: 1 / 361.33} }
	return [CubeFields]Field{
		{Name: "largest", Kind: Enum, Max: 3},
		small("a"), small("b"), small("c"),
		{Name: "x", Unit: "m", Kind: Quantity, Min: -1 << 17, Max: 1<<17 - 1, Scale: metre},
		{Name: "y", Unit: "m", Kind: Quantity, Min: -1 << 17, Max: 1<<17 - 1, Scale: metre},
		{Name: "z", Unit: "m", Kind: Quantity, Max: 1<<14 - 1, Scale: metre},
		{Name: "interacting", Kind: Flag, Max: 1},
	}
}

// IsCubes reports whether s is a cube snapshot, of any number of cubes. The kinds
// and ranges count, not just the name: encoders of cubes take their bit widths
// from them. It allocates nothing.
func IsCubes(s *Schema) bool {
	fields := cubeFields()
	return s.Name == "cubes" && s.Rows > 0 && slices.EqualFunc(s.Fields, fields[:], func(a, b Field) bool {
		return a.Kind == b.Kind && a.Min == b.Min && a.Max == b.Max
	})
}
