package lossmodel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"wirelab/internal/units"
	"wirelab/lossmodel/loss"
)

// Profile is a named pair of links. If the source gives a round-trip time, each direction gets
// half of it, and the summary contains the round-trip time.
type Profile struct {
	Name, Summary, Source string
	Down, Up              Spec // the link to the player, the link from the player
}

// Profiles lists all profiles: the perfect link first, then by source.
func Profiles() []Profile {
	return slices.Concat(
		[]Profile{{Name: "perfect", Summary: "no loss, no delay, no rate limit", Source: "Wirelab",
			Down: DefaultSpec(), Up: DefaultSpec()}},
		appleProfiles(), browserProfiles(), unityProfiles(), unrealProfiles(),
		satelliteProfiles(), fiedlerProfiles(), wifiProfiles(), rfc8868Profiles())
}

// ProfileByName returns the profile with the given name. The error is a *KeyError.
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

// lineParams are the parameters of one direction of a link in a profile.
type lineParams struct {
	delay, jitter float64 // one-way delay and jitter in ms
	loss          float64 // fraction of packets lost, in percent
	kbit          int64   // rate in kbit per second; 0 means no limit
}

// spec converts the parameters to a Spec.
func (p lineParams) spec() Spec {
	s := DefaultSpec()
	s.Delay.Latency, s.Delay.Jitter = millis(p.delay), millis(p.jitter)
	s.Loss = loss.WithMean(nil, p.loss/100)
	s.Rate.BitsPerSecond = p.kbit * 1000
	return s
}

// millis converts milliseconds to a duration in whole microseconds.
func millis(ms float64) time.Duration { return time.Duration(float64(ms*1000)+0.5) * time.Microsecond }

// appleProfiles are the profiles of Apple's Network Link Conditioner (Additional Tools for
// Xcode). Its delays are one-way.
func appleProfiles() []Profile {
	profile := func(name string, down, up lineParams) Profile {
		return Profile{Name: name, Source: "Apple, Network Link Conditioner", Down: down.spec(), Up: up.spec(),
			Summary: "Apple's " + name + ": " + describeBoth(down, up)}
	}
	return []Profile{
		profile("3g", lineParams{delay: 100, kbit: 780}, lineParams{delay: 100, kbit: 330}),
		profile("edge", lineParams{delay: 400, kbit: 240}, lineParams{delay: 440, kbit: 200}),
		profile("dsl", lineParams{delay: 5, kbit: 2000}, lineParams{delay: 5, kbit: 256}),
		profile("lte", lineParams{delay: 50, kbit: 50_000}, lineParams{delay: 65, kbit: 10_000}),
		profile("wifi", lineParams{delay: 1, kbit: 40_000}, lineParams{delay: 1, kbit: 40_000}),
		profile("very-bad", lineParams{delay: 500, loss: 10, kbit: 1000}, lineParams{delay: 500, loss: 10, kbit: 1000}),
	}
}

// browserProfiles are the connectivity profiles of WebPageTest and the throttling presets of
// Chrome's developer tools and Lighthouse. Their latencies are round-trip times.
func browserProfiles() (list []Profile) {
	const webPageTest, chrome = "WebPageTest, connectivity profiles", "Chrome DevTools and Lighthouse, throttling presets"
	for _, p := range []struct {
		name, source string
		rtt          float64 // round-trip time in ms
		down, up     int64   // rates in kbit per second
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
		list = append(list, roundTripProfile(p.name, p.source, p.rtt, lineParams{kbit: p.down}, lineParams{kbit: p.up}))
	}
	return list
}

