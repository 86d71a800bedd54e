package lossmodel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"wirelab/internal/units"
	"wirelab/lossmodel/loss"
)

// Profile is a named pair of links. Where the source gives a round trip, each
// direction gets half of it; the summary says which it was.
type Profile struct {
	Name, Summary, Source string
	Down, Up              Spec // to the player, and from the player
}

// Profiles lists the profiles: the perfect link, then by source.
func Profiles() []Profile {
	return slices.Concat(
		[]Profile{{Name: "perfect", Summary: "nothing lost, no delay, no limit", Source: "ours", Down: DefaultSpec(), Up: DefaultSpec()}},
		appleProfiles(), browserProfiles(), unityProfiles(), unrealProfiles(),
		satelliteProfiles(), fiedlerProfiles(), wifiProfiles(), rfc8868Profiles())
}

// ProfileByName returns the profile called name; the error is a *KeyError.
func ProfileByName(name string) (Profile, error) {
	var known []string
	for _, p := range Profiles() {
		if p.Name == name {
			return p, nil
		}
		known = append(known, p.Name)
	}
	return Profile{}, &KeyError{Key: name, Expected: "link profile", Known: known}
}

// line is what the tables below say of one direction.
type line struct {
	delay, jitter float64 // ms
	loss          float64 // percent
	kbit          int64   // per second; 0 = no limit
}

func (l line) spec() Spec {
	s := DefaultSpec()
	s.Delay.Latency, s.Delay.Jitter = millis(l.delay), millis(l.jitter)
	s.Loss = loss.WithMean(nil, l.loss/100)
	s.Rate.BitsPerSecond = l.kbit * 1000
	return s
}

// millis converts to whole microseconds, which all tables keep to.
func millis(ms float64) time.Duration { return time.Duration(float64(ms*1000)+0.5) * time.Microsecond }

// appleProfiles: Network Link Conditioner, Additional Tools for Xcode. It delays
// each direction by itself.
func appleProfiles() []Profile {
	profile := func(name string, down, up line) Profile {
		return Profile{Name: name, Source: "Apple, Network Link Conditioner", Down: down.spec(), Up: up.spec(),
			Summary: "Apple's " + name + ": " + each(down, up)}
	}
	return []Profile{
		profile("3g", line{delay: 100, kbit: 780}, line{delay: 100, kbit: 330}),
		profile("edge", line{delay: 400, kbit: 240}, line{delay: 440, kbit: 200}),
		profile("dsl", line{delay: 5, kbit: 2000}, line{delay: 5, kbit: 256}),
		profile("lte", line{delay: 50, kbit: 50_000}, line{delay: 65, kbit: 10_000}),
		profile("wifi", line{delay: 1, kbit: 40_000}, line{delay: 1, kbit: 40_000}),
		profile("very-bad", line{delay: 500, loss: 10, kbit: 1000}, line{delay: 500, loss: 10, kbit: 1000}),
	}
}

// browserProfiles: the connectivity profiles of WebPageTest, and the throttling presets of Chrome's
// developer tools and Lighthouse. Their latency is the round trip's.
func browserProfiles() (list []Profile) {
	const webPageTest, chrome = "WebPageTest, connectivity profiles", "Chrome DevTools and Lighthouse, throttling presets"
	for _, p := range []struct {
		name, source string
		rtt          float64
		down, up     int64 // kbit per second
	}{
		{"wpt-fios", webPageTest, 4, 20_000, 5000},
		{"wpt-cable", webPageTest, 28, 5000, 1000},
		{"wpt-lte", webPageTest, 70, 12_000, 12_000},
		{"wpt-4g", webPageTest, 170, 9000, 9000},
		{"wpt-3g", webPageTest, 300, 1600, 768},
		{"wpt-3g-slow", webPageTest, 400, 400, 400},
		{"chrome-fast-4g", chrome, 60, 9000, 1500},
		{"chrome-slow-4g", chrome, 150, 1600, 750},
		{"chrome-slow-3g", chrome, 400, 500, 500},
	} {
		list = append(list, roundTrip(p.name, p.source, p.rtt, line{kbit: p.down}, line{kbit: p.up}))
	}
	return list
}

// unityProfiles: the presets of the Network Simulator in Unity's Multiplayer
// Tools. It delays every packet that passes, so the figures are one-way; jitter is
// uniform.
func unityProfiles() []Profile {
	profile := func(name string, delay, jitter, loss float64) Profile {
		return oneWay("unity-"+name, "Unity Multiplayer Tools, Network Simulator presets", line{delay: delay, jitter: jitter, loss: loss})
	}
	return []Profile{
		profile("fiber", 10, 1, 0),
		profile("cable", 25, 5, 0),
		profile("dsl", 30, 10, 0),
		profile("broadband", 32, 12, 2),
		profile("congested", 50, 50, 1),
		profile("leo", 100, 10, 0),
		profile("5g", 30, 20, 4),
		profile("4g", 100, 20, 4),
		profile("3g", 360, 30, 7),
		profile("2g", 520, 50, 7),
	}
}

