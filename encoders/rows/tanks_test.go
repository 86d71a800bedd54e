package rows

import (
	"math"
	"math/rand/v2"

	"wirelab/dataset/frame"
)

// tankOptions describe which table a small tank game is logged as: positions, headings, health and types of
// 40 tanks, 20 times a second, the kind of table that a user logs.
type tankOptions struct {
	Velocity bool // fields vx and vy instead of speed
	Living   bool // rows of destroyed tanks are 0; otherwise they stay where they were
	// Hints are letters: t for the role of the type, p of presence, x of positions and velocities, and P
	// for a [[part]] for each half of the tanks.
	Hints string
}

// tankCount is the number of tanks, the rows of the table.
const tankCount = 40

// field numbers that the game needs; speed is vx if tankOptions.Velocity is set.
const (
	fieldType = iota
	fieldAlive
	fieldX
	fieldY
	fieldHeading
	fieldTurret
	fieldSpeed
	fieldHealth
	fieldAmmo
	fieldVY
)

// tankSchema returns the schema of the table.
func tankSchema(o tankOptions) *frame.Schema {
	s := &frame.Schema{Name: "tanks", Item: "tank", Rows: tankCount, TickHz: 20, Fields: []frame.Field{
		{Name: "type", Kind: frame.Enum, Max: 3},
		{Name: "alive", Kind: frame.Flag, Max: 1},
		{Name: "x", Unit: "m", Min: -20000, Max: 20000, Scale: 0.01},
		{Name: "y", Unit: "m", Min: -20000, Max: 20000, Scale: 0.01},
		{Name: "heading", Kind: frame.Angle, Max: 3599, Scale: 0.1},
		{Name: "turret", Kind: frame.Angle, Max: 3599, Scale: 0.1},
		{Name: "speed", Min: -100, Max: 1500, Scale: 0.01},
		{Name: "health", Max: 100},
		{Name: "ammo", Max: 40},
	}}
	if o.Velocity {
		s.Fields[fieldSpeed] = frame.Field{Name: "vx", Unit: "m/s", Min: -2000, Max: 2000, Scale: 0.01}
		s.Fields = append(s.Fields, frame.Field{Name: "vy", Unit: "m/s", Min: -2000, Max: 2000, Scale: 0.01})
	}
	for _, hint := range o.Hints {
		switch hint {
		case 't':
			s.Fields[fieldType].Hint.Role = frame.Type
		case 'p':
			s.Fields[fieldAlive].Hint.Role = frame.Present
		case 'x':
			for axis, f := range []int{fieldX, fieldY} {
				s.Fields[f].Hint = frame.Hint{Role: frame.Position, Group: 1, Axis: uint8(axis)}
			}
			if o.Velocity {
				for axis, f := range []int{fieldSpeed, fieldVY} {
					s.Fields[f].Hint = frame.Hint{Role: frame.Velocity, Group: 1, Axis: uint8(axis), Rate: 0.05}
				}
			}
		case 'P':
			for row := 0; row < tankCount; row += tankCount / 2 {
				s.Parts = append(s.Parts, frame.Part{Row: row, Rows: tankCount / 2, Size: len(s.Fields)})
			}
		}
	}
	return s
}

// A tank is the state of a tank, in metres, degrees and seconds.
type tank struct {
	x, y, speed           float64
	heading, goal, turret float64
	health, ammo, kind    int
	respawnIn             int // ticks until it appears again; 0 if it is alive
}

// tankFrames returns n frames of a game.
func tankFrames(n int, o tankOptions) []*frame.Frame {
	s, rng := tankSchema(o), rand.New(rand.NewPCG(1, 2))
	var game [tankCount]tank
	for i := range game {
		game[i] = spawn(rng, rng.IntN(4))
	}
	out := make([]*frame.Frame, n)
	last := s.NewFrame()
	for k := range out {
		for i := range game {
			step(rng, &game, i)
		}
		f := &frame.Frame{Tick: uint32(k + 1), Table: append([]int32(nil), last.Table...)}
		for i := range game {
			game[i].write(f.Table[i*len(s.Fields):][:len(s.Fields)], o)
		}
		out[k], last = f, f
	}
	return out
}

