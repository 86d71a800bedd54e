package config

import (
	"strings"
	"testing"

	"wirelab/lossmodel"
)

func TestKeyInWords(t *testing.T) {
	for key, want := range map[string]string{
		"down.loss": "downlink loss", "up.latency": "uplink latency", "link.rate": "link rate", "encoder.name": "encoder",
		"encoder.params.z_small": "encoder z_small", "sender.every": "send every n-th frame", "seed": "seed", "data.cubes": "data cubes",
	} {
		if got := KeyInWords(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	seen := map[string]string{}
	keys := knownKeys()
	for _, k := range lossmodel.Keys() {
		keys = append(keys, "link."+k.Key)
	}
	for _, key := range keys {
		words := KeyInWords(key)
		if before, ok := seen[words]; ok && before != key {
			t.Errorf("%s and %s both are %q", before, key, words)
		}
		if strings.ContainsAny(words, "._") {
			t.Errorf("%s is %q", key, words)
		}
		seen[words] = key
	}
}
