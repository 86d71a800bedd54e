package frame

import "slices"

// Columns of a snapshot of cubes, in the order of the walk-off's records.
const (
	CubeLargest     = iota // index of the largest component of the quaternion, 0..3 for x, y, z, w
	CubeA                  // the other three components, in order, 9 bits each; 256 is zero
	CubeB                  //
	CubeC                  //
	CubeX                  // position in units of 1/512 m
	CubeY                  //
	CubeZ                  // height
	CubeInteracting        // 1 if the player touches the cube, directly or through other cubes
	CubeFields             // number of columns
)

// WalkoffCubes is the number of cubes in Fiedler's recordings: 900 and the player.
const WalkoffCubes = 901

// UnitsPerMetre is the resolution of the positions of cubes.
const UnitsPerMetre = 512

// Cubes returns the schema of snapshots of n cubes. Positions are within 256 m of the origin and up to
// 32 m high; orientations are in smallest-three form with 2+9+9+9 bits (Fiedler, "Snapshot
// Compression", 2015).
func Cubes(n int) *Schema {
	fields := cubeFields()
	return &Schema{Name: "cubes", Item: "cube", Rows: n, TickHz: 60, Fields: fields[:]}
}

// cubeFields returns the columns of a snapshot of cubes. Components of quaternions are from -1/sqrt(2)
// to 1/sqrt(2) in 511 steps, so that a step is sqrt(2)/511 = 1/361.33.
func cubeFields() [CubeFields]Field {
	const metre = 1.0 / UnitsPerMetre
	// component returns the column of one of the three smallest components of the quaternion.
	component := func(name string) Field { return Field{Name: name, Kind: Quantity, Max: 511, Scale: 1 / 361.33} }
	return [CubeFields]Field{
		{Name: "largest", Kind: Enum, Max: 3},
		component("a"), component("b"), component("c"),
		{Name: "x", Unit: "m", Kind: Quantity, Min: -1 << 17, Max: 1<<17 - 1, Scale: metre},
		{Name: "y", Unit: "m", Kind: Quantity, Min: -1 << 17, Max: 1<<17 - 1, Scale: metre},
		{Name: "z", Unit: "m", Kind: Quantity, Max: 1<<14 - 1, Scale: metre},
		{Name: "interacting", Kind: Flag, Max: 1},
	}
}

// IsCubes reports whether s is a schema of snapshots of cubes, of any number. It compares the name and
// the kinds and ranges of all fields, on which encoders of cubes rely. It allocates nothing.
func IsCubes(s *Schema) bool {
	fields := cubeFields()
	return s.Name == "cubes" && s.Rows > 0 && slices.EqualFunc(s.Fields, fields[:], func(a, b Field) bool {
		return a.Kind == b.Kind && a.Min == b.Min && a.Max == b.Max
	})
}
