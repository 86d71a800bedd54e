package lossmodel

import (
	"math/rand/v2"
	"time"

	"wirelab/internal/seed"
	"wirelab/lossmodel/loss"
	"wirelab/lossmodel/random"
)

// Light is a link that only decides the fate of packets: it loses them independently and delays them by a latency
// and uncorrelated jitter. It stores no packets, so it needs 64 bytes where a Link needs about 5 KB. A Link with the
// same spec, seed and name gives every packet the same fate.
type Light struct {
	loss, delay     rand.PCG // streams of the stages
	chance          random.Chance
	latency, jitter time.Duration
	dist            Distribution
}

// NewLight returns a light link. It returns a *KeyError if the spec sets a key that needs a Link: any except mtu,
// latency, jitter, distribution, and loss without bursts.
func NewLight(spec Spec, session uint64, name string) (Light, error) {
	if err := CheckLight(spec); err != nil {
		return Light{}, err
	}
	l := Light{latency: spec.Delay.Latency, jitter: spec.Delay.Jitter, dist: spec.Delay.Distribution,
		loss: *seed.PCG(session, name+"."+string(StageLoss)), delay: *seed.PCG(session, name+"."+string(StageDelay))}
	if spec.Loss != nil {
		l.chance = random.NewChance(spec.Loss.LossRate())
	}
	return l, nil
}

// CheckLight returns a *KeyError that names the first key of spec that a Light does not model; nil if it models all.
func CheckLight(spec Spec) *KeyError {
	standard := DefaultSpec()
	rest := spec // the settings that a Light does not model
	rest.MTU = standard.MTU
	rest.Delay.Latency, rest.Delay.Jitter = standard.Delay.Latency, standard.Delay.Jitter
	if rest.Delay.Distribution <= Exponential { // the others need parameters or a table
		rest.Delay.Distribution = standard.Delay.Distribution
	}
	const only = ": the light links of a crowd have only independent loss, latency and jitter"
	if _, independent := rest.Loss.(loss.Bernoulli); rest.Loss != nil && !independent {
		return &KeyError{Key: "loss", Value: rest.Loss.Text(), Expected: "a percentage" + only}
	}
	rest.Loss = standard.Loss
	if rest == standard { // the usual case, without formatting 30 values for each client
		return nil
	}
	for i := range stages().keys {
		key := &stages().keys[i]
		if value := key.Text(&rest); value != key.Default {
			return &KeyError{Key: key.Key, Value: value, Expected: key.Default + only}
		}
	}
	return nil
}

// Send returns the delay of the next packet and None, or the cause of its loss. The packet has the given number of
// fragments; see WireBytes. A lost packet draws the same random numbers as one that arrives.
func (l *Light) Send(fragments int) (delay time.Duration, lost Cause) {
	delay = l.latency
	if l.jitter > 0 {
		s := sampler{dist: l.dist, jitter: l.jitter}
		delay = max(0, delay+s.draw(l.delay.Uint64()))
	}
	if l.chance > 0 {
		switch word := l.loss.Uint64(); {
		case l.chance.Hit(word):
			return delay, Loss
		case fragments > 1 && l.chance.AnyOf(fragments).Hit(word):
			return delay, Fragment
		}
	}
	return delay, None
}

// MaxDelay returns the largest delay of a packet.
func (l *Light) MaxDelay() time.Duration {
	const tail = 45 // jitters: an Exponential variable does not exceed 64 ln 2
	if l.dist == Uniform {
		return l.latency + l.jitter
	}
	return l.latency + tail*l.jitter
}

// WithLoss returns s with independent losses at the given rate.
func (s Spec) WithLoss(rate float64) Spec {
	s.Loss = loss.WithMean(nil, rate)
	return s
}
