package config

import "strings"

// KeyInWords returns the name of a setting for people: "downlink loss" for the key "down.loss". The names of
// parameters of encoders stay as they are typed.
func KeyInWords(key string) string {
	if r := findSetting(key); r != nil && r.Words != "" {
		return r.Words
	}
	if key == keyEncoder {
		return "encoder"
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
