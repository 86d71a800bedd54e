package testkit

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// tankGameHz is the number of frames per second of a TankGame.
const tankGameHz = 20

// maxTanks is the number of tanks of a TankGame that live at once.
const maxTanks = 40

// TankGame returns n frames of a game in which up to 40 tanks drive, fire, are destroyed and come back under another id,
// as a game would log it: only living tanks, in any order, numbers in units, 64-bit ids. The CSV file has a row per
// tank, the JSON Lines file an object per frame with the same values. A seed gives the same files each time.
func TankGame(seed uint64, n int) (csv, jsonLines []byte) {
	rng := rand.New(rand.NewPCG(seed, 40))
	var tanks []*tank
	var table, lines bytes.Buffer
	table.WriteString("tick,time,id,class,team,x,y,heading,turret,speed,health,ammo,firing\n")
	lastID := uint64(1<<60 + seed)
	for frame := range n {
		if len(tanks) < maxTanks && (frame == 0 || rng.IntN(10) == 0) {
			for spawns := maxTanks - len(tanks); spawns > 0; spawns-- {
				if frame > 0 && rng.IntN(2) == 0 {
					continue
				}
				lastID += uint64(1 + rng.IntN(1000))
				tanks = append(tanks, newTank(rng, lastID))
			}
		}
		rng.Shuffle(len(tanks), func(i, j int) { tanks[i], tanks[j] = tanks[j], tanks[i] })
		tick := 100 + frame
		time := float64(tick) / tankGameHz
		fmt.Fprintf(&lines, `{"tick":%d,"time":%.2f,"tanks":[`, tick, time)
		for i, t := range tanks {
			fmt.Fprintf(&table, "%d,%.2f,%d,%s,%s,%.3f,%.3f,%.1f,%.1f,%.2f,%d,%d,%t\n", tick, time, t.id, t.class, t.team, t.x, t.y,
				t.heading, t.turret, t.speed, t.health, t.ammo, t.firing)
			fmt.Fprintf(&lines, `%s{"id":%d,"class":%q,"team":%q,"pos":{"x":%.3f,"y":%.3f},"heading":%.1f,"turret":%.1f,"speed":%.2f,"health":%d,"ammo":%d,"firing":%t}`,
				strings.Repeat(",", min(i, 1)), t.id, t.class, t.team, t.x, t.y, t.heading, t.turret, t.speed, t.health, t.ammo, t.firing)
		}
		lines.WriteString("]}\n")
		living := tanks[:0]
		for _, t := range tanks {
			t.step(rng)
			if t.health > 0 {
				living = append(living, t)
			}
		}
		tanks = living
	}
	return table.Bytes(), lines.Bytes()
}

// tank is a tank of a TankGame.
type tank struct {
	id              uint64
	class, team     string
	x, y, speed     float64 // m, m/s
	heading, turret float64 // degrees from 0 to 359.9
	turn            float64 // degrees per frame
	health, ammo    int
	firing          bool
}

// newTank returns a tank at a random place.
func newTank(rng *rand.Rand, id uint64) *tank {
	t := &tank{id: id, x: rng.Float64()*400 - 200, y: rng.Float64()*400 - 200, health: 100, ammo: 30}
	t.class = []string{"light", "heavy", "artillery"}[rng.IntN(3)]
	t.team = []string{"red", "blue"}[rng.IntN(2)]
	t.heading = wholeTenths(rng.Float64() * 360)
	t.turret = t.heading
	return t
}

// step moves a tank by one frame.
func (t *tank) step(rng *rand.Rand) {
	const dt = 1.0 / tankGameHz
	if rng.IntN(40) == 0 {
		t.turn = float64(rng.IntN(9)-4) / 2
	}
	target := 8.0
	if t.class == "heavy" {
		target = 5
	}
	t.speed += float64((target - t.speed) * 0.05)
	t.heading = wholeTenths(math.Mod(t.heading+t.turn+360, 360))
	t.turret = wholeTenths(math.Mod(t.turret+float64(rng.IntN(3)-1)+360, 360))
	sin, cos := math.Sincos(t.heading * math.Pi / 180)
	t.x += float64(t.speed * cos * dt)
	t.y += float64(t.speed * sin * dt)
	if math.Abs(t.x) > 250 || math.Abs(t.y) > 250 {
		t.heading = wholeTenths(math.Mod(t.heading+180, 360))
		t.x, t.y = max(-250, min(t.x, 250)), max(-250, min(t.y, 250))
	}
	t.firing = t.ammo > 0 && rng.IntN(30) == 0
	if t.firing {
		t.ammo--
	}
	if rng.IntN(40) == 0 {
		t.health -= 5 + rng.IntN(30)
	}
}

// wholeTenths rounds degrees down to tenths, so that they stay below 360.
func wholeTenths(degrees float64) float64 { return math.Floor(degrees*10) / 10 }
