package config

import "strings"

// KeyInWords returns the name of a setting for people: "downlink loss" for the key "down.loss". The names of
// parameters of encoders stay as they are typed.
func KeyInWords(key string) string {
	if name, ok := map[string]string{
		"encoder.name": "encoder", "data.source": "data", "budget": "rate budget in kbps", "sender.rate_hz": "send rate in Hz",
		"sender.every": "send every n-th frame", "receiver.display_hz": "display rate in Hz", "receiver.playout_delay": "playout delay",
		"receiver.playout":       "playout policy",
		"receiver.interpolation": "interpolation", "sender.redundancy": "redundancy",
	}[key]; ok {
		return name
	}
	if name, ok := strings.CutPrefix(key, "encoder.params."); ok {
		return "encoder " + name
	}
	head, rest, _ := strings.Cut(key, ".")
	if link, ok := map[string]string{"down": "downlink", "up": "uplink"}[head]; ok {
		head = link
	}
	return strings.NewReplacer(".", " ", "_", " ").Replace(strings.TrimSpace(head + " " + rest))
}
