//go:build !amd64 || purego

package nn

// Without vector instructions, Net.Run uses the code in nn.go.
type (
	vectorNet     struct{}
	vectorScratch struct{}
)

func newVectorNet([]layer) vectorNet { return vectorNet{} }

func (vectorNet) run(_, _ []int32, _ *vectorScratch) bool { return false }