// spawn returns a new tank.
func spawn(rng *rand.Rand, kind int) tank {
	return tank{x: rng.Float64()*300 - 150, y: rng.Float64()*300 - 150, heading: rng.Float64() * 360, goal: rng.Float64() * 360,
		turret: rng.Float64() * 360, health: 100, ammo: 40, kind: kind}
}

// turn returns angle a turned towards b by at most limit degrees, and the difference of b to a.
func turn(a, b, limit float64) (turned, difference float64) {
	difference = math.Mod(b-a+900, 360) - 180
	return math.Mod(a+max(min(difference, limit), -limit)+360, 360), difference
}

// step moves tank i: it turns to its goal, accelerates, aims at the nearest tank and fires.
func step(rng *rand.Rand, game *[tankCount]tank, i int) {
	t := &game[i]
	if t.respawnIn > 0 {
		t.respawnIn--
		if t.respawnIn > 0 {
			return
		}
		*t = spawn(rng, t.kind)
	}
	if rng.IntN(60) == 0 {
		t.goal = rng.Float64() * 360
	}
	var off, aim float64
	t.heading, off = turn(t.heading, t.goal, 3)
	top := []float64{10, 8, 6, 12}[t.kind]
	if math.Abs(off) > 20 {
		top /= 2
	}
	t.speed += max(min(top-t.speed, 0.25), -0.4)
	sin, cos := math.Sincos(t.heading * math.Pi / 180)
	t.x, t.y = t.x+t.speed*cos/20, t.y+t.speed*sin/20
	if math.Abs(t.x) > 190 || math.Abs(t.y) > 190 {
		t.goal = math.Atan2(-t.y, -t.x) * 180 / math.Pi
		t.x, t.y = max(min(t.x, 195), -195), max(min(t.y, 195), -195)
	}
	target, distance := i, 1e9
	for j := range game {
		if d := math.Hypot(game[j].x-t.x, game[j].y-t.y); j != i && game[j].respawnIn == 0 && d < distance {
			target, distance = j, d
		}
	}
	t.turret, aim = turn(t.turret, math.Atan2(game[target].y-t.y, game[target].x-t.x)*180/math.Pi, 5)
	if t.ammo == 0 && rng.IntN(100) == 0 {
		t.ammo = 40
	}
	if distance < 60 && math.Abs(aim) < 5 && t.ammo > 0 && rng.IntN(15) == 0 {
		t.ammo--
		if hit := &game[target]; rng.IntN(2) == 0 {
			hit.health -= 10 + rng.IntN(20)
			if hit.health <= 0 {
				hit.health, hit.respawnIn = 0, 60
			}
		}
	}
}

// write writes the row of a tank, which holds that of the frame before.
func (t *tank) write(row []int32, o tankOptions) {
	if t.respawnIn > 0 {
		row[fieldAlive], row[fieldHealth] = 0, 0
		if o.Living {
			clear(row)
		}
		return
	}
	row[fieldType], row[fieldAlive] = int32(t.kind), 1
	row[fieldX], row[fieldY] = int32(math.Round(t.x*100)), int32(math.Round(t.y*100))
	row[fieldHeading], row[fieldTurret] = int32(t.heading*10)%3600, int32(t.turret*10)%3600
	row[fieldSpeed] = int32(math.Round(t.speed * 100))
	row[fieldHealth], row[fieldAmmo] = int32(t.health), int32(t.ammo)
	if o.Velocity {
		sin, cos := math.Sincos(t.heading * math.Pi / 180)
		row[fieldSpeed], row[fieldVY] = int32(math.Round(t.speed*cos*100)), int32(math.Round(t.speed*sin*100))
	}
}
