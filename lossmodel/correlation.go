package lossmodel

import (
	"math"
	"math/bits"
	"time"
)

// jitterProcess draws jitter from packet to packet with an exact correlation rho
// between neighbours, so rho^m between packets m apart, whatever the distribution:
//
//   - Normal is the autoregressive process z' = rho z + sqrt(1-rho^2) e, which
//     drifts.
//   - The others are a discrete autoregressive process (Jacobs and Lewis 1978):
//     with probability rho a packet has the jitter of the one before it, else one
//     of its own. That keeps any distribution exactly as it is.
type jitterProcess struct {
	sampler
	hold       chance // rho
	carry, add int64  // rho and sqrt(1-rho^2), in units
	word       uint64 // whose quantile the last packet had
	z, before  int64  // Normal's state, and what it was before the present datagram
	begun      bool
}

func (p *jitterProcess) reshape(d *Delay, files *library) {
	p.sampler = newSampler(d, files)
	rho := d.Correlation
	p.hold = chanceOf(rho)
	p.carry = int64(rho * one)
	p.add = int64(math.Sqrt(1-float64(rho*rho)) * one)
}

// draw returns the jitter of a datagram, or of a copy of it. A copy follows from
// the same past as its datagram, but by its own chance.
func (p *jitterProcess) draw(word uint64, number int) time.Duration {
	if p.hold == 0 {
		return p.offset(word)
	}
	if p.dist == Normal {
		return times(p.drift(word, number), p.jitter)
	}
	if p.begun && p.hold.hit(further(word, holdWord)) {
		word = p.word
	}
	if number == 0 {
		p.word, p.begun = word, true
	}
	return p.offset(word)
}

// holdWord is which further word decides to hold; those before it are Gamma's.
const holdWord = 32

func (p *jitterProcess) drift(word uint64, number int) int64 {
	if number == 0 {
		p.before = p.z
	}
	z := normalUnits(word)
	if p.begun {
		z = share(p.before, p.carry) + share(z, p.add)
	}
	if number == 0 {
		p.z, p.begun = z, true
	}
	return z
}

// share returns a*b in units, b from 0 to 1.
func share(a, b int64) int64 {
	if a < 0 {
		return -share(-a, b)
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return int64(hi<<(64-unitBits) | lo>>unitBits)
}
