package channel

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Token is the secret that both peers share. The zero Token is not valid.
type Token struct{ secret [32]byte }

// errToken means that a token may be guessed.
var errToken = errors.New("the token is too easy to guess")

// minTokenBits is the smallest entropy that maxEntropyBits must allow for the text of a token.
const minTokenBits = 128

// NewToken returns the text of a random token of 128 bits: 32 hexadecimal digits.
func NewToken() string {
	var b [minTokenBits / 8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// ParseToken derives a token from a text. It fails with errToken if the text has fewer than 6
// distinct characters, or if a random text of the same length and character set would have fewer
// than 128 bits. That is an upper bound: the entropy of a text chosen by a person is lower and
// cannot be measured.
func ParseToken(text string) (Token, error) {
	distinct := map[rune]bool{}
	for _, r := range text {
		distinct[r] = true
	}
	// Of 32 random hexadecimal digits, fewer than 6 are distinct with a probability of about 1e-10.
	const minDistinct = 6
	if bits := maxEntropyBits(text); bits < minTokenBits || len(distinct) < minDistinct {
		return Token{}, fmt.Errorf("%w: %d characters with at most %.0f bits; expected %d random bits, such as the 32 digits of "+
			"openssl rand -hex 16", errToken, len(text), bits, minTokenBits)
	}
	return Token{derive([]byte(text), "wirelab channel 1 token")}, nil
}

// maxEntropyBits returns the entropy of a random text of the same length in the smallest
// character set that contains text.
func maxEntropyBits(text string) float64 {
	sets := []string{"0123456789", "0123456789abcdef", "0123456789ABCDEF", "abcdefghijklmnopqrstuvwxyz",
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"}
	for _, set := range sets { // in ascending order of size
		if strings.Trim(text, set) == "" { // text has only characters of the set
			return float64(len(text)) * math.Log2(float64(len(set)))
		}
	}
	const printableASCII = 94 // without the space
	return float64(len(text)) * math.Log2(printableASCII)
}

// derive returns a key derived from a secret by HKDF-SHA256. Different labels give independent keys.
func derive(secret []byte, label string) (key [32]byte) {
	b, err := hkdf.Key(sha256.New, secret, nil, label, len(key))
	if err != nil {
		panic("channel: HKDF refuses a key of 32 bytes: " + err.Error())
	}
	return [32]byte(b)
}
