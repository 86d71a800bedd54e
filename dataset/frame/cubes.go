package frame

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
	const metre = 1.0 / UnitsPerMetre
	small := func(name string) Field { return Field{Name: name, Kind: Quantity, Max: 511, Scale: 1 / 361.33} }
	return &Schema{
		Name: "cubes", Item: "cube", Rows: n, TickHz: 60,
		Fields: []Field{
			{Name: "largest", Kind: Enum, Max: 3},
			small("a"), small("b"), small("c"),
			{Name: "x", Unit: "m", Kind: Quantity, Min: -1 << 17, Max: 1<<17 - 1, Scale: metre},
			{Name: "y", Unit: "m", Kind: Quantity, Min: -1 << 17, Max: 1<<17 - 1, Scale: metre},
			{Name: "z", Unit: "m", Kind: Quantity, Max: 1<<14 - 1, Scale: metre},
			{Name: "interacting", Kind: Flag, Max: 1},
		},
	}
}

// IsCubes reports whether s is a cube snapshot, of any number of cubes.
func IsCubes(s *Schema) bool { return s.Name == "cubes" && len(s.Fields) == CubeFields && s.Rows > 0 }
