package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"wirelab/internal/policy"
	"wirelab/internal/units"
	"wirelab/lossmodel"
	"wirelab/lossmodel/random"
)

// maxCrowd is the largest number of receivers of a crowd.
const maxCrowd = 10_000

// crowd configures one sender with many receivers.
type crowd struct {
	Clients  int           // number of receivers; 0 means no crowd
	RTT      spread        // round-trip times, half of which is the latency of each link; unset means those of the links
	Jitter   spread        // jitter of both links of a client; unset means that of the links
	Loss     spread        // loss rate of both links of a client, in millionths; unset means that of the links
	Profiles string        // shares of clients by link profile, as text for parseMix; "" means those of the links
	Baseline policy.Policy // from which frame packets are encoded
	Uplink   Uplink

	Budget     int64 // of all clients together, in bits per second; 0 means none
	PlayerRows int   // client n plays row 1 + (n-1) modulo this number; policies and interest count rows from it
}

// Uplink configures the link that the packets to all clients share.
type Uplink struct {
	BitsPerSecond int64 // 0 means no limit
	QueueBytes    int64 // of the packets that wait; later ones are dropped
	Pace          bool  // spread the packets of a tick over the time to the next packet, instead of sending them at once
}

// ProfileShare is the share of clients that have the links of a profile.
type ProfileShare struct {
	Profile *lossmodel.Profile
	Share   int64 // in millionths
}

// Mix returns the link profiles of the clients with their shares; nil means that all have the links of
// the configuration.
func (c *crowd) Mix() []ProfileShare {
	mix, _ := parseMix(c.Profiles) // has been checked
	return mix
}

// parseMix parses a list of link profiles with shares, such as "unity-4g 30%, unity-cable 70%".
func parseMix(text string) (mix []ProfileShare, err error) {
	for part := range strings.SplitSeq(text, ",") {
		name, percent, _ := strings.Cut(strings.TrimSpace(part), " ")
		if name == "" {
			continue
		}
		p := findProfile(name)
		if p == nil {
			_, err := lossmodel.ProfileByName(name) // lists the names
			return nil, err
		}
		if slices.ContainsFunc(mix, func(x ProfileShare) bool { return x.Profile.Name == name }) {
			return nil, refuse("", name+" has two shares", "each profile once")
		}
		v, ok := share.parse(strings.TrimSpace(percent))
		if !ok {
			return nil, refuse("", quoteValue(percent)+" is not the share of "+name,
				`a percentage, such as "unity-4g 30%, unity-cable 70%"`)
		}
		mix = append(mix, ProfileShare{p, int64(v)})
	}
	return mix, nil
}

// formatMix returns the text for parseMix.
func formatMix(mix []ProfileShare) string {
	var parts []string
	for _, x := range mix {
		parts = append(parts, x.Profile.Name+" "+share.text(x.Share))
	}
	return strings.Join(parts, ", ")
}

// textOrLink returns a text, linkSpread if it is empty.
func textOrLink(text string) string { return cmp.Or(text, linkSpread) }

// normalMix returns a text for parseMix in its normal form, "" for linkSpread.
func normalMix(text string) (string, error) {
	if text == linkSpread {
		return "", nil
	}
	mix, err := parseMix(text)
	return formatMix(mix), err
}

// checkCrowd checks the settings of a crowd.
func (c *Config) checkCrowd() error {
	for _, s := range Rows() {
		if strings.HasPrefix(s.Key, "crowd.") {
			if e := c.idleError(s.Key, s.Needs); e != nil {
				return e
			}
		}
	}
	if c.Crowd.Clients == 0 {
		return nil
	}
	sum := int64(0)
	for _, x := range c.Crowd.Mix() {
		sum += x.Share
	}
	if sum != 1e6 && c.Crowd.Profiles != "" {
		return refuse(profilesKey, "the shares add up to "+share.text(sum),
			"100%")
	}
	if u := &c.Crowd.Uplink; u.BitsPerSecond > 0 && u.Duration(u.QueueBytes) > maxSpread {
		return refuse("crowd.uplink_queue", fmt.Sprintf("%s at %s takes %v to send", units.FormatSize(u.QueueBytes), units.FormatRate(u.BitsPerSecond),
			u.Duration(u.QueueBytes).Round(time.Second)),
			fmt.Sprintf("a size that takes at most %v", maxSpread))
	}
	return nil
}

// Duration returns the time that the link takes for a number of bytes. The link has a limit.
func (u *Uplink) Duration(bytes int64) time.Duration {
	return time.Duration(bytes * 8 * int64(time.Second) / u.BitsPerSecond)
}

// spread is a distribution of a setting over the clients of a crowd; the zero spread is unset. One value for
// all clients is a uniform distribution from the value to itself. Values are times in nanoseconds or shares
// in millionths.
type spread struct{ policy.Policy }

// IsSet reports whether the spread is set.
func (s spread) IsSet() bool { return s != spread{} }

// Draw returns the value for a random word, which is uniformly distributed over all 64-bit values.
func (s spread) Draw(word uint64) int64 {
	lo, hi := s.Int("min"), s.Int("max")
	if s.Name() == "uniform" {
		return lo + int64(random.Below(word, uint64(hi-lo)+1))
	}
	z := float64(random.NormalUnits(word)) / random.One
	v := float64(s.Int("median")) * exp(float64(float64(s.Int("sigma"))/1e6)*z)
	return min(max(int64(math.Round(min(v, 1e15))), lo), hi)
}

