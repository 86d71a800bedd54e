package kinetic

import (
	_ "embed"
	"sync"
)

// Trained models, see README.md.
var (
	//go:embed lite.place.net
	litePlace []byte
	//go:embed lite.pose.net
	litePose []byte
	//go:embed lite.tables
	liteTables []byte
	//go:embed kinetic.place.net
	kineticPlace []byte
	//go:embed kinetic.pose.net
	kineticPose []byte
	//go:embed kinetic.tables
	kineticTables []byte
)

// The models are read when they are first asked for, and shared by all ends.
var (
	liteModel    = sync.OnceValues(func() (*model, error) { return readModel(litePlace, litePose, liteTables) })
	kineticModel = sync.OnceValues(func() (*model, error) { return readModel(kineticPlace, kineticPose, kineticTables) })
)
