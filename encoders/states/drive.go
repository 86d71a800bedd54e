package states

// cluster remembers numbers that come again and again.
type cluster struct {
	at     [6]int64
	weight [6]uint32
}

// see counts a number.
func (c *cluster) see(x int64) {
	low := 0
	for i := range c.at {
		c.weight[i] -= c.weight[i] >> 10
		if d := x - c.at[i]; d < 1<<15 && d > -1<<15 {
			c.weight[i] += 1 << 16
			c.at[i] += d >> 3
			return
		}
		if c.weight[i] < c.weight[low] {
			low = i
		}
	}
	c.at[low], c.weight[low] = x, 1<<15
}

// two returns the two numbers seen most, and their weights of 256.
func (c *cluster) two() (at [2]int64, weight [2]uint32) {
	a, b := 0, 1
	if c.weight[1] > c.weight[0] {
		a, b = 1, 0
	}
	for i := 2; i < len(c.at); i++ {
		if c.weight[i] > c.weight[a] {
			a, b = i, a
		} else if c.weight[i] > c.weight[b] {
			b = i
		}
	}
	share := uint32((uint64(c.weight[a])+1<<12)<<8/(uint64(c.weight[a])+uint64(c.weight[b])+1<<13) + 0)
	share = min(max(share, 1), 255)
	return [2]int64{c.at[a], c.at[b]}, [2]uint32{share, 256 - share}
}

// drive is what is remembered of how a row is driven.
type drive struct {
	x, y, speed int32
	known       bool
}

func (r *row) observe(n int, g *group) {}

func (r *row) predictVelocity(k int, c *column, last, step int64, scale uint32, moved bool, n int,
	add func(lane int, extra uint32, at int64) *expert) int {
	at, weight := r.m.steps[k].two()
	x := add(laneE, scale, last+at[0])
	x.places, x.at[1], x.weight = 2, last+at[1], weight
	return n + 1
}
