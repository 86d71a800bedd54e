package kinetic

import (
	"encoding/binary"
	"errors"
	"fmt"

	"wirelab/encoders/nn"
)

// model is what was trained: two nets and the weights of decisions. It is immutable, and
// shared by all coders.
type model struct {
	place, pose *nn.Net // of positions and of orientations
	slopes      [slopes]int16
	weights     []int16
	quiet       quietWeights // sums of them
	// tables are the context tables of all decisions.
	tables
}

// Slopes: one for each decision about a value. Flags have no mixture to scale.
const (
	flagSlope = coordinates*decisions + iota
	interactSlope
	largestSlope
	slopes
)

// tables hold the places of the contexts of all decisions.
type tables struct {
	value    valueTables
	flag     flagTables
	interact interactTables
	largest  largestTables
}

// adaptiveSize is the number of adaptive weights.
const adaptiveSize = coordinates*decisions + histories*forecastMoves + runs + 4*interactAges + 16*nearClasses + 16

// layOut allocates all context tables and returns the number of trained weights.
func layOut() (t tables, size int) {
	var w, l tableLayout
	t.value.width = w.take(coordinates * decisions * widths)
	t.value.err = w.take(coordinates * decisions * misses)
	t.value.bend = w.take(coordinates * decisions * bends)
	t.value.adapt = l.take(coordinates * decisions)
	t.flag.forecastMove = w.take(histories * forecastMoves * nearClasses)
	t.flag.place = w.take(histories * nearClasses * players)
	t.flag.size = w.take(sizes * nearClasses * 2)
	t.flag.run = w.take(runs * histories)
	t.flag.touch = w.take(forecastMoves * 8 * 4)
	t.flag.player = w.take(sizes * players * 4)
	t.flag.adaptMove = l.take(histories * forecastMoves)
	t.flag.adaptRun = l.take(runs)
	t.interact.age = w.take(4 * interactAges * 2)
	t.interact.blow = w.take(8 * interactBlows * 4)
	t.interact.player = w.take(8 * players)
	t.interact.near = w.take(16 * nearClasses)
	t.interact.neighbour = w.take(32 * 8)
	t.interact.adaptAge = l.take(4 * interactAges)
	t.interact.adaptNear = l.take(16 * nearClasses)
	t.largest.margin = w.take(16 * 2)
	t.largest.size = w.take(16 * sizes)
	t.largest.err = w.take(17 * misses)
	t.largest.ratio = w.take(ratios * 2)
	t.largest.second = w.take(16 + 1)
	t.largest.adapt = l.take(16)
	if l.size != adaptiveSize {
		panic("kinetic: adaptiveSize is not the sum of the tables")
	}
	return t, w.size
}

// A file of weights, little-endian: the magic; the slopes and then the weights
// as int16, of which a run of n zeros is a zero and n as uint16.
const tableMagic = "wkt1"

var errModel = errors.New("not a model of this version")

// appendTables appends the file of slopes and weights to dst.
func appendTables(dst []byte, m *model) []byte {
	dst = append(dst, tableMagic...)
	all := append(m.slopes[:len(m.slopes):len(m.slopes)], m.weights...)
	for i := 0; i < len(all); i++ {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(all[i]))
		if all[i] == 0 {
			run := 1
			for i+run < len(all) && all[i+run] == 0 && run < 1<<16-1 {
				run++
			}
			dst = binary.LittleEndian.AppendUint16(dst, uint16(run))
			i += run - 1
		}
	}
	return dst
}

// readTables reads what appendTables wrote into m.
func readTables(m *model, file []byte) error {
	var size int
	m.tables, size = layOut()
	if len(file) < len(tableMagic) || string(file[:len(tableMagic)]) != tableMagic || len(file)%2 != 0 {
		return fmt.Errorf("%w: a file of %d bytes without %q", errModel, len(file), tableMagic)
	}
	all := make([]int16, 0, slopes+size)
	for at := len(tableMagic); at < len(file); at += 2 {
		v, run := int16(binary.LittleEndian.Uint16(file[at:])), 1
		if v == 0 && at+2 < len(file) {
			at += 2
			run = int(binary.LittleEndian.Uint16(file[at:]))
		}
		if len(all)+run > cap(all) {
			return fmt.Errorf("%w: more than %d weights", errModel, cap(all))
		}
		for range run {
			all = append(all, v)
		}
	}
	if len(all) != cap(all) {
		return fmt.Errorf("%w: %d weights, expected %d", errModel, len(all), cap(all))
	}
	copy(m.slopes[:], all)
	m.weights = all[slopes:]
	m.sumQuiet()
	return nil
}

// untrainedModel returns a model without weights: it takes the nets' probabilities as
// they are.
func untrainedModel() *model {
	m := &model{}
	var size int
	m.tables, size = layOut()
	m.weights = make([]int16, size)
	for i := range m.slopes {
		m.slopes[i] = slopeUnit
	}
	return m
}

// readModel reads a model from its three files.
func readModel(place, pose, tables []byte) (*model, error) {
	m := &model{}
	var err error
	if m.place, err = nn.Read(place); err != nil {
		return nil, fmt.Errorf("net of positions: %w", err)
	}
	if m.pose, err = nn.Read(pose); err != nil {
		return nil, fmt.Errorf("net of orientations: %w", err)
	}
	if err := readTables(m, tables); err != nil {
		return nil, err
	}
	if m.place.Out() != netOutputs || m.pose.Out() != netOutputs || m.pose.In() != m.place.In()+missFeatures {
		return nil, fmt.Errorf("%w: nets of %d to %d and %d to %d", errModel, m.place.In(), m.place.Out(), m.pose.In(), m.pose.Out())
	}
	return m, nil
}