// exp returns e^x. Unlike math.Exp it gives the same result on all machines: the conversions keep the
// compiler from fusing multiplications and additions.
func exp(x float64) float64 {
	n := math.Round(x / math.Ln2)
	r := x - float64(n*math.Ln2)
	sum := 1.0
	for i := 16; i > 0; i-- { // the Taylor series at |r| <= ln 2 / 2
		sum = 1 + float64(float64(r*sum)/float64(i))
	}
	return math.Ldexp(sum, int(n))
}

// maxSpread is the maximum of the times of a spread: as long a round trip as two links can have. It is
// also the maximum of the wait for the uplink.
const maxSpread = 20 * time.Second

// A spreadKind describes the values of a spread.
type spreadKind struct {
	*quantity
	distributions policy.Set
}

// times are spreads of times, shares those of loss rates.
var (
	times = spreadKind{unit("a time", "100ms",
		func(text string) (time.Duration, bool) {
			d, ok := units.ParseDuration(text)
			return d, ok && d >= 0 && d <= maxSpread
		}, units.FormatDuration,
	), distributions(policy.Time("median", 60*time.Millisecond, 0, maxSpread, "half of the clients are below"),
		policy.Time("min", 0, 0, maxSpread, smallest), policy.Time("max", maxSpread, 0, maxSpread, largest),
		policy.Time("max", 100*time.Millisecond, 0, maxSpread, "largest value"))}
	shares = spreadKind{share, distributions(policy.Percent("median", 10_000, 0, 1_000_000, "half of the clients are below"),
		policy.Percent("min", 0, 0, 1_000_000, smallest), policy.Percent("max", 1_000_000, 0, 1_000_000, largest),
		policy.Percent("max", 50_000, 0, 1_000_000, "largest value"))}
	share = unit("a share", "5%",
		func(text string) (int64, bool) {
			f, ok := units.ParsePercent(text)
			return int64(math.Round(f * 1e6)), ok && f >= 0 && f <= 1
		},
		func(v int64) string { return units.FormatPercent(float64(v) / 1e6) },
	)
)

// Help of the parameters of distributions.
const (
	smallest = "smaller values are raised to it"
	largest  = "larger values are lowered to it"
)

// distributions returns the distributions of a spread. lo and hi limit the lognormal one; uniformHi is
// the end of the uniform one, which begins at lo.
func distributions(median, lo, hi, uniformHi policy.Param) policy.Set {
	return policy.Set{
		{Name: "lognormal", Summary: "most near the median, few far above", Params: []policy.Param{
			median, policy.Decimal("sigma", 500_000, 0, 3_000_000, "standard deviation of the logarithm"), lo, hi}},
		{Name: "uniform", Summary: "equally likely from min to max", Params: []policy.Param{lo, uniformHi}},
	}
}

// baselines are the policies that choose the frame from which a packet of a crowd is encoded.
var baselines = policy.Set{
	{Name: "newest", Summary: "the newest acked frame"},
	{Name: "every", Summary: "the newest acked frame with a number that is divisible by ticks", Params: []policy.Param{
		policy.Count("ticks", 2, 1, 60, "packets from one such frame to the next")}},
}

// checkClientsChange returns an error if a change of the number of clients begins or ends a crowd.
func checkClientsChange(before, after int) error {
	if before != after && (before == 0 || after == 0) {
		return refuse("crowd.clients", "cannot begin or end a crowd during a run",
			fmt.Sprintf("1 to %d in a run that begins with crowd.clients", maxCrowd))
	}
	return nil
}

// spreadField is the field of a spread.
type spreadField struct {
	*spread
	kind *spreadKind
}

// linkSpread is the text of an unset spread, or of no profiles: the links determine the values.
const linkSpread = "link"

// String returns the text for Set.
func (f spreadField) String() string {
	switch {
	case !f.IsSet():
		return linkSpread
	case f.Name() == "uniform" && f.Int("min") == f.Int("max"):
		return f.kind.text(f.Int("min"))
	}
	return f.Policy.String()
}

// Set parses one value, one of the distributions, or linkSpread.
func (f spreadField) Set(text string) error {
	name, _, _ := strings.Cut(text, " ")
	_, isValue := f.kind.parse(text)
	switch {
	case text == linkSpread:
		*f.spread = spread{}
		return nil
	case isValue:
		text = fmt.Sprintf("uniform min=%[1]s max=%[1]s", text)
	case !f.kind.distributions.Has(name):
		return invalid("", text, fmt.Sprintf("%s, %q for the settings of the links, or one value such as %q",
			f.kind.distributions.Expected(), linkSpread, f.kind.example))
	}
	p, err := f.kind.distributions.Parse(text)
	if err == nil && p.Int("min") > p.Int("max") {
		err = refuse("", "min exceeds max in "+quote(text), "min of at most "+f.kind.text(p.Int("max")))
	}
	if err == nil {
		*f.spread = spread{p}
	}
	return err
}
