package kinetic

import (
	"encoding/binary"
	"errors"
	"fmt"

	"wirelab/encoders/nn"
)

// model is a trained model: two nets and the weights of decisions. It is immutable and shared by
// all coders.
type model struct {
	positionNet, orientationNet *nn.Net
	slopes                      [numSlopes]int16 // factors of logits, in units of 1/slopeUnit
	weights                     []int16          // in units of 1/nat; the context tables are ranges of it
	quietSums                   quietSums        // sums of weights, precomputed for quiet cubes
	tables
}

// The indices of slopes. The first are those of decisions about values, one for each coordinate and
// kind of decision. Flags have no mixture to scale; their slopes exist, but scale a logit of 0.
const (
	flagSlope = numCoordinates*numDecisions + iota
	interactSlope
	largestSlope
	numSlopes
)

// tables are the context tables of all decisions.
type tables struct {
	value    valueTables
	flag     flagTables
	interact interactTables
	largest  largestTables
}

// adaptiveSize is the number of adaptive weights: the sizes of the adaptive tables in layOutTables.
const adaptiveSize = numCoordinates*numDecisions + numHistoryClasses*numForecastClasses + numMoveHistories +
	4*numInteractAges + 16*numNearClasses + 16

// layOutTables allocates all context tables and returns them with the number of trained weights.
// The order is that of the weights in a model file. A size is the product of the numbers of classes
// that form a context: 2 for a flag, 4 for two flags or for a short time at rest, 8 for three flags, 16 for the
// margin between the largest components, 17 for this margin and one more row. flags.go has the indices.
func layOutTables() (t tables, size int) {
	var trained, adaptive tableLayout
	t.value.scale = trained.allocate(numCoordinates * numDecisions * numScaleClasses)
	t.value.residual = trained.allocate(numCoordinates * numDecisions * numResidualClasses)
	t.value.logit = trained.allocate(numCoordinates * numDecisions * numLogitClasses)
	t.value.adaptive = adaptive.allocate(numCoordinates * numDecisions)
	t.flag.forecastMove = trained.allocate(numHistoryClasses * numForecastClasses * numNearClasses)
	t.flag.distances = trained.allocate(numHistoryClasses * numNearClasses * numPlayerClasses)
	t.flag.size = trained.allocate(numSizeClasses * numNearClasses * 2)
	t.flag.recentMoves = trained.allocate(numMoveHistories * numHistoryClasses)
	t.flag.contacts = trained.allocate(numForecastClasses * 8 * 4)
	t.flag.player = trained.allocate(numSizeClasses * numPlayerClasses * 4)
	t.flag.adaptMove = adaptive.allocate(numHistoryClasses * numForecastClasses)
	t.flag.adaptRecentMoves = adaptive.allocate(numMoveHistories)
	t.interact.age = trained.allocate(4 * numInteractAges * 2)
	t.interact.push = trained.allocate(8 * numPushClasses * 4)
	t.interact.player = trained.allocate(8 * numPlayerClasses)
	t.interact.near = trained.allocate(16 * numNearClasses)
	t.interact.neighbour = trained.allocate(32 * 8)
	t.interact.adaptAge = adaptive.allocate(4 * numInteractAges)
	t.interact.adaptNear = adaptive.allocate(16 * numNearClasses)
	t.largest.margin = trained.allocate(16 * 2)
	t.largest.size = trained.allocate(16 * numSizeClasses)
	t.largest.err = trained.allocate(17 * numResidualClasses)
	t.largest.ratio = trained.allocate(numRatioClasses * 2)
	t.largest.second = trained.allocate(16 + 1)
	t.largest.adapt = adaptive.allocate(16)
	if adaptive.size != adaptiveSize {
		panic("kinetic: adaptiveSize is not the sum of the tables")
	}
	return t, trained.size
}

// A weights file is little-endian: the magic, the slopes and then the weights as int16. A run of n
// zeros, which may begin in the slopes and end in the weights, is one zero and n as uint16.
const tableMagic = "wkt1"

// errModel marks a model that does not fit this version of the encoder.
var errModel = errors.New("not a model of this version")

// appendTables appends the weights file of m to dst: tableMagic, the slopes and the weights, 16 bits each. A
// zero is followed by the number of zeros in its run (16 bits), which are written once.
func appendTables(dst []byte, m *model) []byte {
	dst = append(dst, tableMagic...)
	numbers := append(m.slopes[:len(m.slopes):len(m.slopes)], m.weights...) // the capacity makes append copy the slopes
	for i := 0; i < len(numbers); i++ {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(numbers[i]))
		if numbers[i] == 0 {
			run := 1
			for i+run < len(numbers) && numbers[i+run] == 0 && run < 1<<16-1 {
				run++
			}
			dst = binary.LittleEndian.AppendUint16(dst, uint16(run))
			i += run - 1
		}
	}
	return dst
}

// readTables sets the tables, slopes and weights of m from a file that appendTables wrote: 16-bit numbers, where a
// zero is followed by the number of zeros in its run.
func readTables(m *model, file []byte) error {
	var size int
	m.tables, size = layOutTables()
	if len(file) < len(tableMagic) || string(file[:len(tableMagic)]) != tableMagic || len(file)%2 != 0 {
		return fmt.Errorf("%w: file of %d bytes, expected an even number and %q at the start", errModel, len(file),
			tableMagic)
	}
	numbers := make([]int16, 0, numSlopes+size)
	for offset := len(tableMagic); offset < len(file); offset += 2 {
		v, run := int16(binary.LittleEndian.Uint16(file[offset:])), 1
		if v == 0 && offset+2 < len(file) { // the length of the run follows
			offset += 2
			run = int(binary.LittleEndian.Uint16(file[offset:]))
		}
		if len(numbers)+run > cap(numbers) {
			return fmt.Errorf("%w: more than %d slopes and weights, the expected number", errModel, cap(numbers))
		}
		for range run {
			numbers = append(numbers, v)
		}
	}
	if len(numbers) != cap(numbers) {
		return fmt.Errorf("%w: %d slopes and weights, expected %d", errModel, len(numbers), cap(numbers))
	}
	copy(m.slopes[:], numbers)
	m.weights = numbers[numSlopes:]
	m.computeQuietSums()
	return nil
}

// untrainedModel returns a model with slopes of 1 and weights of 0: the probabilities of the nets
// are used unchanged. Training starts from it.
func untrainedModel() *model {
	m := &model{}
	var size int
	m.tables, size = layOutTables()
	m.weights = make([]int16, size)
	for i := range m.slopes {
		m.slopes[i] = slopeUnit
	}
	return m
}

// readModel reads a model from its three files: the net of positions, the net of orientations and
// the weights of decisions.
func readModel(position, orientation, tables []byte) (*model, error) {
	m := &model{}
	var err error
	if m.positionNet, err = nn.Read(position); err != nil {
		return nil, fmt.Errorf("position net: %w", err)
	}
	if m.orientationNet, err = nn.Read(orientation); err != nil {
		return nil, fmt.Errorf("orientation net: %w", err)
	}
	if err := readTables(m, tables); err != nil {
		return nil, err
	}
	if m.positionNet.Out() != netOutputs || m.orientationNet.Out() != netOutputs ||
		m.orientationNet.In() != m.positionNet.In()+residualFeatures {
		return nil, fmt.Errorf("%w: position net with %d inputs and %d outputs, orientation net with %d and %d, expected %d outputs and "+
			"%d more inputs of the orientation net", errModel, m.positionNet.In(), m.positionNet.Out(),
			m.orientationNet.In(), m.orientationNet.Out(), netOutputs, residualFeatures)
	}
	return m, nil
}