// unityProfiles are the presets of the Network Simulator in Unity's Multiplayer Tools. The
// simulator delays the packets of both directions, so its delays are one-way. The jitter is
// uniform.
func unityProfiles() []Profile {
	profile := func(name string, delay, jitter, lossPercent float64) Profile { // delay and jitter in ms
		return oneWayProfile("unity-"+name, "Unity Multiplayer Tools, Network Simulator presets",
			lineParams{delay: delay, jitter: jitter, loss: lossPercent})
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

// unrealProfiles are the network emulation profiles of Unreal Engine: a uniform delay between two
// bounds in each direction.
func unrealProfiles() []Profile {
	const source = "Unreal Engine, network emulation profiles"
	return []Profile{
		oneWayProfile("unreal-average", source, lineParams{delay: 45, jitter: 15, loss: 1}),
		oneWayProfile("unreal-bad", source, lineParams{delay: 150, jitter: 50, loss: 5}),
	}
}

// satelliteProfiles are measured access links over satellites: Starlink, in low orbit, and geostationary ones.
func satelliteProfiles() []Profile {
	starlink := roundTripProfile("starlink", "measurements of Starlink, median", 45, lineParams{kbit: 105_000},
		lineParams{kbit: 15_000})
	// At each handover, every 15 s, the RTT rises by 74 ms, half of it in each direction. The length
	// of the spike is our assumption. The order is kept, because a handover delays a queue.
	starlink.Summary = fmt.Sprintf("%s; a spike of 74 ms RTT at the handover every 15 s", starlink.Summary)
	for _, s := range []*Spec{&starlink.Down, &starlink.Up} {
		s.Delay.SpikeEvery, s.Delay.SpikeHeight, s.Delay.SpikeLength = 15*time.Second, 37*time.Millisecond, 100*time.Millisecond
		s.Delay.KeepOrder = true
	}
	return []Profile{
		starlink,
		roundTripProfile("geo", "measurements of geostationary access, median", 630, lineParams{kbit: 18_000},
			lineParams{kbit: 3400}),
	}
}

// fiedlerProfiles is the link of the demonstration in Glenn Fiedler's article Snapshot
// Compression, at 60 frames per second.
func fiedlerProfiles() []Profile {
	const frame = 16.667 // duration of a frame in ms
	return []Profile{roundTripProfile("fiedler", "Glenn Fiedler, Snapshot Compression, 2015", 100,
		lineParams{jitter: frame, loss: 5}, lineParams{jitter: frame, loss: 5})}
}

// wifiProfiles have the mean loss runs of three states of a Wi-Fi channel. The runs are from the
// sources; the mean loss is our assumption.
func wifiProfiles() []Profile {
	var all []Profile
	for _, burst := range []float64{3, 4.7, 5.7} { // mean length of a loss run in packets
		s := lineParams{delay: 2}.spec()
		s.Loss = loss.Gilbert{Mean: 0.05, Burst: burst}
		all = append(all, Profile{
			Name: fmt.Sprintf("wifi-runs-%.1f", burst), Source: "measured Wi-Fi loss runs by channel state; the mean loss is assumed",
			Summary: fmt.Sprintf("one-way 2 ms, 5 %% loss in runs of %.1f packets on average", burst), Down: s, Up: s})
	}
	return all
}

// rfc8868Profiles is the grid of one-way delays and losses of RFC 8868, Evaluating Congestion
// Control for Interactive Real-Time Media.
func rfc8868Profiles() []Profile {
	var all []Profile
	for _, delay := range []float64{0, 50, 150, 300} { // one-way delay in ms
		for _, lossPercent := range []float64{0, 1, 5, 10, 20} {
			all = append(all, oneWayProfile(fmt.Sprintf("rfc8868-%gms-%gpct", delay, lossPercent), "RFC 8868",
				lineParams{delay: delay, loss: lossPercent}))
		}
	}
	return all
}

// oneWayProfile returns a profile whose source gives the delays of both directions, which are
// equal.
func oneWayProfile(name, source string, both lineParams) Profile {
	return Profile{Name: name, Source: source, Down: both.spec(), Up: both.spec(), Summary: describeBoth(both, both)}
}

// roundTripProfile returns a profile whose source gives a round-trip time, rtt in ms. Each direction
// gets half of it; down.delay and up.delay are ignored.
func roundTripProfile(name, source string, rtt float64, down, up lineParams) Profile {
	down.delay, up.delay = rtt/2, rtt/2
	return Profile{Name: name, Source: source, Down: down.spec(), Up: up.spec(),
		Summary: fmt.Sprintf("%s; half of RTT %g ms", describeBoth(down, up), rtt)}
}

// describeBoth summarizes both directions of a profile. Jitter and loss are those of the downlink,
// because all profiles with jitter or loss have the same in both directions.
func describeBoth(down, up lineParams) string {
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