// unrealProfiles: the network emulation profiles of Unreal Engine, a uniform
// delay between two bounds each way.
func unrealProfiles() []Profile {
	const source = "Unreal Engine, network emulation profiles"
	return []Profile{
		oneWay("unreal-average", source, line{delay: 45, jitter: 15, loss: 1}),
		oneWay("unreal-bad", source, line{delay: 150, jitter: 50, loss: 5}),
	}
}

// satelliteProfiles: measured access links.
func satelliteProfiles() []Profile {
	starlink := roundTrip("starlink", "measurements of Starlink, median", 45, line{kbit: 105_000}, line{kbit: 15_000})
	// At each handover, every 15 s, the round trip rises by 74 ms; half of it goes
	// each way. How long that lasts is ours. Order is kept, as by a queue that waits.
	starlink.Summary += "; a spike of 74 ms RTT at the handover every 15 s"
	for _, s := range []*Spec{&starlink.Down, &starlink.Up} {
		s.Delay.SpikeEvery, s.Delay.SpikeHeight, s.Delay.SpikeLength = 15*time.Second, 37*time.Millisecond, 100*time.Millisecond
		s.Delay.KeepOrder = true
	}
	return []Profile{
		starlink,
		roundTrip("geo", "measurements of geostationary access, median", 630, line{kbit: 18_000}, line{kbit: 3400}),
	}
}

// fiedlerProfiles: the link of the demonstration in Glenn Fiedler's Snapshot
// Compression, at 60 frames a second.
func fiedlerProfiles() []Profile {
	const frame = 16.667
	return []Profile{roundTrip("fiedler", "Glenn Fiedler, Snapshot Compression, 2015", 100,
		line{jitter: frame, loss: 5}, line{jitter: frame, loss: 5})}
}

// wifiProfiles: mean loss runs by state of the channel. The sources give the runs;
// the mean loss is ours.
func wifiProfiles() []Profile {
	var all []Profile
	for _, burst := range []float64{3, 4.7, 5.7} {
		s := line{delay: 2}.spec()
		s.Loss = loss.Gilbert{Mean: 0.05, Burst: burst}
		all = append(all, Profile{
			Name: fmt.Sprintf("wifi-runs-%.1f", burst), Source: "measured Wi-Fi loss runs by channel state; mean loss ours",
			Summary: fmt.Sprintf("one-way 2 ms, 5 %% loss in runs of %.1f packets on average", burst), Down: s, Up: s})
	}
	return all
}

// rfc8868Profiles: the grid of RFC 8868, Evaluating Congestion Control for
// Interactive Real-Time Media: one-way delay by loss.
func rfc8868Profiles() []Profile {
	var all []Profile
	for _, delay := range []float64{0, 50, 150, 300} {
		for _, loss := range []float64{0, 1, 5, 10, 20} {
			all = append(all, oneWay(fmt.Sprintf("rfc8868-%gms-%gpct", delay, loss), "RFC 8868", line{delay: delay, loss: loss}))
		}
	}
	return all
}

// oneWay is a profile whose source gives what each direction does.
func oneWay(name, source string, both line) Profile {
	return Profile{Name: name, Source: source, Down: both.spec(), Up: both.spec(), Summary: each(both, both)}
}

// roundTrip is a profile whose source gives a round trip: half goes each way.
func roundTrip(name, source string, rtt float64, down, up line) Profile {
	down.delay, up.delay = rtt/2, rtt/2
	return Profile{Name: name, Source: source, Down: down.spec(), Up: up.spec(),
		Summary: fmt.Sprintf("RTT %g ms, halved: %s", rtt, each(down, up))}
}

// each describes two directions in a few words.
func each(down, up line) string {
	delay := fmt.Sprintf("one-way %g ms", down.delay)
	if down.delay != up.delay {
		delay = fmt.Sprintf("one-way %g ms down, %g ms up", down.delay, up.delay)
	}
	parts := []string{delay}
	if down.jitter > 0 {
		parts[0] += fmt.Sprintf(" ± %g ms", down.jitter)
	}
	if down.loss > 0 {
		parts = append(parts, fmt.Sprintf("%g %% loss", down.loss))
	}
	if down.kbit > 0 {
		parts = append(parts, fmt.Sprintf("%s down, %s up", units.FormatRate(down.kbit*1000), units.FormatRate(up.kbit*1000)))
	}
	return strings.Join(parts, ", ")
}
