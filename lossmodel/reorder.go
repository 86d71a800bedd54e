package lossmodel

import (
	"time"

	"wirelab/internal/setting"
	"wirelab/lossmodel/random"
)

// Reorder has the parameters of the reorder stage. With probability P a packet gets the
// additional delay Delay, so that later packets overtake it. If Distance is not 0, the additional
// delay is instead Distance + 1/2 intervals between packets, so that Distance later packets
// overtake it if sending and delay are regular. The interval is the mean of the last eight; until
// it is known, Delay is used. The due time of a packet is fixed when it is sent, so the stage
// cannot wait for later packets.
type Reorder struct {
	P        float64
	Delay    time.Duration
	Distance int // number of later packets that overtake; 0 means Delay is used
}

// maxDistance is the largest Distance in packets.
const maxDistance = 1000

// reorderStage is the stage that delays some packets as its Reorder describes.
type reorderStage struct {
	stream   random.Stream
	chance   random.Chance
	delay    time.Duration
	distance int
	pace     sendInterval
}

// reshape implements specStage. The stage is on if packets can be reordered.
func (s *reorderStage) reshape(spec *Spec) bool {
	r := spec.Reorder
	s.chance, s.delay, s.distance = random.NewChance(r.P), r.Delay, r.Distance
	return s.chance > 0
}

// Apply implements Stage. It delays a packet, or a copy, with the configured probability.
func (s *reorderStage) Apply(now time.Duration, _ int, f *Fate) {
	if f.Copy == 0 {
		s.pace.add(now)
	}
	f.draw = random.Draw{Chance: s.chance, Word: s.stream.Next(f.Copy)}
	if !s.chance.Hit(f.draw.Word) {
		return
	}
	if interval, ok := s.pace.interval(); ok && s.distance > 0 {
		f.Delay += min(interval*time.Duration(s.distance)+interval/2, setting.MaxDelay)
	} else {
		f.Delay += s.delay
	}
}

// sendInterval measures the mean interval between datagrams.
type sendInterval struct {
	times [8]time.Duration // send time of datagram n at index n mod 8
	count uint64           // datagrams so far
	mean  time.Duration    // mean of up to the last eight intervals; 0 if unknown or if those datagrams were sent at the same time
}

// add records a datagram that was sent at now and updates the mean interval.
func (p *sendInterval) add(now time.Duration) {
	oldest := &p.times[p.count%8] // send time of the datagram 8 before this one, to be replaced by now
	switch {
	case p.count >= 8:
		p.mean = (now - *oldest) / 8
	case p.count > 0:
		p.mean = (now - p.times[0]) / time.Duration(p.count)
	}
	*oldest = now
	p.count++
}

// interval returns the mean interval between the last datagrams. ok is false if it is unknown or 0.
func (p *sendInterval) interval() (mean time.Duration, ok bool) { return p.mean, p.mean > 0 }

func (s *reorderStage) fork() specStage { c := *s; return &c }

// row describes the reorder stage and its keys.
func (*Reorder) row() stageRow {
	return stageRow{
		name:        StageReorder,
		setDefaults: func(s *Spec) { s.Reorder.Delay = 25 * time.Millisecond },
		newStage:    func(context *stageContext) specStage { return &reorderStage{stream: context.stream(StageReorder)} },
		keys: []keyRow{
			newKey(setting.Percent, func(s *Spec) *float64 { return &s.Reorder.P }, KeyInfo{
				Key: "reorder", Stage: "reorder", Ladder: percentLadder,
				Help: "fraction of packets that are delayed by reorder_delay, so that later ones overtake them",
			}),
			newKey(setting.Span, func(s *Spec) *time.Duration { return &s.Reorder.Delay }, KeyInfo{
				Key: "reorder_delay", Stage: "reorder", Needs: []string{"reorder", "reorder_distance = off"}, Ladder: spanLadder,
				Help: "additional delay of a reordered packet",
			}),
			newKey(setting.OrOff(setting.Count("packets", 1, maxDistance)), func(s *Spec) *int { return &s.Reorder.Distance }, KeyInfo{
				Key: "reorder_distance", Stage: "reorder", Needs: []string{"reorder"}, Ladder: []string{"off", "1", "2", "3", "5", "8", "12", "20"},
				Help: "number of packets that overtake a reordered one, estimated from the send interval; replaces reorder_delay; off: use reorder_delay",
			}),
		},
	}
}
